"""The board: its cells are the API's values, it is cheap to look at again, and bad addresses are told so."""

from __future__ import annotations

import csv
import gzip
import html
import re
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest

from service.pages import answers
from service.pages.answers import table_bytes
from service.pages.board import board_caption, places_of
from service.pages.figures import ScoreFigures, ScoreNames
from service.pages.visitors import SESSION_COOKIE
from service.render import claims_of, cluster_starts, letters
from service.store import comparisons
from service.usecases.runs import Shown
from tests.contract.shared_task import SharedTask
from tests.contract.stage import ADMIN, Stage
from tests.fixtures.contexts import work_of
from tests.fixtures.form_pages import words_of
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.site import MISSING_PART, PRINCIPALS, Site
from tests.service.pages.reading import Page
from treescore.render.comparison_pictures import against_svg
from treescore.render.table import Column, Table
from treescore.significance.notes import AGREE
from workers.entry import do

BOARD = "/b/deps-scores"
API = "/v1/benchmarks/deps-scores/leaderboard"
TEAMS, PARTS = 1000, 200
MOST_BYTES = 400_000


def body_rows(text: str) -> list[list[str]]:
    """The cells of the rows of teams."""
    return [[cell.strip() for cell in row] for row in Page(text).rows if len(row) > 4][1:]


@pytest.mark.parametrize("principal", PRINCIPALS)
@pytest.mark.parametrize("query", ["", "?part=en_news", "?part=pooled", "?score=attachment.uas"])
def test_cells_are_the_values_of_the_api(site: Site, principal: str, query: str) -> None:
    client = site.client(site.token(principal, "deps-scores"))
    board: Any = client.get(API + query).json
    rows = body_rows(client.get(BOARD + query).text)
    names = ScoreNames(client.get("/v1/benchmarks/deps-scores").json, board["rounding"])
    columns = names.columns(board["score"], board["scores"])
    assert len(rows) == len(board["rows"]) == 3
    figures = ScoreFigures(share=True)
    for cells, row in zip(rows, board["rows"], strict=True):
        assert cells[0] == ("" if row["rank"] is None else str(row["rank"]))
        assert row["team_name"] in " ".join(cells[1:3])
        assert figures.value(row["score"]) in cells
        expected = [figures.value(row["scores"][column.address]) for column in columns]
        assert expected in [cells[at : at + len(expected)] for at in range(len(cells))]


def test_a_missing_part_is_told(site: Site) -> None:
    text = site.client().get(BOARD).text
    assert "2 of 3" in text, MISSING_PART


P_NEXT = 6


def test_sorting_moves_rows_and_changes_nothing_in_them(site: Site) -> None:
    client = site.client()
    page = client.get(BOARD).text
    assert ("p to next" in page, "a line is drawn" in page) == (True, True)
    ranked = [row[:P_NEXT] + row[P_NEXT + 1 :] for row in body_rows(page)]
    for sort in ("team", "-team", "attachment.las", "-attachment.las", "-attachment.uas"):
        page = client.get(f"{BOARD}?sort={sort}").text
        assert sorted(body_rows(page)) == sorted(ranked)
        assert page.count("aria-sort") == 1
        link = html.unescape(next(each for each in Page(page).links if "format=csv" in each))
        saved = list(csv.reader(client.get(link).text.splitlines()))[1:]
        shown = body_rows(page)
        assert [row[0] for row in saved] == [row[0] for row in shown]
        assert [row[3] for row in saved] == [row[3] for row in shown]
        assert [row[5:] for row in saved] == [row[6:] for row in shown]  # the picture is not in the file
        # what is said of neighbours by rank
        assert ("p to next" in page, "a line is drawn" in page) == (False, False)
    latex = client.get(f"{BOARD}/export?format=latex&sort=team")
    assert latex.mimetype == "application/x-latex"
    assert latex.text.count(r"\midrule") == 1  # no lines between groups
    assert "p to next" not in latex.text
    assert "p to next" in client.get(f"{BOARD}/export?format=markdown").text
    by_name = [row[2] for row in body_rows(client.get(f"{BOARD}?sort=team").text)]
    assert by_name == sorted(by_name, key=str.casefold)


def exported(site: Site, address: str, form: str, principal: str | None = None) -> str:
    """The file of a page's table that its link of this format leads to."""
    client = site.client(site.token(principal or "anonymous", "deps-scores"))
    links = Page(client.get(address).text).links
    link = html.unescape(next(each for each in links if f"format={form}" in each))
    assert link.startswith("/b/"), "not the API's"
    return client.get(link).text


def separated_cells(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))[1:]


