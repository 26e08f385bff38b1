"""The first page: the benchmarks, their states and who is first."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple, TypedDict, cast

from flask import Response

from service.api import calls
from service.caller import Caller
from service.context import LruCache
from service.contract.benchmarks import Benchmark, BenchmarksQuery
from service.contract.leaderboards import Leaderboard, LeaderboardQuery
from service.errors import ServiceError
from service.pages import answers
from service.pages.figures import ScoreNames, kind_of
from service.pages.visitors import visitor
from service.usecases.benchmarks import benchmarks
from service.usecases.boards.leaderboard import leaderboard
from service.usecases.runs import Shown
from treescore.core.wording import counted

blueprint = answers.pages("benchmarks")
NO_ROWS = ("none", "status")
"""Feedback levels at which boards have no rows."""

MOST_OLD = 15
"""Seconds for which times of a benchmark are kept: 300 viewers ask for its state 20 times a second."""


class Times(TypedDict):
    """Between which a benchmark is open."""

    opens_at: str | None
    closes_at: str | None


_TIMES = LruCache[Times](64, lambda _: 1)


class Leading(NamedTuple):
    """What the list says of a board.

    Attributes:
        teams: that have a row; None where rows are not shown.
        first: who stands first; None without a score.
        score: the figure that ranks; empty without one.
    """

    teams: int | None
    first: str | None
    score: str


_LEADING = LruCache[Leading](4096, lambda _: 1)
"""By the validators of boards: a board of 1,000 rows takes 20 ms to read, and a list shows 100 benchmarks."""


@blueprint.get("/")
def show_benchmarks() -> Response:
    """Show the benchmarks that the visitor may know of."""
    caller = visitor().caller
    query, _ = answers.query(BenchmarksQuery)
    listed = benchmarks.list_benchmarks(calls.context(), caller, query)
    rows = [_benchmark_row(caller, cast("Benchmark", document)) for document in listed.items]
    return answers.page("benchmarks.html", rows=rows, next=listed.next)


def benchmark_document(caller: Caller, slug: str) -> Benchmark:
    """Return a benchmark as the caller sees it.

    Raises:
        NotFound: it does not exist, or the caller may not know of it.
    """
    return benchmarks.view_benchmark(calls.context(), caller, slug).document


def state_now(benchmark: str, view: Shown[object]) -> str:
    """Return the state of the benchmark of a board, from what it was at most MOST_OLD seconds ago.

    Args:
        benchmark: its id.
        view: of the board, as the visitor may see it.
    """
    now = calls.context().now()
    caller = visitor().caller
    name = f"{benchmark} {view.etag} {int(now.timestamp()) // MOST_OLD}"
    return state_of(_TIMES.get_or_make(name, lambda: _times(benchmark_document(caller, benchmark))), now)


def _times(document: Benchmark) -> Times:
    return Times(opens_at=document["opens_at"], closes_at=document["closes_at"])


def state_of(document: Times | Benchmark, now: datetime) -> str:
    """Return whether a benchmark is open, and until when, in words."""
    opens, closes = _moment(document["opens_at"]), _moment(document["closes_at"])
    if opens is not None and now < opens:
        return f"opens in {_time_between(now, opens)}"
    if closes is None:
        return "open"
    return "closed" if now >= closes else f"open, {_time_between(now, closes)} left"


def is_open(state: str) -> bool:
    """Return whether teams may submit, choose and withdraw in a state of `state_of`."""
    return state.partition(",")[0] == "open"


def _benchmark_row(caller: Caller, document: Benchmark) -> dict[str, object]:
    leading = _leading(caller, document) or Leading(None, None, "")
    return {
        "id": document["id"],
        "title": document["title"],
        "kind": kind_of(document["metrics"]),
        "parts": len(document["parts"]),
        "state": state_of(document, calls.context().now()),
        "teams": leading.teams, "first": leading.first, "score": leading.score,
    }  # fmt: skip


def _leading(caller: Caller, document: Benchmark) -> Leading | None:
    """Return who leads as the caller sees it; None without a board, as before the gold is checked."""
    try:
        view = leaderboard(calls.context(), caller, document["id"], LeaderboardQuery())
    except ServiceError:
        return None
    return _LEADING.get_or_make(view.etag, lambda: _leading_of(document, view.document))


def _leading_of(document: Benchmark, board: Leaderboard) -> Leading:
    if board["feedback"] in NO_ROWS:
        return Leading(None, None, "")
    teams = len({each["team"] or each["submission"] for each in board["rows"] if each["role"] != "baseline"})
    first = next((each for each in board["rows"] if each["rank"] is not None), None)
    if first is None:
        return Leading(teams, None, "")
    score = ScoreNames(document, board["rounding"])(board["score"])
    return Leading(teams, first["team_name"] or first["name"] or "anonymous", score.figures.value(first["score"]))


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _time_between(now: datetime, then: datetime) -> str:
    """Return days, or hours, or minutes, rounded down, at least one minute."""
    seconds = (then - now).total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return counted(max(1, int(seconds // 60)), "minute")
