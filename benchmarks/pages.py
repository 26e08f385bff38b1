"""Measure the service's pages: a wide board, its viewers who ask again and again, sentences, and what a browser does.

    .venv/bin/python benchmarks/pages.py [--teams 1000] [--parts 200] [--reads 40] [--seconds 8]

Starts a service of its own on a temporary folder. A page's figure is the CPU time of the API's processes for one
request, beside the time that the client waited. Viewers ask for the live fragment of the board, each over a connection
of its own, as many in a second as 300 viewers do who ask every 15 s; the cost of the moment when the board changes is
measured apart and spread over the minutes between two changes. The browser is Chromium under Playwright
(`browser_pages.py`); without them a line says so. Asserts nothing.
"""

from __future__ import annotations

import gzip
import statistics
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import httpx
from browser_pages import measure_browser
from page_data import WIDE, constituents, dependencies, touched, wide_board
from service_speed import server_microseconds
from services import Service
from shared_task import board_settled
from table import PROCESS, Goal, Measure, machine, options, report

BOARD = f"/b/{WIDE}"
BOARD_MS, SENTENCE_MS = Goal(40), Goal(30)
BOARD_KB = Goal(400)
VIEWERS, EVERY = 300, 15
"""Viewers of one board, and the seconds after which each asks again."""
SHARE_OF_A_CORE = Goal(30)
CHANGES_EVERY = 600
"""Seconds between two changes of a board: a submission of one team in ten minutes."""
LINES = 200
"""Sentences of the outputs whose trees are shown."""
CODINGS = {"Accept-Encoding": "gzip, deflate, br, zstd"}
"""As browsers send them."""


class Taken(NamedTuple):
    """What requests took.

    Attributes:
        cpu: milliseconds of the API's processes for one request.
        wall: the median of what a client waited, in milliseconds.
    """

    cpu: float
    wall: float


class Pages:
    """The service that is measured, as a browser asks it."""

    def __init__(self, served: Service) -> None:
        self.pid = served.family()[0].pid
        self.visitor = httpx.Client(base_url=served.address, headers=CODINGS, timeout=120)
        self.organiser = httpx.Client(
            base_url=served.address, headers={**CODINGS, "Authorization": f"Bearer {served.token}"}, timeout=120
        )

    def close(self) -> None:
        """Close the connections."""
        self.visitor.close()
        self.organiser.close()

    def taken(self, asked: Callable[[int], httpx.Response], times: int, status: int = 200) -> Taken:
        """Return what each of so many requests took."""
        waits, before = [], server_microseconds(self.pid)
        for number in range(times):
            began = perf_counter()
            answer = asked(number)
            waits.append(1000 * (perf_counter() - began))
            if answer.status_code != status:
                raise RuntimeError(f"{answer.url}: {answer.status_code}")
        return Taken((server_microseconds(self.pid) - before) / times / 1000, statistics.median(waits))


def show(name: str, found: Taken, goal: Goal | None, more: str = "") -> None:
    """Report the CPU time of a request."""
    figures = f"waited for {found.wall:.1f} ms{more}"
    report(Measure(name, PROCESS, "-", found.cpu, goal, figures, "ms of CPU"))


def warmed(pages: Pages, path: str, client: httpx.Client | None = None) -> httpx.Response:
    """Ask over new connections until each process has most likely rendered the page; return an answer."""
    asked = client or pages.visitor
    for _ in range(12):
        asked.get(path, headers={"Connection": "close"})
    return asked.get(path)


def measure_board(pages: Pages, data: Path, reads: int) -> None:
    """Measure the board: rendered, from memory, known to the client, sorted, and its size."""
    first = [_first(pages, data) for _ in range(5)]
    show(
        "board, first after a change: read and rendered", Taken(*map(statistics.median, zip(*first, strict=True))), None
    )
    body = warmed(pages, BOARD).content
    rows = body.count(b'<th scope="row"')
    what = f"board of {rows:,} rows"
    show(f"{what}, from memory", pages.taken(lambda _: pages.visitor.get(BOARD), reads), BOARD_MS)
    known = {"If-None-Match": pages.visitor.get(BOARD).headers["ETag"]}
    show(f"{what}, known to the browser", pages.taken(lambda _: _get(pages, BOARD, known), reads, 304), None)
    for sort in ("-ud.uas_f1", "team"):
        warmed(pages, f"{BOARD}?sort={sort}")
    turns = ("-ud.uas_f1", "team")
    sorts = pages.taken(lambda number: pages.visitor.get(f"{BOARD}?sort={turns[number % 2]}"), reads)
    show(f"{what}, sorted, from memory", sorts, BOARD_MS)
    size = len(gzip.compress(body, 6)) / 1000
    report(Measure(f"{what}, gzip", PROCESS, "-", size, BOARD_KB, f"{len(body) / 1000:,.0f} kB plain", "kB"))