@pytest.mark.parametrize("query", ["", "?order=spread&shade=score", "?score=attachment.uas"])
def test_files_of_the_matrix_hold_the_table_that_is_shown(site: Site, query: str) -> None:
    address = f"{BOARD}/matrix{query}"
    shown = [row for row in Page(site.client().get(address).text).rows if len(row) == 4]
    saved = exported(site, address, "csv")
    assert next(csv.reader(saved.splitlines()))[1:] == shown[0][1:]
    assert separated_cells(saved) == shown[1:]
    best = shown[2][1]
    assert f"| {shown[2][0].replace('_', chr(92) + '_')} | **{best}** |" in exported(site, address, "markdown")


def test_the_picture_of_the_matrix_says_the_same(site: Site) -> None:
    page = site.client().get(f"{BOARD}/matrix").text
    picture = site.client().get(API.replace("leaderboard", "matrix") + "?format=svg").text
    for words in ("≥ 16", "mean of all parts", "– no score"):
        assert words in page
        assert words in picture


@pytest.mark.parametrize("query", ["", "?a=ulm", "?a=ulm&b=lyon"])
@pytest.mark.parametrize("principal", ["anonymous", "organiser"])
def test_files_of_the_comparison_hold_the_table_that_is_shown(site: Site, query: str, principal: str) -> None:
    address = f"{BOARD}/compare{query}"
    page = site.client(site.token(principal, "deps-scores")).get(address).text
    table = Page(page.partition('class="cmp"')[2].partition("</table>")[0])
    shown = [[cell for at, cell in enumerate(row) if at != 2] for row in table.rows if len(row) > 4][1:]  # no picture
    saved = separated_cells(exported(site, address, "csv", principal))
    assert saved == [[cell.replace("−", "-") for cell in row] for row in shown]
    assert shown
    assert 'p (parts) is for <a href="/docs/guides/significance#which-question-do-you-ask">' in page
    assert 'id="which-question-do-you-ask"' in site.client().get("/docs/guides/significance").text
    assert page.count("Differences are of exact scores.") == 1
    assert ("Figures are rounded" in page, "4 decimals" in page) == (principal == "anonymous", False)
    if principal == "anonymous":  # bounds have three digits where figures are rounded
        bounds = " ".join(row[3] for row in shown).replace(" to ", " ").split()
        assert all(len(bound.lstrip("+−0.").replace(".", "")) <= 3 for bound in bounds)


def test_the_axis_of_a_comparison_spans_the_differences_that_are_shown(site: Site) -> None:
    def ends(query: str) -> float:
        page = site.client().get(f"{BOARD}/compare?a=ulm{query}").text
        axis = page.partition('class="axis')[2].partition("</svg>")[0]
        return max(float(each) for each in re.findall(r">[+−]?([\d.]+)</text>", axis))

    page = site.client().get(f"{BOARD}/compare?a=ulm").text.partition('name="b"')[2].partition("</select>")[0]
    each = [ends(f"&b={name}") for name in re.findall('value="([^"]+)"', page)]
    assert min(each) < max(each) == ends("")


def test_cells_of_a_file_are_no_formulas_and_its_figures_are_numbers() -> None:
    table = Table("", [Column("part"), Column("=1+1", numeric=True)], [["+x", "−1.5"]])
    saved = table_bytes(table, "csv").decode()
    assert [*csv.reader(saved.splitlines())] == [["part", "'=1+1"], ["'+x", "-1.5"]]


@pytest.mark.parametrize("tab", ["", "/live", "/matrix", "/compare", "/compare/live", "/compare/export"])
def test_a_page_has_no_format(site: Site, tab: str) -> None:
    answer = site.client().get(f"{BOARD}{tab}?format={'text' if 'export' in tab else 'csv'}")
    assert (answer.status_code, answer.mimetype) == (400, "text/html")


def test_a_page_that_is_known_is_not_sent_again(site: Site) -> None:
    for principal in PRINCIPALS:
        client = site.client(site.token(principal, "deps-scores"))
        for path in ("/", BOARD, f"{BOARD}/matrix", f"{BOARD}/revisions", f"{BOARD}/about"):
            first = client.get(path)
            again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
            assert again.status_code == 304, path
            assert again.data == b""
            assert again.headers["ETag"] == first.headers["ETag"]


