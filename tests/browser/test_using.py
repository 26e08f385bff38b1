"""Using the pages: by keyboard alone, without script, and while the service is away."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.fixtures.site import ORGANISER, Site, conllu

pytestmark = pytest.mark.browser

BOARD = "/b/deps-scores"
POLL = "**/live?*"
POLL_MS = 16_000
MOST_KEYS = 120
ADDED = """() => {
  document.querySelector("main").insertAdjacentHTML("beforeend",
    '<input type="search" aria-label="Find">' +
    '<a data-key="j" href="#next">next</a><a data-key="k" href="#last">last</a>');
}"""
"""What the script's keys are for, where the page itself has none."""
MANY = 400
LONG = """many => {
  const body = document.querySelector("#board tbody");
  const column = document.querySelector("#board th[aria-sort]").cellIndex;
  for (let number = 0; number < many; number++) {
    const row = body.rows[0].cloneNode(true);
    row.cells[column].textContent = `${(number * 7919) % many}.5`;
    body.append(row);
  }
}"""
FIGURES = """() => {
  const column = document.querySelector("#board th[aria-sort]").cellIndex;
  const rows = [...document.querySelectorAll("#board tbody tr")];
  return rows.map((row) => Number.parseFloat(row.cells[column].textContent));
}"""
"""A board of many rows, and its figures in the column of the ranking."""


def tab_to(page: Page, name: str) -> None:
    """Press the tab key until the focus is on what is called so; a page that is not drawn yet takes no keys."""
    page.wait_for_load_state()
    page.evaluate("new Promise(requestAnimationFrame)")
    for _ in range(MOST_KEYS):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "() => { const on = document.activeElement;"
            " return (on.labels?.[0]?.textContent ?? on.textContent).trim(); }"
        )
        if focused == name:
            return
    pytest.fail(f"the focus never reached {name!r}")


def test_the_first_key_offers_to_skip_the_navigation(visit: Visit) -> None:
    page = visit(BOARD).page
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("main :focus")).to_have_count(1)


