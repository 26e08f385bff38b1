"""The board fits its window and its paper, whatever names are; choices act at once and news are told."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from service.pages import figures
from tests.browser.conftest import Visit
from tests.fixtures import site as names
from tests.fixtures.site import LONG_WORD, Site

pytestmark = pytest.mark.browser

BOARD = "/b/deps-scores"
HOSTILE = "/b/hostile"
PAPER = {"width": 1047, "height": 718}
"""Pixels of A4, landscape, within its margins."""
EDGES = """() => Object.fromEntries([...document.querySelectorAll("#board thead th")].map((head) =>
  [head.textContent.trim().replace(/[^a-zA-Z#].*/, ""), head.getBoundingClientRect().right]))"""


@pytest.mark.parametrize(
    ("width", "seen"),
    [(1280, ("#", "Ranks", "Team", "LAS", "Picture", "Parts")), (768, ("#", "Ranks", "Team", "LAS", "Picture")),
     (390, ("#", "Team", "LAS", "Picture"))],
)  # fmt: skip
def test_the_columns_that_matter_are_seen_whatever_names_are(visit: Visit, width: int, seen: tuple[str, ...]) -> None:
    page = visit(HOSTILE, viewport={"width": width, "height": 900}).page
    edges = page.evaluate(EDGES)
    assert {name for name in seen if not 0 < edges[name] <= width} == set()
    whole = page.locator("#board tbody th").get_by_text(LONG_WORD[:50]).first
    assert LONG_WORD in (whole.locator("xpath=ancestor-or-self::th").get_attribute("title") or "")


BEGINS_OUTSIDE = """name => [...document.querySelectorAll("#main bdi")].filter(
  each => each.textContent.startsWith(name)).map(each => {
    const cut = each.closest("tbody th, thead span"), range = document.createRange();
    const words = document.createTreeWalker(each, NodeFilter.SHOW_TEXT).nextNode();
    range.setStart(words, 0), range.setEnd(words, 1);
    const [inner, outer] = [range.getBoundingClientRect(), cut.getBoundingClientRect()];
    const [x, y] = [inner.x + inner.width / 2, inner.y + inner.height / 2];
    return x < outer.left || x > outer.right || y < outer.top || y > outer.bottom;
  })"""
"""Of each place in which a name stands whether its first letter is cut away."""


@pytest.mark.parametrize(
    ("tab", "width"), [("", 390), ("", 1280), ("/matrix", 390), ("/compare", 390), ("/compare", 1280)]
)
def test_a_name_from_right_to_left_is_cut_where_it_ends(visit: Visit, tab: str, width: int) -> None:
    page = visit(f"{HOSTILE}{tab}", viewport={"width": width, "height": 900}).page
    found = page.evaluate(BEGINS_OUTSIDE, names.HOSTILE["right-to-left"])
    assert found
    assert not any(found)


def test_the_first_row_is_high_on_the_page(visit: Visit) -> None:
    page = visit(BOARD, viewport={"width": 1440, "height": 900}).page
    assert page.evaluate("document.querySelector('#board tbody tr').getBoundingClientRect().top") < 400


TESTS_OF = """document.querySelector('#board .scroll').insertAdjacentHTML(
  "beforebegin", '<p class="meta">Tests of 20:14; 3 rows are newer (*). New tests are under way.</p>')"""
"""What stands above the table while tests are under way."""
NOTICE = "**The deadline** has moved, since the service was away.\n\n- Outputs that were sent stay as they are.\n" * 5


@pytest.mark.parametrize("text", [NOTICE, "The deadline **has moved** to Monday."])
def test_the_first_row_is_high_below_a_notice_which_can_be_read(
    visit: Visit, site: Site, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "MOST_OLD", 10**6 * len(text))  # what is known belongs to another interval
    organiser, board = site.stage.client(), BOARD.replace("/b/", "/v1/benchmarks/")
    changed = organiser.patch(board, json={"notice": text}, headers={"If-Match": "*"})
    assert changed.status_code == 200
    try:
        page = visit(BOARD, viewport={"width": 1440, "height": 900}).page
        page.evaluate(TESTS_OF)
        assert page.evaluate("document.querySelector('#board tbody tr').getBoundingClientRect().top") < 400
        notice = page.get_by_label("Notice", exact=True)
        expect(notice).to_contain_text("has moved")
        if text == NOTICE:
            last = notice.get_by_text("stay as they are").last
            expect(last).not_to_be_visible()
            notice.locator("summary").click()
            expect(last).to_be_visible()
    finally:
        organiser.patch(board, json={"notice": None}, headers={"If-Match": "*"})


def test_all_columns_are_printed_on_a_sheet(visit: Visit) -> None:
    page = visit(HOSTILE, viewport=PAPER).page
    page.emulate_media(media="print")
    assert max(page.evaluate(EDGES).values()) <= PAPER["width"]


def test_a_choice_acts_at_once_and_stands_in_the_address(visit: Visit) -> None:
    seen = visit(BOARD)
    page = seen.page
    part = page.get_by_label("Part")
    part.focus()
    part.select_option("en_web")
    expect(page.locator("caption")).to_contain_text("of the part en_web")
    expect(page).to_have_url(re.compile("part=en_web"))
    expect(page.get_by_label("Part")).to_be_focused()
    expect(page.locator("#news")).to_contain_text("of the part en_web")
    assert not page.get_by_role("button", name="Show").is_visible()
    page.go_back()
    expect(page.locator("caption")).to_contain_text("Mean LAS of 3 parts")
    assert seen.faults == []


def test_what_changed_on_the_board_is_told(visit: Visit) -> None:
    page = visit(BOARD).page
    page.evaluate("document.querySelector('#board tbody tr').remove()")
    page.evaluate("htmx.ajax('GET', '/b/deps-scores/live?version=old', {target: '#board', swap: 'outerHTML'})")
    expect(page.locator("#news")).to_contain_text(re.compile(r"The board has changed\. new: .*, rank 1, [\d.]+$"))