def test_validators_differ_between_visitors_addresses_and_colours(site: Site) -> None:
    clients = [site.client(site.token(principal, "deps-scores")) for principal in PRINCIPALS]
    signed, dark = site.client(), site.client()
    signed.post("/sign-in", data={"token": ADMIN})
    assert signed.get_cookie(SESSION_COOKIE) is not None
    dark.post("/theme", data={"theme": "dark"})
    tags = [client.get(BOARD).headers["ETag"] for client in (*clients, signed, dark)]
    tags += [site.client().get(f"{BOARD}?{query}").headers["ETag"] for query in ("sort=team", "part=en_web")]
    assert len(set(tags)) == len(tags)


def test_the_table_is_sent_again_only_if_it_changed(site: Site) -> None:
    client = site.client()
    version = client.get(API).headers["ETag"].strip('"')
    asked = Page(client.get(BOARD).text, BOARD)
    live = next(link for link in asked.links if "/live?" in link)
    unchanged = client.get(live)
    assert unchanged.status_code == answers.UNCHANGED, version
    assert unchanged.data == b""
    changed = client.get(f"{BOARD}/live?version=old")
    assert changed.status_code == 200
    assert body_rows(changed.text) == body_rows(client.get(BOARD).text)
    assert "<html" not in changed.text


def test_a_closed_board_ends_asking(stage: Stage) -> None:
    task = SharedTask(stage)
    task.two()
    opened = {"opens_at": "2026-10-01T00:00:00Z", "closes_at": "2026-11-01T00:00:00Z"}
    patched = task.organiser.patch(task.address, json=opened, headers={"If-Match": "*"})
    assert patched.status_code == 200, patched.text
    everyone = stage.client(None)
    final = everyone.get(f"/b/{task.slug}/live?version=old")
    assert final.status_code == answers.FINAL
    assert "hx-get" not in final.text
    assert "closed" in everyone.get(f"/b/{task.slug}").text


@pytest.mark.parametrize("tab", ["", "/matrix"])
def test_only_an_open_benchmark_asks_for_outputs(stage: Stage, tab: str) -> None:
    page = words_of(stage.client(None).get(f"/b/{SharedTask(stage, opens_at='2099-01-01T00:00:00Z').slug}{tab}"))
    assert re.search(r"No scored submission stands on the board\. The benchmark opens in more than a year\.", page)
    page = words_of(stage.client(None).get(f"/b/{SharedTask(stage).slug}{tab}"))
    assert re.search(r"No scored submission stands on the board\. *Submit an output", page)


def test_what_is_missing_on_a_board_of_all_is_in_its_matrix_with_each_submission_named(stage: Stage) -> None:
    task = SharedTask(stage, parts={name: {"gold": GOLD_CONLLU} for name in ("en", "de")}, feedback="scores")
    team = task.team()
    for name in ("first", "second"):
        task.submit(team, GOLD_CONLLU, name=name)
    task.submit(name="rules")
    assert 'name="pick" value="all"' in task.organiser.get(f"/b/{task.slug}/compare?pick=all").text
    page = Page(task.organiser.get(f"/b/{task.slug}?pick=all").text)
    link = html.unescape(next(each for each in page.links if "/matrix" in each and "score=" in each))
    matrix = Page(task.organiser.get(link).text)
    heads = ["Part", "lyon Parsing Group: first", "lyon Parsing Group: second", "rules"]
    assert [head.strip() for head in matrix.rows[0]] == heads
    assert "of 3 systems on 2 parts" in matrix.text
    saved = html.unescape(next(each for each in matrix.links if "format=csv" in each))
    assert next(csv.reader(task.organiser.get(saved).text.splitlines()))[1:] == heads[1:]