def test_from_the_list_to_a_sorted_board_and_a_comparison_by_keyboard(visit: Visit, origin: str) -> None:
    seen = visit("/")
    page = seen.page
    tab_to(page, "Dependencies, feedback scores")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{origin}{BOARD}")
    tab_to(page, "Team")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{origin}{BOARD}?sort=team")
    expect(page.get_by_role("columnheader", name="Team")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#news")).to_have_text("Sorted by Team, ascending.")
    tab_to(page, "Compare")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{origin}{BOARD}/compare")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("against")
    assert seen.faults == []


def shown_table(page: Page) -> list[object]:
    """What the table says, and what can be saved of it."""
    links = page.locator("#board .exports a[href^='/b/']").evaluate_all("all => all.map((link) => link.href)")
    inner = [page.locator(part).inner_text() for part in ("#board caption", "#board tbody")]
    return [*inner, page.locator("thead").inner_html(), ["sort=" in link for link in links]]


@pytest.mark.parametrize("head", ["UAS", "Team", "Parts"])
def test_a_click_sorts_as_its_address_does(visit: Visit, origin: str, head: str) -> None:
    seen = visit(BOARD)
    page = seen.page
    link = page.locator("thead a").filter(has_text=re.compile(f"^{head}$"))
    for _ in range(2):
        address = link.get_attribute("href")
        link.click()
        expect(page).to_have_url(f"{origin}{BOARD}{(address or '').removeprefix(BOARD)}")
        moved = shown_table(page)
        page.reload()
        assert shown_table(page) == moved
    assert seen.faults == []


def test_a_long_board_is_sorted_in_view_first(visit: Visit) -> None:
    seen = visit(f"{BOARD}?sort=-attachment.las")
    page = seen.page
    page.evaluate(LONG, MANY)
    figures = page.evaluate(FIGURES)
    head = page.locator("#board th[aria-sort]")
    width = head.evaluate("head => head.offsetWidth")
    height = page.evaluate("document.documentElement.scrollHeight")
    shown = head.evaluate(
        """head => {
          const link = head.querySelector("a");
          link.click();
          link.click();  // while rows of the first click are hidden
          const front = document.querySelector("#board tbody");
          const last = front.rows[front.rows.length - 1].cells[0];
          return [document.querySelectorAll("#board tbody[hidden]").length, front.rows.length,
                  getComputedStyle(last).borderBottomWidth, head.offsetWidth, document.documentElement.scrollHeight];
        }"""
    )
    assert shown[0] > 1
    assert 0 < shown[1] < MANY / 2
    assert shown[2:] == ["0px", width, height]
    down = head.get_attribute("aria-sort") == "descending"
    assert page.evaluate(FIGURES) == sorted(figures, reverse=down)  # in order at once, hidden or not
    expect(page.locator("#board tbody[hidden]")).to_have_count(0)
    assert page.evaluate(FIGURES) == sorted(figures, reverse=down)
    assert page.evaluate("document.documentElement.scrollHeight") == height
    assert head.evaluate("head => head.style.width") == f"{width}px"
    page.set_viewport_size({"width": 700, "height": 900})
    expect(head).not_to_have_attribute("style", re.compile("width"))
    assert seen.faults == []


@pytest.mark.parametrize(
    "pages",
    [
        """document.querySelector("#board").insertAdjacentHTML("beforeend", '<a href="?cursor=2" rel="next">2</a>')""",
        "history.replaceState(null, '', '?cursor=2')",
    ],
    ids=["the first page", "a later page"],
)
def test_a_board_in_pages_is_sorted_by_the_service(visit: Visit, origin: str, pages: str) -> None:
    page = visit(BOARD).page
    page.evaluate(pages)
    with page.expect_request(f"{origin}{BOARD}?sort=team"):
        page.locator("thead a", has_text="Team").click()
    expect(page).to_have_url(f"{origin}{BOARD}?sort=team")


def test_what_is_printed_of_a_long_board_is_all_of_it(visit: Visit) -> None:
    page = visit(BOARD).page
    page.evaluate(LONG, MANY)
    figures = page.evaluate(FIGURES)
    printed = page.locator("#board th[aria-sort] a").evaluate(
        """link => {
          link.click();
          window.dispatchEvent(new Event("beforeprint"));
          return [...document.querySelectorAll("#board tbody:not([hidden]) tr")].length;
        }"""
    )
    assert printed == len(figures)
    assert sorted(page.evaluate(FIGURES)) == sorted(figures)


def test_sorting_asks_the_service_nothing_and_back_undoes_it(visit: Visit, origin: str) -> None:
    page = visit(BOARD).page
    rows = page.locator("tbody").inner_text()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("link", name="Team", exact=True).click()
    expect(page).to_have_url(f"{origin}{BOARD}?sort=team")
    assert [url for url in asked if "/static/" not in url] == []  # an icon may come late
    page.go_back()
    expect(page).to_have_url(f"{origin}{BOARD}")
    expect(page.locator("tr.cl, tr").first).to_be_visible()
    assert page.locator("tbody").inner_text() == rows


def test_a_word_that_a_pointer_or_keys_come_to_lights_what_is_below_it(visit: Visit, site: Site) -> None:
    submission = site.submissions["deps-gold"]["lyon"]
    page = visit(f"/s/{submission}/sentences?part=en_news", "team", "deps-gold").page
    box, lit = page.locator("[data-heads]"), page.locator("[data-heads] .lit")
    expect(box).to_be_visible()
    for number in box.locator("text.num").all():
        number.hover()
        expect(lit.filter(has_text=str(number.text_content()))).not_to_have_count(0)
    page.mouse.move(0, 0)
    expect(lit).to_have_count(0)
    page.locator("a").last.focus()
    for _ in range(MOST_KEYS):
        page.keyboard.press("Shift+Tab")
        if box.evaluate("box => box === document.activeElement"):
            break
    expect(lit).not_to_have_count(0)
    before = lit.all_text_contents()
    page.keyboard.press("l")
    assert lit.all_text_contents() != before
    page.keyboard.press("Tab")
    expect(lit).to_have_count(0)


def test_j_and_k_change_the_sentence(visit: Visit, site: Site) -> None:
    submission = site.submissions["deps-gold"]["lyon"]
    seen = visit(f"/s/{submission}/sentences?part=en_news", "team", "deps-gold")
    page = seen.page
    expect(page.get_by_role("img", name="Sentence 1")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("img", name="Sentence 2")).to_be_visible()
    assert "n=2" in page.url
    page.keyboard.press("k")
    expect(page.get_by_role("img", name="Sentence 1")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("input[type=search][name=q]")).to_be_focused()
    page.keyboard.type("j")
    assert "n=1" in page.url
    assert seen.faults == []


def test_outputs_are_checked_by_keyboard(visit: Visit) -> None:
    seen = visit("/submit", "team")
    page = seen.page
    broken = {"name": "en_news.conllu", "mimeType": "text/plain", "buffer": b"1\tShe\t_\n\n"}
    page.locator("input[type=file]").set_input_files([broken])
    tab_to(page, "Check")
    page.keyboard.press("Enter")
    expect(page.get_by_text("line 1", exact=False).first).to_be_visible()
    expect(page.locator("main #answer:focus-within, main button:focus")).to_have_count(1)  # by when it was checked
    good = {"name": "en_news.conllu", "mimeType": "text/plain", "buffer": conllu(1).encode()}
    page.locator("input[type=file]").set_input_files([good])
    tab_to(page, "Check")
    page.keyboard.press("Enter")
    expect(page.get_by_text("can be scored", exact=False).first).to_be_visible()


@pytest.mark.parametrize("browsing", [{}, {"java_script_enabled": False}], ids=["with-script", "without"])
def test_a_benchmark_that_is_refused_says_so_beside_the_field(visit: Visit, browsing: dict[str, bool]) -> None:
    page = visit("/admin/new", "organiser", **browsing).page
    scripted = not browsing
    page.get_by_label("Title").fill("Übung 2027, Phase 1")
    expect(page.get_by_label("Id", exact=True)).to_have_value("ubung-2027-phase-1" if scripted else "")
    text = {"name": "en.txt", "mimeType": "text/plain", "buffer": b"(S (NP (PRP She)) (VP (VBD saw)))\n" * 3}
    page.get_by_label("Gold").set_input_files([text])
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#fault-format")).to_contain_text("It may be bracketed")
    expect(page.get_by_label("Format")).to_be_focused()
    expect(page.get_by_label("Id", exact=True)).to_have_value("ubung-2027-phase-1")
    assert page.get_by_label("Gold").evaluate("field => field.files.length") == (1 if scripted else 0)
    page.get_by_label("Format").select_option("bracketed")
    page.get_by_label("Id", exact=True).fill("deps-scores")
    page.get_by_label("Gold").set_input_files([text])
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#fault-id")).to_contain_text("is taken")
    expect(page.locator("#fault-format")).to_be_empty()
    expect(page.get_by_label("Id", exact=True)).to_be_focused()
    assert page.locator("main [aria-invalid=true]").evaluate_all("all => all.map((each) => each.id)") == ["id"]


def test_chosen_gold_is_listed_before_it_is_sent(visit: Visit) -> None:
    def chosen(field: str, *names: str) -> list[str]:
        text = b"1\t" * 750
        page.get_by_label(field, exact=True).set_input_files(
            [{"name": name, "mimeType": "text/plain", "buffer": text} for name in names]
        )
        return [line.split(", 1.5 kB")[0] for line in page.locator(".chosen li").all_inner_texts()[:-1]]

    seen = visit("/admin/new", ORGANISER)
    page = seen.page
    by_name = "Format conllu by the names, unless the first lines tell another one"
    assert chosen("Gold", "en.conllu", "fr.pred.conllu.gz") == [
        "en.conllu: part en", "fr.pred.conllu.gz: part fr", by_name,
    ]  # fmt: skip
    chosen("Gold", "all.zip")
    expect(page.locator(".chosen li").first).to_have_text("all.zip: no zip whose files can be listed, 1.5 kB")
    assert "several formats (conllu, bracketed)" in chosen("Gold", "en.conllu", "fr.mrg")[-1]
    chosen("Gold", "en.source.mrg", "en.alignment.talp")
    page.get_by_label("Format").select_option("parallel")
    assert page.locator(".chosen li").all_inner_texts()[1:3] == [
        "en.alignment.talp: part en/alignment, 1.5 kB", "Format parallel",
    ]  # fmt: skip
    page.goto("/admin/deps-scores")
    assert chosen("Files, each named after its part", "en_web.conllu", "other.conllu") == [
        "en_web.conllu: part en_web", "other.conllu: has the name of no part: name it after one",
        "Stay as they are: en_news, en_talk",
    ]  # fmt: skip
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name in ("sent/", "sent/en_web.conllu", "sent/more/en_talk.conllu", "sent/.hidden", "__MACOSX/sent/x"):
            archive.writestr(name, b"1\t" * 750 * (not name.endswith("/")))
    zipped = [{"name": "all.zip", "mimeType": "application/zip", "buffer": packed.getvalue()}]
    page.get_by_label("Files, each named after its part", exact=True).set_input_files(zipped)
    lines = page.locator(".chosen li")
    expect(lines).to_have_count(5)
    assert lines.all_inner_texts()[1:4] == [
        "en_web.conllu: part en_web, 1.5 kB", "more/en_talk.conllu: part en_talk, 1.5 kB", "Stay as they are: en_news",
    ]  # fmt: skip
    expect(lines.last).to_contain_text("Together 3.0 kB")
    assert seen.faults == []


def test_settings_that_are_refused_stay_typed_in_place(visit: Visit) -> None:
    page = visit("/admin/deps-scores", "organiser").page
    page.get_by_label("Margin").fill("-1")
    page.get_by_label("Rules").fill("Typed just now.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Margin")).to_be_focused()
    expect(page.locator("#fault-leaderboard-margin")).to_contain_text("above 0")
    expect(page.get_by_label("Rules")).to_have_value("Typed just now.")
    expect(page.get_by_role("status").filter(has_text="Nothing was saved.")).to_be_visible()


