"""The first page: the benchmarks, their states and who is first."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
from flask import Response

from service.api import calls
from service.caller import Caller
from service.errors import ServiceError
from service.pages import answers
from service.pages.score_names import ScoreNames, kind_of
from service.pages.visitors import visitor
from service.requests import LeaderboardQuery
from service.schemas import queries
from service.usecases.benchmarks import benchmarks
from service.usecases.boards.leaderboard import leaderboard
from treescore.core.counting import counted
from treescore.core.params import Json

blueprint = answers.pages("benchmarks")
NO_ROWS = ("none", "status")
"""Feedback levels at which boards have no rows."""


@blueprint.get("/")
def show_benchmarks() -> Response:
    """Show the benchmarks that the visitor may know of."""
    caller = visitor().caller
    query, _ = answers.query(queries.BENCHMARKS)
    listed = benchmarks.list_benchmarks(calls.context(), caller, query)
    rows = [_row(caller, document) for document in listed.items]
    return answers.page("benchmarks.html", rows=rows, next=listed.next)


def benchmark_document(caller: Caller, slug: str) -> dict[str, Any]:
    """Return a benchmark as the caller sees it.

    Raises:
        NotFound: it does not exist, or the caller may not know of it.
    """
    document: dict[str, Any] = orjson.loads(benchmarks.view_benchmark(calls.context(), caller, slug).body)
    return document


def state_of(document: Mapping[str, Json], now: datetime) -> str:
    """Return whether a benchmark is open, and until when, in words."""
    opens, closes = (_moment(document[name]) for name in ("opens_at", "closes_at"))
    if opens is not None and now < opens:
        return f"opens in {_time_between(now, opens)}"
    if closes is None:
        return "open"
    return "closed" if now >= closes else f"open, {_time_between(now, closes)} left"


def _row(caller: Caller, document: Mapping[str, Any]) -> dict[str, object]:
    row: dict[str, object] = {
        "id": document["id"],
        "title": document["title"],
        "kind": kind_of(document["metrics"]),
        "parts": len(document["parts"]),
        "state": state_of(document, calls.context().now()),
        "teams": None, "first": None, "score": "",
    }  # fmt: skip
    board = _board(caller, str(document["id"]))
    if board is None or board["feedback"] in NO_ROWS:
        return row
    ranked = [each for each in board["rows"] if each["rank"] is not None]
    row["teams"] = len({each["team"] or each["submission"] for each in board["rows"] if each["role"] != "baseline"})
    if ranked:
        names = ScoreNames(document, board["rounding"])
        row["first"] = ranked[0]["team_name"] or ranked[0]["name"] or "anonymous"
        row["score"] = names(board["score"]).figures.value(ranked[0]["score"])
    return row


def _board(caller: Caller, slug: str) -> dict[str, Any] | None:
    """Return the board as the caller sees it; None where there is none, as before the gold is checked."""
    try:
        view = leaderboard(calls.context(), caller, slug, LeaderboardQuery())
    except ServiceError:
        return None
    board: dict[str, Any] = orjson.loads(view.body)
    return board


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _time_between(now: datetime, then: datetime) -> str:
    """Return days, or hours, or minutes, rounded down, at least one minute."""
    seconds = (then - now).total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return counted(max(1, int(seconds // 60)), "minute")
