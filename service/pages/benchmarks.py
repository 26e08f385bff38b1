"""The first page: the benchmarks, their states and who is first."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from flask import Response

from service.api import calls
from service.caller import Caller
from service.context import LruCache
from service.contract.benchmarks import BenchmarksQuery
from service.contract.leaderboards import LeaderboardQuery
from service.errors import ServiceError
from service.pages import answers
from service.pages.figures import ScoreNames, kind_of
from service.pages.visitors import visitor
from service.usecases.benchmarks import benchmarks
from service.usecases.boards.viewing import leaderboard
from service.usecases.runs import View
from treescore.core.params import Json
from treescore.core.wording import counted

blueprint = answers.pages("benchmarks")
NO_ROWS = ("none", "status")
"""Feedback levels at which boards have no rows."""

MOST_OLD = 15
"""Seconds for which times of a benchmark are kept: 300 viewers ask for its state 20 times a second."""
_TIMES = LruCache[Mapping[str, Any]](64, lambda _: 1)


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
    rows = [_benchmark_row(caller, document) for document in listed.items]
    return answers.page("benchmarks.html", rows=rows, next=listed.next)


def benchmark_document(caller: Caller, slug: str) -> dict[str, Any]:
    """Return a benchmark as the caller sees it.

    Raises:
        NotFound: it does not exist, or the caller may not know of it.
    """
    document: dict[str, Any] = orjson.loads(benchmarks.view_benchmark(calls.context(), caller, slug).body)
    return document


def state_now(benchmark: str, view: View) -> str:
    """Return the state of the benchmark of a board, from what it was at most MOST_OLD seconds ago.

    Args:
        benchmark: its id.
        view: of the board, as the visitor may see it.
    """
    now = calls.context().now()
    caller = visitor().caller
    name = f"{benchmark} {view.etag} {int(now.timestamp()) // MOST_OLD}"
    return state_of(_TIMES.get_or_make(name, lambda: _times(benchmark_document(caller, benchmark))), now)


def _times(document: Mapping[str, Json]) -> Mapping[str, Json]:
    return {name: document[name] for name in ("opens_at", "closes_at")}


def state_of(document: Mapping[str, Json], now: datetime) -> str:
    """Return whether a benchmark is open, and until when, in words."""
    opens, closes = (_moment(document[name]) for name in ("opens_at", "closes_at"))
    if opens is not None and now < opens:
        return f"opens in {_time_between(now, opens)}"
    if closes is None:
        return "open"
    return "closed" if now >= closes else f"open, {_time_between(now, closes)} left"


def is_open(state: str) -> bool:
    """Return whether teams may submit, choose and withdraw in a state of `state_of`."""
    return state.partition(",")[0] == "open"


def _benchmark_row(caller: Caller, document: Mapping[str, Any]) -> dict[str, object]:
    leading = _leading(caller, document) or Leading(None, None, "")
    return {
        "id": document["id"],
        "title": document["title"],
        "kind": kind_of(document["metrics"]),
        "parts": len(document["parts"]),
        "state": state_of(document, calls.context().now()),
        "teams": leading.teams, "first": leading.first, "score": leading.score,
    }  # fmt: skip


def _leading(caller: Caller, document: Mapping[str, Any]) -> Leading | None:
    """Return who leads as the caller sees it; None without a board, as before the gold is checked."""
    try:
        view = leaderboard(calls.context(), caller, str(document["id"]), LeaderboardQuery())
    except ServiceError:
        return None
    return _LEADING.get_or_make(view.etag, lambda: _leading_of(document, orjson.loads(view.body)))


def _leading_of(document: Mapping[str, Any], board: Mapping[str, Any]) -> Leading:
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