def test_signing_in_and_out_by_keyboard(visit: Visit, site: Site, origin: str) -> None:
    page = visit(f"{BOARD}?part=en_web").page
    tab_to(page, "Sign in")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Token")).to_be_visible()  # keys pressed before would go to the page that is left
    tab_to(page, "Token")
    page.keyboard.type(str(site.token("team", "deps-scores")))
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{origin}{BOARD}?part=en_web")
    expect(page.get_by_role("banner")).to_contain_text("lyon")
    tab_to(page, "Sign out")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def test_a_refused_token_is_told_beside_its_field(visit: Visit) -> None:
    page = visit("/sign-in").page
    page.get_by_label("Token").fill("ts_wrong-token-of-the-browser")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Token")).to_have_accessible_description(page.get_by_role("alert").inner_text())


@pytest.mark.parametrize("browsing", [{}, {"java_script_enabled": False}], ids=["with-script", "without"])
def test_forms_work_without_script_too(visit: Visit, browsing: dict[str, bool]) -> None:
    page = visit(BOARD, **browsing).page
    page.get_by_label("Part").select_option("en_web")
    if browsing:
        page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("Part")).to_have_value("en_web")
    expect(page.locator("caption")).to_contain_text("en_web")
    page.get_by_role("button", name="dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_label("Part")).to_have_value("en_web")


def test_chosen_colours_win_over_those_of_the_device(visit: Visit) -> None:
    page = visit(BOARD, color_scheme="light").page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate(paper) != light
    page.get_by_role("button", name="as the device").click()
    expect(page.locator("html:not([data-theme])")).to_have_count(1)
    assert page.evaluate(paper) == light


def test_keys_work_outside_of_fields_and_can_be_switched_off(visit: Visit, origin: str) -> None:
    seen = visit(BOARD)
    page = seen.page
    page.evaluate(ADDED)
    page.keyboard.press("j")
    expect(page).to_have_url(f"{origin}{BOARD}#next")
    page.keyboard.press("k")
    expect(page).to_have_url(f"{origin}{BOARD}#last")
    page.keyboard.press("/")
    find = page.get_by_label("Find")
    expect(find).to_be_focused()
    page.keyboard.type("j/k")
    expect(find).to_have_value("j/k")
    expect(page).to_have_url(f"{origin}{BOARD}#last")
    find.blur()
    page.keyboard.press("Control+j")
    expect(page).to_have_url(f"{origin}{BOARD}#last")
    page.evaluate("localStorage.setItem('treescore-keys', 'off')")
    page.keyboard.press("j")
    page.keyboard.press("/")
    expect(find).not_to_be_focused()
    expect(page).to_have_url(f"{origin}{BOARD}#last")
    assert seen.faults == []


def test_a_board_that_is_unchanged_is_left_as_it_is(visit: Visit) -> None:
    seen = visit(None)
    page = seen.page
    page.clock.install()
    page.goto(BOARD)
    team = page.locator("thead a", has_text="Team")
    team.click()
    with page.expect_response(POLL) as answer:
        page.clock.run_for(POLL_MS)
    assert answer.value.status == 204
    assert answer.value.url.endswith("&sort=team")
    expect(team).to_be_focused()
    assert seen.faults == []


def test_a_board_that_changed_is_replaced_where_it_stands(visit: Visit) -> None:
    seen = visit(None)
    page = seen.page
    page.clock.install()
    page.goto(f"{BOARD}?sort=team")
    page.route(POLL, lambda route: route.continue_(url=route.request.url.replace("version=", "version=old")))
    page.locator("#board").evaluate("board => board.classList.add('before')")
    rows = page.locator("tbody").inner_text()
    with page.expect_response(POLL) as answer:
        page.clock.run_for(POLL_MS)
    assert answer.value.status == 200
    expect(page.locator("#board.before")).to_have_count(0)
    assert page.locator("tbody").inner_text() == rows
    assert seen.shifts() == []
    assert seen.faults == []


def test_a_page_says_that_the_service_is_away_and_when_it_is_back(visit: Visit) -> None:
    seen = visit(None)
    page = seen.page
    page.clock.install()
    page.goto(BOARD)
    page.context.set_offline(offline=True)
    page.clock.run_for(POLL_MS)
    toast = page.get_by_role("status")
    expect(toast).to_contain_text("The service does not answer")
    assert page.locator("tbody tr").count() == 3
    page.context.set_offline(offline=False)
    with page.expect_response(POLL):
        page.clock.run_for(POLL_MS)
    expect(toast).to_have_count(0)


def test_a_form_without_an_answer_of_ours_says_so_and_keeps_its_place(visit: Visit) -> None:
    page = visit("/jobs/new").page
    for name in ("#gold", "#outputs"):
        page.set_input_files(name, {"name": "a.conllu", "mimeType": "text/plain", "buffer": b"x" * 40})
    statuses = [413, 502, 504, 403]
    left = iter(statuses)
    page.route("**/jobs/new", lambda route: route.fulfill(status=next(left), body="<html>proxy</html>"))
    for status in statuses:
        page.get_by_role("button", name="Score").click()
        expect(page.locator(".toast")).to_contain_text(f"({status})")
        expect(page.locator("#answer")).to_have_count(1)
    page.unroute("**/jobs/new")
    page.route("**/jobs/new", lambda route: route.abort())
    page.get_by_role("button", name="Score").click()
    expect(page.locator(".toast")).to_contain_text("could not answer. Whether the form arrived is not known")
    page.locator("form[hx-post]").evaluate("form => { form.dataset.mostBytes = 79; }")
    page.get_by_role("button", name="Score").click()
    expect(page.locator(".toast")).to_contain_text("have 80 bytes, and the service accepts 79. Send fewer.")


def test_what_is_told_is_seen_from_the_end_of_a_long_page(visit: Visit) -> None:
    page = visit("/admin/deps-scores", ORGANISER, viewport={"width": 390, "height": 800}).page
    page.route("**/admin/deps-scores", lambda route: route.fulfill(status=502, body="<html>proxy</html>"))
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".told")).to_be_in_viewport(ratio=1)