def test_a_revision_that_is_no_longer_active_says_so(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    task.two()
    task.revised()
    for tab in ("", "/matrix", "/compare"):
        for revision in (1, 2):
            page = words_of(task.organiser.get(f"/b/{task.slug}{tab}?revision={revision}"))
            assert ("Revision 1, which is not the active one. The board now" in page) == (revision == 1), tab


def test_a_baseline_that_moved_is_called_by_its_name(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    task.submit(task.team(), GOLD_CONLLU)
    named = task.submit(name="rules").rpartition("/")[2]
    task.revised()
    page = task.organiser.get(f"/b/{task.slug}/revisions")
    assert "lyon Parsing Group" in page.text
    assert "rules (baseline)" in words_of(page)
    assert named not in page.text


def test_a_page_says_whose_task_it_is_and_when_it_closes(stage: Stage) -> None:
    task = SharedTask(stage)
    contact = "The [committee](https://example.org/c), <b>Lyon</b>.\n\nWrite to us."
    changes = {"about": {"contact": contact}, "closes_at": "2099-01-01T00:00:00Z"}
    for tab in ("", "/matrix", "/compare"):  # kept under validators that do not count what is changed
        assert "Organisers" not in stage.client(None).get(f"/b/{task.slug}{tab}").text
    stage.context.now.looks = count(60_000)  # a minute later
    assert task.organiser.patch(task.address, json=changes, headers={"If-Match": "*"}).status_code == 200
    for tab in ("", "/matrix", "/compare", "/revisions", "/about"):
        page = stage.client(None).get(f"/b/{task.slug}{tab}").text
        said = " ".join(re.sub("<[^>]*>", "", page.partition('<p class="sub">')[2].partition("</p>")[0]).split())
        assert said.endswith("Closes 1 January 2099 00:00 UTC. Organisers: The committee, &lt;b&gt;Lyon&lt;/b&gt;."), (
            tab,
            said,
        )


@pytest.mark.slow
def test_each_row_that_ranks_last_has_a_reason_of_its_own(stage: Stage) -> None:
    tree = "(S (A a) (B (C b)))\n"
    task = SharedTask(stage, format="bracketed", metrics=["parseval"], errors="exclude", feedback="scores",
                      parts={"en": {"gold": tree * 20}})  # fmt: skip
    for lacking in (0, 5, 10):
        task.submit(task.team(f"t{lacking}"), tree * (20 - lacking) + "(())\n" * lacking)
    page = words_of(stage.client(None).get(f"/b/{task.slug}"))
    assert re.findall(r"Not tested: ranks last: .*? it has ([\d.]+)\.", page) == ["75.00", "50.00"]


def test_a_comparison_shows_itself_once_the_differences_are_tested(stage: Stage) -> None:
    task = SharedTask(stage)
    task.two()
    address, everyone = f"/b/{task.slug}/compare?score=attachment.uas", stage.client(None)
    asked = {"score": "attachment.uas", "submissions": "leaderboard"}
    with stage.asleep():
        comparison = task.organiser.post(f"{task.address}/comparisons", json=asked).json["id"]
    page = everyone.get(address).text
    assert "The differences are being tested" in page
    live = html.unescape(re.findall('hx-get="([^"]*/live[^"]*)"', page)[0])
    assert re.findall(r'<td class="num main">([\d.]+)', page)  # the board stands there until then
    assert "?sort=" not in page
    assert everyone.get(live).status_code == answers.UNCHANGED
    with stage.context.store.read() as db:
        found = comparisons.get(db, comparison)
    assert found is not None
    stage.queue.put(found.run_id, "live")
    assert everyone.get(live, headers={"HX-Request": "true"}).headers["HX-Redirect"] == address
    page = everyone.get(address).text
    assert "against" in page
    assert "/live" not in page
    assert '<option value="oslo">' in page  # whose row by another score may be another submission
    assert "score=attachment.uas" in re.findall('<a href="([^"]*)">Board', page)[0]


def test_a_withdrawn_submission_leaves_the_board(stage: Stage) -> None:
    task = SharedTask(stage)
    team = task.team("lyon")
    submission = task.submit(team)
    everyone = stage.client(None)
    page = everyone.get(f"/b/{task.slug}")
    assert "lyon Parsing Group" in page.text
    assert team.patch(submission, json={"withdrawn": True}, headers={"If-Match": "*"}).status_code == 200
    again = everyone.get(f"/b/{task.slug}", headers={"If-None-Match": page.headers["ETag"]})
    assert again.status_code == 200
    assert "lyon Parsing Group" not in again.text
    assert "No scored submission stands on the board" in again.text


@pytest.mark.parametrize(
    "query",
    [
        "part=%00", "part=../../etc", "score=attachment.nothing", "score=%F0%9F", "revision=0", "revision=99",
        "revision=1e9", "revision=" + "9" * 400, "pick=worst", "cursor=x", "cursor=-1", "cursor=%00", "part=a&part=b",
        "score=" + "x" * 5000, "unknown=1", "part=<script>alert(1)</script>", "sort=x&version=y&colour=1",
    ],
)  # fmt: skip
def test_bad_addresses_are_told_on_a_page(site: Site, query: str) -> None:
    answer = site.client().get(f"{BOARD}?{query}")
    assert 400 <= answer.status_code < 500
    assert answer.mimetype == "text/html"
    assert "<script>alert" not in answer.text
    assert "what this means and what to do" in answer.text


@pytest.mark.parametrize("sort", ["nothing", "-", "--team", "%00", "<script>alert(1)</script>", "x" * 5000])
def test_a_column_that_is_not_there_sorts_nothing_and_is_told_nowhere_as_markup(site: Site, sort: str) -> None:
    answer = site.client().get(BOARD, query_string={"sort": sort})
    assert answer.status_code in (200, 400)
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("cursor", ["x", "-1", "1e3", "9" * 40, "\x00", "AAAA"])
@pytest.mark.parametrize("path", ["/", f"{BOARD}/revisions"])
def test_a_cursor_of_something_else_is_refused(site: Site, path: str, cursor: str) -> None:
    answer = site.client().get(path, query_string={"cursor": cursor})
    assert answer.status_code in (200, 400, 422)
    assert answer.mimetype == "text/html"


def test_a_great_board_stays_small(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    client = site.client()
    board: Any = client.get(API).json
    document: Any = client.get("/v1/benchmarks/deps-scores").json
    first = board["rows"][0]
    rows = [
        {**first, "rank": at + 1, "team": f"team-{at}", "team_name": f"Parsing group {at} of a university",
         "score": 1 - at / 5000, "scores": dict.fromkeys(first["scores"], 1 - at / 5001)}
        for at in range(TEAMS)
    ]  # fmt: skip
    parts = {f"language_{at}": document["parts"]["en_news"] for at in range(PARTS)}
    view = Shown(None, orjson.dumps({**board, "rows": rows, "total_rows": TEAMS}), "of-a-great-board")
    monkeypatch.setattr("service.pages.board.leaderboard", lambda *_: view)
    monkeypatch.setattr("service.pages.board.benchmark_document", lambda *_: {**document, "parts": parts})
    answer = client.get(BOARD)
    assert len(body_rows(answer.text)) == TEAMS
    assert f"Mean LAS of {PARTS} parts" in answer.text
    assert len(gzip.compress(answer.data)) < MOST_BYTES


@pytest.mark.parametrize(("rows", "whiskers"), [(25, True), (26, False)])
def test_a_small_picture_of_many_rows_has_no_intervals(
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    whiskers: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    board: Any = site.client().get(API).json
    many = orjson.dumps({**board, "rows": board["rows"][:1] * rows})
    monkeypatch.setattr("service.pages.site.leaderboard", lambda *_: Shown(None, many, f"of-{rows}-rows"))
    strip = site.client().get("/").text.partition('class="strip"')[2].partition("</svg>")[0]
    assert ('class="ci"' in strip, strip.count("<circle")) == (whiskers, rows)


def test_while_tests_run_the_last_ones_stay_and_newer_rows_are_marked(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    task.two()
    text = GOLD_CONLLU.replace("2\tobj", "1\tnmod")
    late = task.team("paris")
    with stage.asleep():
        submission = task.submit(late, text).rpartition("/")[2]
        do(stage.context, submission)
    page = stage.client(None).get(f"/b/{task.slug}").text
    assert "1 row is newer (*). New tests are under way." in page
    rows = body_rows(page)
    marked = {row[2].partition(" ")[0]: (row[0], row[1]) for row in rows}
    assert marked["paris"][0].endswith("*")
    assert marked["paris"][1] == "–"
    assert {name: "*" in rank or span == "–" for name, (rank, span) in marked.items()} == {
        "lyon": False, "oslo": False, "paris": True,
    }  # fmt: skip
    work_of(stage.context)()
    page = stage.client(None).get(f"/b/{task.slug}").text
    assert "newer" not in page
    assert all(row[1] not in ("", "–") for row in body_rows(page))


def test_no_line_is_drawn_beside_a_row_that_was_not_tested() -> None:
    def row(rank: int | None, cluster: int | None) -> dict[str, Any]:
        return {"rank": rank, "cluster": cluster, "tested": cluster is not None}

    rows = [row(1, 1), row(2, None), row(3, 2), row(4, 3), row(None, None), row(5, 4)]
    assert cluster_starts({"rows": rows}) == [False, False, False, True, False, True]  # type: ignore[typeddict-item]


def test_links_of_a_wide_matrix_mark_what_they_leave_out() -> None:
    places = places_of(500, 100, 1050)
    assert [words for words, _, skips in places if skips] == ["301–400", "1,001–1,050"]
    assert [words for words, at, _ in places if at is None] == ["501–600"]


def test_a_caption_says_what_is_measured_and_between_which_rows_lines_are() -> None:
    rows = [{"tested": True, "submission": "sub_1"}, {"tested": False, "submission": "sub_2"}]
    tested = {"pairs": 1, "as_of": None, "notes": [f"Marks hold together.{AGREE}", "of its team's k submissions"]}
    board: Any = {"pick": "best", "part": "pud", "higher_is_better": False, "rows": rows[:1], "significance": tested}
    score = ScoreNames({"format": "pharaoh", "metrics": ["alignment"]})("alignment.aer")
    document: Any = {"parts": {"de": {}, "en": {}, "fr": {}}, "tracks": {"pud": ["de", "en"]}}
    said = board_caption(board, score, document, by_rank=True)
    assert said.startswith(
        "Mean AER of the 2 parts of the track pud, lower is better; a line is drawn where every team "
    )
    said = board_caption({**board, "rows": rows}, score, document, by_rank=True)
    assert said.endswith("every tested team above is significantly better than every tested team below.")
    assert claims_of({**board, "rows": []}) == ["Marks hold together.", "of its team's submissions"]


def test_a_difference_of_nothing_has_no_sign_on_any_side(stage: Stage) -> None:
    task = SharedTask(stage)
    task.two()
    task.submit(task.team("ulm"), ONE_WRONG)
    address = f"/b/{task.slug}/compare?a=ulm"
    page = task.organiser.get(address).text
    svg = html.unescape(next(each for each in Page(page).links if "format=svg" in each))
    for shown in (
        page,
        *(task.organiser.get(each).text for each in (f"{address}&".replace("?", "/export?format=csv&"), svg)),
    ):
        assert re.search(r"(?<![\d.])0\.00\b", shown)
        assert not re.search(r"[-−+]0\.00\b", shown)


def test_units_of_parts_with_and_without_documents_are_both_named(stage: Stage) -> None:
    marked = re.sub("(?m)^# sent_id", "# newdoc\n# sent_id", GOLD_CONLLU)
    task = SharedTask(stage, parts={"en": {"gold": marked}, "de": {"gold": GOLD_CONLLU}})
    for team, text in (("lyon", GOLD_CONLLU), ("oslo", ONE_WRONG)):
        task.submit(task.team(team), text, outputs={"en": text, "de": text})
    board, compare = (task.organiser.get(f"/b/{task.slug}{tab}") for tab in ("", "/compare"))
    assert "over 4 documents and sentences" in board.text
    assert "Won, tied, lost: documents and sentences." in compare.text
    svg = html.unescape(next(each for each in Page(compare.text).links if "format=svg" in each))
    assert "4 documents and sentences" in task.organiser.get(svg).text
    document: Any = task.organiser.get(svg.replace("format=svg", "format=json")).json
    assert "Won, tied, lost: documents and sentences." in against_svg(document, document["systems"][0]["name"])
    words = task.organiser.get(f"{task.address}/leaderboard?format=markdown").text
    assert "intervals are over the same documents and sentences." in words


def test_a_board_of_all_submissions_tells_rows_apart_not_teams(stage: Stage) -> None:
    task = SharedTask(stage, leaderboard={"pick": "all"})
    team = task.team()
    for text in (GOLD_CONLLU, ONE_WRONG):
        task.submit(team, text)
    board, compare = (task.organiser.get(f"/b/{task.slug}{tab}").text for tab in ("", "/compare"))
    assert "every row above is significantly better than every row below" in board
    assert "against <bdi>every other system</bdi>" in compare
    assert '<option value="">every other system</option>' in compare
    assert "every team" not in board + compare


def test_a_comparison_is_with_all_others_or_with_those_that_are_tested(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    board: Any = site.client().get(API).json
    page = site.client().get(f"{BOARD}/compare").text
    assert "against <bdi>every team</bdi>" in page
    assert "Won, tied, lost: sentences." in site.client().get("/b/links/compare").text
    view = Shown(None, orjson.dumps({**board, "rows": [*board["rows"], {**board["rows"][0], "tested": False}]}), "v")
    monkeypatch.setattr("service.pages.compare.leaderboard", lambda *_: view)
    words = f"the {len(board['rows']) - 1} other tested systems"
    page = site.client().get(f"{BOARD}/compare").text
    assert f'<option value="">{words}</option>' in page
    assert f"against <bdi>{words}</bdi>" in page


def test_teams_without_names_have_the_same_letters_on_every_page(site: Site) -> None:
    called: dict[str, set[str]] = {}
    for address, query in (("", ""), ("", "?score=attachment.uas"), ("/matrix", ""), ("/compare", "")):
        page = site.client().get(f"/b/unnamed{address}{query}").text
        called[address + query] = set(re.findall(r"<bdi>(Team [A-Z])</bdi>", page))
        assert "anonymous" not in page.partition("<main")[2].partition("</main>")[0]
    assert set(map(frozenset, called.values())) == {frozenset({"Team A", "Team B", "Team C"})}
    board = body_rows(site.client().get("/b/unnamed").text)
    matrix = next(row for row in Page(site.client().get("/b/unnamed/matrix").text).rows if row[0] == "Part")
    assert [row[2] for row in board] == matrix[1:]
    for form in ("markdown", "svg"):
        for sheet in ("leaderboard", "matrix"):
            written = site.client().get(f"/v1/benchmarks/unnamed/{sheet}?format={form}").text
            assert all(f"Team {letter}" in written for letter in "ABC"), (sheet, form)
    assert "Team" not in "".join(row[2] for row in body_rows(site.client(ADMIN).get("/b/unnamed").text))


def test_letters_go_on_after_the_last_one() -> None:
    assert [letters(at) for at in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


@pytest.mark.parametrize("principal", PRINCIPALS)
def test_the_list_shows_of_each_open_task_what_its_board_shows(site: Site, principal: str) -> None:
    client = site.client(site.token(principal, "deps-scores"))
    tasks = client.get("/").text.partition('<ul class="tasks">')[2].split("<li>")[1:]
    by_name = {re.findall(r'href="/b/([^"]+)"', task)[0]: task for task in tasks}
    for slug in ("deps-none", "deps-status", "deps-rounded", "deps-scores", "empty", "unnamed"):
        board: Any = client.get(f"/v1/benchmarks/{slug}/leaderboard").json
        task = by_name[slug]
        scored = [row for row in board["rows"] if row["score"] is not None]
        assert ('class="strip"' in task) == bool(scored), slug
        assert task.count('class="pt"') == len(scored)
        assert task.count('class="ci"') == sum(row["ci95"] is not None for row in scored)
        assert ("No scored output stands on the board" in task) == (slug == "empty")
        assert ("First: " in task) == bool(scored)
        first = sum(row["rank"] == 1 for row in board["rows"])
        assert (f"</bdi> and {first - 1} more, " in task) == (first > 1)


def test_a_board_says_that_it_is_frozen_or_over_a_share(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    board: Any = site.client().get(API).json
    document: Any = site.client().get("/v1/benchmarks/deps-scores").json
    frozen = {**document["leaderboard"], "frozen_at": "2026-11-02T11:00:00Z"}

    versions = count()

    def said(of_board: dict[str, Any], settings: dict[str, Any]) -> str:
        body = orjson.dumps({**board, "as_of": "2026-11-02T11:00:00Z", **of_board})
        view = Shown(None, body, f"changed-{next(versions)}")
        about = {**document, "leaderboard": settings}
        monkeypatch.setattr("service.pages.board.leaderboard", lambda *_: view)
        monkeypatch.setattr("service.pages.board.benchmark_document", lambda *_: about)
        pages = [site.client().get(each).text for each in (BOARD, f"{BOARD}/live", f"/embed{BOARD}")]
        above = {each.partition('<section id="board"')[2].partition("<table")[0].partition(">")[2] for each in pages}
        (words,) = {" ".join(re.sub("<[^>]*>", "", each).split()) for each in above}
        return words

    assert (
        said({"frozen": True}, frozen)
        == "This board is frozen: it shows what was scored until 2 November 2026 11:00 UTC."
    )
    later = said({"frozen": True, "revision": 2, "as_of": "2026-11-03T09:00:00Z"}, frozen)
    assert later.endswith("11:00 UTC, by revision 2, which became active later.")
    assert said({}, frozen) == (
        "Teams and visitors see on this board what was scored until 2 November 2026 11:00 UTC; you see it as it is now."
    )
    public = said({"split": "public"}, document["leaderboard"])
    assert public == "All figures are over the public share of the test set, not over all of it."
    assert said({}, document["leaderboard"]) == ""


def test_the_rules_of_a_board_and_only_known_sizes_are_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    about = f"{BOARD}/about"
    page = site.client().get(about).text
    assert [each in page for each in ("Frozen", "public share", "A score is shown", ">Words<")] == [False] * 4
    document: Any = site.client(ADMIN).get("/v1/benchmarks/deps-scores").json
    rules = {"ladder": True, "split": {"private": 0.25}, "frozen_at": "2099-01-01T00:00:00Z"}
    changed = {**document, "leaderboard": {**document["leaderboard"], **rules}}
    monkeypatch.setattr("service.pages.figures.benchmark_document", lambda *_: changed)
    page = site.client(ADMIN).get(about).text
    for words in (
        "any number of scored submissions a day, any number in all",
        "only where it beats",
        "private share (25 %)",
        "1 January 2099, 00:00 UTC</time> on",
        ">Words<",
    ):
        assert words in page, words


def test_a_system_of_several_runs_is_called_so(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    team = task.team()
    first = task.submit(team, GOLD_CONLLU, name="one")
    second = task.submit(team, GOLD_CONLLU.replace("2\tobj", "1\tnmod"), name="two", run_of="one")
    task.submit(task.team("oslo"))
    row = next(each for each in stage.client().get(f"{task.address}/leaderboard").json["rows"] if each["runs"])
    page = stage.client(None).get(f"/b/{task.slug}").text
    assert 'title="lyon Parsing Group: one (mean of 2 runs)"' in page
    assert '<span class="meta">(mean of 2 runs)</span>' in page
    matrix, saved = (stage.client(None).get(f"/b/{task.slug}/matrix{end}").text for end in ("", "/export?format=csv"))
    assert 'title="lyon Parsing Group (mean of 2 runs)"><span><bdi>lyon Parsing Group</bdi><br>mean of 2 runs' in matrix
    assert matrix.count("mean of") == 2
    assert "lyon Parsing Group (mean of 2 runs)," in saved
    mean = f"the mean of 2 runs of its system, {100 * row['score']:.2f}: rank 1 of 2"
    for level, said in (("scores", mean), ("rounded", "its system: rank 1 of 2")):
        tag = task.organiser.get(task.address).headers["ETag"]
        task.organiser.patch(task.address, json={"feedback": level}, headers={"If-Match": tag})
        for address, own in ((first, "100.00"), (second, f"{100 * (2 * row['score'] - 1):.2f}")):
            page = team.get(f"/s/{address.rpartition('/')[2]}").text
            (headline,) = re.findall('<p class="headline">.*', page)
            assert f"<b>{own[:2]}" in headline
            assert f"<span>{said}" in headline
            assert (f"compare?a={row['submission']}" in page) == (level == "scores")


def test_a_run_that_the_row_of_its_system_is_not_the_mean_of_has_no_place(stage: Stage) -> None:
    task = SharedTask(stage, feedback="scores")
    team = task.team()
    first = task.submit(team, ONE_WRONG, name="one")
    task.submit(team, "no output", name="failed", run_of="one")
    page = words_of(team.get(f"/s/{first.rpartition('/')[2]}"))
    assert ("rank 1 of 1" in page, "its system" in page) == (True, False)
    tag = task.organiser.get(task.address).headers["ETag"]
    frozen = {"leaderboard": {"frozen_at": stage.context.now().isoformat()}}
    task.organiser.patch(task.address, json=frozen, headers={"If-Match": tag})
    later = task.submit(team, GOLD_CONLLU, name="two", run_of="one")
    assert "rank 1" not in words_of(team.get(f"/s/{later.rpartition('/')[2]}"))


def test_a_board_by_a_score_that_is_not_tested_says_what_is_next(site: Site) -> None:
    by_uas = "score=attachment.uas"
    page, compare = (site.client().get(f"{BOARD}{tab}?{by_uas}").text for tab in ("", "/compare"))
    assert "Not tested:" not in page
    assert "Test the differences" not in page + compare
    link = f'<a href="{BOARD}/compare?score=attachment.las'
    assert f'Tested over all parts: {link}">compare by LAS</a>.' in compare
    kept = site.client().get(f"{BOARD}/compare?{by_uas}&a=ulm&revision=2&part=en_web").text
    assert f'{link}&amp;a=ulm&amp;revision=2">' in kept
    assert f'<a href="{BOARD}?{by_uas}&amp;revision=2">Board' in kept
    page = site.client(ADMIN).get(f"{BOARD}?{by_uas}&pick=best").text
    link = html.unescape(re.findall('<a href="([^"]*)">Test the differences', page)[0])
    assert "Test the differences</button>" in site.client(ADMIN).get(link).text


def test_what_a_row_does_not_have_is_a_dash_and_what_none_has_no_column(site: Site) -> None:
    tested, untested = (site.client().get(f"{BOARD}{query}").text for query in ("", "?part=en_news"))
    assert body_rows(tested)[-1][P_NEXT] == "–"
    for head in (">Ranks<", ">95 % interval<", ">p to next<"):
        assert (head in tested, head in untested) == (True, False)
    assert "were not tested. The organisers, or a team, can have them tested." in untested


def test_p_that_is_not_significant_is_soft_and_arrows_stay_beside_their_words() -> None:
    sheet = (Path(answers.__file__).parent / "static" / "pages.css").read_text(encoding="utf-8")
    assert re.findall(r"^\.board \.p(\S*) { color: var\(--(\w+)\)", sheet, re.MULTILINE) == [(".ns", "soft")]
    assert re.findall(r'aria-sort=.* content: "(\S+)"', sheet) == ["\\a0↓", "\\a0↑"]
