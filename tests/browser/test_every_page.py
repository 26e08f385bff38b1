"""Every page in a browser, as everybody: no message, no fault, nothing from outside, no sideways scroll, axe.

Quick is each kind of page as the organiser, who sees the most, in a wide light window and a narrow dark one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.fixtures.site import ORGANISER, PRINCIPALS, Site
from tests.fixtures.site_pages import PAGES, PROBLEMS, Shown

pytestmark = pytest.mark.browser

WHOLE = ("deps-scores", "deps-none", "empty", "hostile")
"""Benchmarks of which every page is looked at; of the others the board."""
QUICK = re.compile(
    r"(/embed)?/b/hostile|/b/deps-scores(/\w+)?(\?a=\w+&b=\w+)?|/docs/search\?\S+|(?!/b/|/embed/|/docs/)[^?]*"
)
"""Pages that are looked at in `make browser`: each kind once, of one benchmark, and of those of the API a short one."""
LOOKS = ((1280, "light"), (390, "dark"), (390, "light"), (1280, "dark"))
"""Widths and colours. Organisers see the most of each page, so that theirs are looked at in all four ways; what is
refused is one page, which is looked at by its own addresses."""
SHOWN = [
    shown
    for shown in (*PAGES, *PROBLEMS)
    if not re.search(r"/live|/output|/about/input|format=|\.svg|\.json|\.csv|\.atom", shown.path)  # files
    and (not re.fullmatch(r"/b/[^/]+/\w+", shown.path) or shown.path.split("/")[2] in WHOLE)
]


def cases() -> Iterator[Any]:
    """Each page as each principal, with the ways in which it is looked at there in one visit."""
    for shown in SHOWN:
        kind = shown.benchmark in ("deps-scores", "hostile") and QUICK.fullmatch(shown.path)
        for principal in PRINCIPALS:
            name = f"{shown.path}-{principal}"
            quick = kind and principal == ORGANISER
            first = LOOKS[:1] if shown.status(principal) >= 400 else LOOKS[:2]
            yield pytest.param(shown, principal, first, id=name, marks=() if quick else pytest.mark.slow)
            if principal == ORGANISER and len(first) > 1:
                yield pytest.param(shown, principal, LOOKS[2:], id=f"{name}-again", marks=pytest.mark.slow)


@pytest.mark.parametrize(("shown", "principal", "looks"), list(cases()))
def test_a_page_is_sound(
    site: Site, look: Visit, screenshots: Path, shown: Shown, principal: str, looks: Sequence[tuple[int, str]]
) -> None:
    seen = look(shown.address(site), principal, shown.benchmark)
    assert seen.response is not None
    assert seen.response.status == shown.status(principal)
    assert seen.shifts() == []
    name = re.sub(r"\W+", "-", shown.path).strip("-") or "benchmarks"
    for width, scheme in looks:
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.emulate_media(color_scheme=scheme)
        assert seen.sideways() == 0, width
        assert seen.grave() == [], (width, scheme)
        seen.page.screenshot(path=screenshots / f"{name}-{principal}-{width}-{scheme}.png", full_page=True)
    assert seen.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.path)
def test_a_page_reads_without_script_and_in_print(site: Site, visit: Visit, shown: Shown) -> None:
    page = visit(shown.address(site), "team", shown.benchmark, java_script_enabled=False).page
    heading = page.get_by_role("heading", level=1)
    assert heading.inner_text().strip()
    shown_words = len(page.locator("main").inner_text())
    assert shown_words > len(heading.inner_text())
    page.emulate_media(media="print")
    assert heading.is_visible()
    for hidden in ("header.top", "footer.foot", "nav.tabs", "form.pick", "p.exports", ".skip"):
        assert not any(each.is_visible() for each in page.locator(hidden).all()), hidden