def test_a_part_that_is_chosen_for_a_file_is_listed(visit: Visit) -> None:
    page = visit("/submit", "team", benchmark="deps-scores").page
    files = [{"name": f"{name}.conllu", "mimeType": "text/plain", "buffer": b"x"} for name in ("mine", "en_web")]
    page.locator("#files").set_input_files(files)
    expect(page.locator(".chosen li").first).to_contain_text("has the name of no part")
    page.get_by_role("button", name="Check").click()
    page.get_by_label("mine.conllu").select_option("en_news")
    expect(page.locator(".chosen li").first).to_contain_text("mine.conllu: part en_news")


def test_a_reason_stays_typed_while_the_list_of_submissions_is_replaced(visit: Visit) -> None:
    page = visit("/admin/deps-scores/submissions", ORGANISER).page
    page.locator("#sent summary").first.click()
    field = page.get_by_label("Why, for the team").first
    field.fill("sent twice")
    page.route(POLL, lambda route: route.continue_(url=route.request.url.replace("version=", "version=old")))
    page.locator("#sent").evaluate("list => list.classList.add('before')")
    expect(page.locator("#sent.before")).to_have_count(0)
    expect(field).to_have_value("sent twice")
    expect(field).to_be_visible()


def test_settings_that_are_saved_change_what_the_page_says_of_them(visit: Visit) -> None:
    seen = visit("/admin/empty", ORGANISER)
    page = seen.page
    for at, state, warned in (("2001-01-01T00:00:00", "Closed.", 1), ("", "Open", 0)):
        page.get_by_label("Closes", exact=True).fill(at)
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#head")).to_contain_text(state)
        expect(page.locator("#head .toast")).to_have_count(warned)
        expect(page.get_by_role("link", name="Warnings")).to_have_count(warned)
        expect(page.get_by_role("button", name="Save")).to_be_focused()
    assert seen.faults == []
