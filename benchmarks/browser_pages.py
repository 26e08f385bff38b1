"""Measure pages in Chromium through the browser's own performance interface: delays, shifts, sorting."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from table import PROCESS, Goal, Measure, not_measured, report

SORTED, DELAY, SHIFT = Goal(100), Goal(100), Goal(0)
TURNS = 7
WATCH = """
(() => {
  const KEPT = "measured";
  const kept = () => JSON.parse(sessionStorage.getItem(KEPT) || '{"delays": [], "shift": 0}');
  const keep = (change) => { const all = kept(); change(all); sessionStorage.setItem(KEPT, JSON.stringify(all)); };
  const events = (list) => keep((all) =>
    list.filter((each) => each.interactionId).forEach((each) => all.delays.push(each.duration)));
  const shifts = (list) => keep((all) =>
    list.filter((each) => !each.hadRecentInput).forEach((each) => { all.shift += each.value; }));
  const watch = (type, take, more) => {
    const observer = new PerformanceObserver((list) => take(list.getEntries()));
    observer.observe({type, buffered: true, ...more});
    addEventListener("pagehide", () => take(observer.takeRecords()));
  };
  watch("event", events, {durationThreshold: 16});
  watch("layout-shift", shifts, {});
  addEventListener("click", (event) => {
    window.painted = null;
    requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now() - event.timeStamp; }));
  }, true);
})();
"""
"""Keeps what the browser reports over the pages of one tab: delays of interactions, and shifts without one; and in
`painted` the milliseconds from a click to the end of the next frame."""
PAINTED = """
async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  while (!window.painted || document.querySelector("table.board tbody[hidden]")) await frame();
  return window.painted;
}
"""
"""Waits until all rows are there; returns what the first frame after the click took."""


def measure_browser(address: str, board: str, sentences: str, token: str) -> None:
    """Report what people wait for, or why it was not measured."""
    names = ("board sorted in the browser", "largest delay of an interaction", "layout shift")
    program = os.environ.get("TREESCORE_CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - no dependency of the benchmarks
    except ImportError:
        reason = "no playwright"
    else:
        reason = "" if program else "no Chromium: TREESCORE_CHROMIUM names none, nor is it on the PATH"
    if reason or program is None:
        for name, goal in zip(names, (SORTED, DELAY, SHIFT), strict=True):
            not_measured(name, PROCESS, "-", reason, goal)
        return
    with _tab(sync_playwright, program) as tab:
        _sign_in(tab, address, token)
        waits = _sorts(tab, f"{address}{board}")
        _look_at(tab, f"{address}{sentences}")
        found = tab.evaluate("() => JSON.parse(sessionStorage.getItem('measured'))")
    figures = f"from the click to the painted page, median of {len(waits)}, largest {max(waits):.0f} ms"
    report(Measure(names[0], PROCESS, "-", statistics.median(waits), SORTED, figures, "ms"))
    delays = found["delays"] or [0]
    figures = f"of {len(delays)} of 16 ms or more, median {statistics.median(delays):.0f} ms"
    report(Measure(names[1], PROCESS, "-", max(delays), DELAY, figures, "ms"))
    report(Measure(names[2], PROCESS, "-", found["shift"], SHIFT, "sum over all pages that were opened", ""))


@contextmanager
def _tab(playwright: Any, program: str) -> Iterator[Any]:
    with playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.add_init_script(WATCH)
        yield tab
        browser.close()


def _sign_in(tab: Any, address: str, token: str) -> None:
    tab.goto(f"{address}/sign-in")
    tab.fill("#token", token)
    tab.click("main button")


def _sorts(tab: Any, board: str) -> list[float]:
    """Sort the board by clicks on its heads; return the milliseconds until each was painted."""
    waits = []
    tab.goto(board)
    for _ in range(TURNS):
        before = tab.url
        tab.click("table.board thead a >> nth=0")
        tab.wait_for_url(lambda url, before=before: url != before)
        waits.append(tab.evaluate(PAINTED))
    return waits


def _look_at(tab: Any, sentences: str) -> None:
    """Go through sentences by keys and clicks, as a reader does."""
    tab.goto(sentences)
    for key in ("j", "j", "k"):
        with tab.expect_navigation():
            tab.keyboard.press(key)
    tab.keyboard.press("/")
    tab.keyboard.type("word1")
    tab.keyboard.press("Tab")
    tab.click("details.facts-of summary")
    tab.click("details.facts-of summary")
    tab.wait_for_timeout(200)
