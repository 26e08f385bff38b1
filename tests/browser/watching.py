"""A page in a browser, and what goes wrong there: messages, faults of scripts, requests to other hosts, shifts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response, ViewportSize

SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (!entry.hadRecentInput) window.shifts.push([entry.value, ...entry.sources.map((each) => each.node?.nodeName)]);
  }
}).observe({type: "layout-shift", buffered: true});
"""
GRAVE = ("serious", "critical")
SEEN = 0.001
"""Shifts below it are no eye's: some pixels of one line, where a busy browser draws a foot before its last word. Good
pages stay below 0.1 in all (web.dev/cls)."""


@dataclass
class Watched:
    """A page, and what was noted of it."""

    page: Page
    origin: str
    response: Response | None = None
    faults: list[str] = field(default_factory=list)

    def heard(self, message: ConsoleMessage) -> None:
        """Note an error or warning; the browser says of each problem page that it failed to load, which is meant."""
        refused = "Failed to load resource" in message.text and message.location["url"] == self.page.url
        if message.type in ("error", "warning") and not refused:
            self.faults.append(f"{message.type}: {message.text}")

    def asked(self, request: Request) -> None:
        """Note a request to another host."""
        if not request.url.startswith((f"{self.origin}/", "data:")):
            self.faults.append(f"asked {request.url}")

    def sideways(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def shifts(self) -> list[Any]:
        """Layout shifts until now that can be seen."""
        self.page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        return [each for each in self.page.evaluate("window.shifts") if each[0] >= SEEN]

    def grave(self) -> list[str]:
        """What axe finds that is serious or critical, each with the first elements that have it."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(axe_script())
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{each['id']}: {[(node['html'][:150], node['failureSummary'][:300]) for node in each['nodes'][:3]]}"
            for each in found
            if each["impact"] in GRAVE
        ]


@cache
def axe_script() -> str:
    """The script of axe. The inspector evaluates it, which the page's policy does not forbid."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def watched(context: BrowserContext, origin: str, path: str | None, size: ViewportSize | None = None) -> Watched:
    """Open a page of a context, watched from its first byte; without a path it is left empty."""
    page = context.new_page()
    if size is not None:
        page.set_viewport_size(size)
    seen = Watched(page, origin)
    page.on("console", seen.heard)
    page.on("pageerror", lambda error: seen.faults.append(f"fault: {error}"))
    page.on("request", seen.asked)
    page.add_init_script(SHIFTS)
    if path is not None:
        seen.response = page.goto(path)
    return seen