def _get(pages: Pages, path: str, headers: dict[str, str]) -> httpx.Response:
    return pages.visitor.get(path, headers=headers)


def _first(pages: Pages, data: Path) -> Taken:
    touched(data)
    return pages.taken(lambda _: pages.visitor.get(BOARD), 1)


def _again(pages: Pages, path: str, _number: int) -> httpx.Response:
    return pages.visitor.get(path)


def _sentence_after(pages: Pages, path: str, number: int) -> httpx.Response:
    return pages.organiser.get(f"{path}{number + 2}")


def measure_pages(pages: Pages, sentences: dict[str, str], reads: int) -> None:
    """Measure the pages that stand beside the board, and those of sentences."""
    for name, path in (("matrix", f"{BOARD}/matrix"), ("list of benchmarks", "/")):
        size = len(warmed(pages, path).content) / 1000
        show(f"{name}", pages.taken(partial(_again, pages, path), reads), None, f", {size:,.0f} kB plain")
    for name, submission in sentences.items():
        path = f"/s/{submission}/sentences?n="
        warmed(pages, f"{path}1", pages.organiser)
        taken = pages.taken(partial(_sentence_after, pages, path), reads)
        show(f"page of a sentence, {name}", taken, SENTENCE_MS)


def measure_viewers(pages: Pages, served: Service, data: Path, seconds: int) -> None:
    """Measure what 300 viewers cost while nothing changes, and when something does."""
    address = _live(warmed(pages, BOARD).text)
    headers = {**CODINGS, "HX-Request": "true", "Connection": "close"}
    url = f"{served.address}{address}"
    _asking(pages, url, headers, 1, 204)
    quiet = _asking(pages, url, headers, seconds, 204)
    touched(data)
    # as in the 15 s after a change: each process renders the fragment once, and sends all others the same bytes
    changed = pages.taken(lambda _: _get(pages, address, headers), VIEWERS)
    spread = VIEWERS * changed.cpu / 1000 / CHANGES_EVERY
    share = 100 * (quiet * VIEWERS / EVERY / 1000 + spread)
    figures = (
        f"{quiet:.2f} ms of CPU for each of {VIEWERS // EVERY} unchanged fragments (204) a second; "
        f"{changed.cpu:.1f} ms for each of {VIEWERS} at a change, every {CHANGES_EVERY} s"
    )
    report(Measure(f"{VIEWERS} viewers of a board", PROCESS, "-", share, SHARE_OF_A_CORE, figures, "% of a core"))
    first = changed.cpu * VIEWERS / 1000 / EVERY * 100
    report(Measure(f"{VIEWERS} viewers in the {EVERY} s after a change", PROCESS, "-", first, None,
                   f"{changed.cpu:.1f} ms of CPU each, waited for {changed.wall:.1f} ms", "% of a core"))  # fmt: skip


def _live(page: str) -> str:
    """Return the address of the fragment that a page asks for."""
    begin = page.index('hx-get="') + len('hx-get="')
    return page[begin : page.index('"', begin)].replace("&amp;", "&")


def _asking(pages: Pages, url: str, headers: dict[str, str], seconds: int, status: int) -> float:
    """Ask as often as the viewers do, over new connections; return the milliseconds of the API's CPU for each."""
    rate = VIEWERS // EVERY
    pause, before = threading.Event(), server_microseconds(pages.pid)
    began = perf_counter()
    with ThreadPoolExecutor(8) as pool:
        asked = []
        for number in range(rate * seconds):
            pause.wait(max(0.0, began + number / rate - perf_counter()))
            asked.append(pool.submit(httpx.get, url, headers=headers, timeout=60))
        wrong = [each.result().status_code for each in asked if each.result().status_code != status]
    if wrong:
        raise RuntimeError(f"{url}: {wrong[0]} instead of {status}")
    return (server_microseconds(pages.pid) - before) / len(asked) / 1000


def main() -> None:
    """Make the data, and measure."""
    given = options(
        __doc__, teams=(1000, 60, "rows of the board"), parts=(200, 5, "parts of the board"),
        reads=(40, 5, "requests of each kind"), seconds=(8, 2, "of viewers"),
    )  # fmt: skip
    print(machine("flask", "jinja2", "gunicorn"))
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as name:
        served, data = Service(Path(name)), Path(name) / "data"
        served.start()
        pages = Pages(served)
        try:
            with served.client() as client:
                wide_board(client, data, given.teams, given.parts)
                sentences = {f"{words} words": dependencies(client, words, LINES) for words in (20, 100)}
                sentences["constituents"] = constituents(client, LINES)
                board_settled(client, WIDE)
            measure_board(pages, data, given.reads)
            measure_pages(pages, sentences, given.reads)
            measure_viewers(pages, served, data, given.seconds)
            measure_browser(served.address, BOARD, f"/s/{sentences['100 words']}/sentences", served.token)
        finally:
            pages.close()
            served.stop()


if __name__ == "__main__":
    main()
