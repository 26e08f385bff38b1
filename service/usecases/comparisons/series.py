"""Two teams on all benchmarks of a series: what the comparisons behind the boards say of them, corrected once.

Nothing new is asked of any gold: each test is taken from the stored comparison of a board, as this caller sees it
there, rounded or not. What the caller does not see on a board is not counted, and the reason tells nothing of its rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import Forbidden, NotFound, invalid
from service.policy import gate
from service.policy.gate import Level
from service.requests import SeriesQuery
from service.store import benchmarks, teams
from service.store.benchmarks import Benchmark
from service.usecases.access.access import storable
from service.usecases.boards.board import BOARD_SETTINGS, board_of, rows_of
from service.usecases.boards.released import require_board
from service.usecases.boards.significance import comparison_behind
from service.usecases.boards.viewing import viewer_of
from service.usecases.runs.views import View, json_view
from treescore.core.params import Json
from treescore.significance.across import Compared, across

MOST = 20
"""Benchmarks of a series that one answer compares, by id; for each a stored comparison is read whole."""


class _Unseen(Exception):
    """The caller sees no test of the two teams on a benchmark; the message says why."""


def compare_in_series(context: Context, caller: Caller, series: str, query: SeriesQuery) -> View:
    """Compare the rows of two teams on the benchmarks of a series that the caller may know of.

    Raises:
        NotFound: the caller knows of no benchmark of the series.
        Unprocessable: both teams are the same.
    """
    if query.a == query.b:
        raise invalid("repeated-team", "/b", "Both teams are the same. Name two teams.")
    compared: list[Compared] = []
    untested: list[dict[str, str]] = []
    with context.store.read() as db:
        known = _known(db, caller, series)
        for benchmark in known[:MOST]:
            try:
                compared.append(_compared(db, context, caller, benchmark, query))
            except _Unseen as reason:
                untested.append({"benchmark": benchmark.id, "reason": str(reason)})
    late = f"It is not among the first {MOST} benchmarks of the series."
    untested += [{"benchmark": benchmark.id, "reason": late} for benchmark in known[MOST:]]
    how = BOARD_SETTINGS
    pair = (query.a, query.b)
    joined = across(compared, correction=how.correction, alpha=how.alpha, independent=True, pairs=[pair])
    return json_view({"series": series, **joined, "untested": untested})


def _known(db: Connection, caller: Caller, series: str) -> list[Benchmark]:
    rows = benchmarks.listing(db, None, None, series) if storable(series) else []
    known = [row for row in rows if gate.knows(row, caller)]
    if not known:
        raise NotFound(f"Unknown series {series!r}.")
    return known


def _compared(db: Connection, context: Context, caller: Caller, benchmark: Benchmark, query: SeriesQuery) -> Compared:
    """Return the test of the two teams' rows on a benchmark, as the caller sees it.

    Raises:
        _Unseen: the caller sees none.
    """
    viewer = viewer_of(benchmark, caller, context.now())
    if viewer.level < Level.SCORES:
        raise _Unseen("The feedback level of this benchmark shows no comparisons.")
    if not viewer.named:
        raise _Unseen("The leaderboard of this benchmark hides the names of teams.")
    try:
        board = board_of(db, benchmark, until=viewer.until, share=viewer.share)
        require_board(db, benchmark, board, viewer.level)
    except (NotFound, Forbidden) as error:
        raise _Unseen(error.detail) from error
    rows = rows_of(db, board)
    named = teams.names(db, benchmark.id, (query.a, query.b))
    row_of: dict[str, str] = {}
    for row in rows:
        if row.entry.team_id in named and row.entry.value is not None:
            row_of.setdefault(row.entry.team_id, row.entry.id)
    for team in (query.a, query.b):
        if team not in row_of:
            raise _Unseen(f"The leaderboard has no row of {team!r} with a score.")
    name, comparison = comparison_behind(db, board, rows)
    if comparison is None:
        raise _Unseen("The leaderboard is not compared yet.")
    team_of = {submission: team for team, submission in row_of.items()}
    if not any(pair["a"] in team_of and pair["b"] in team_of for pair in comparison["pairs"]):
        raise _Unseen("The two rows are not compared with each other.")
    return Compared(
        _named(gate.comparison_view(viewer.level, comparison), board.score, team_of),
        {
            "benchmark": benchmark.id,
            "comparison": name,
        },
    )


def _named(document: Mapping[str, Json], score: str, team_of: Mapping[str, str]) -> dict[str, Json]:
    """Return the pair of two submissions under the names of their teams, as a document of its own."""
    pairs = [
        {**pair, "a": team_of[pair["a"]], "b": team_of[pair["b"]]}
        for pair in document["pairs"]
        if pair["a"] in team_of and pair["b"] in team_of
    ]
    return {"score": score, "alternative": document["alternative"], "pairs": pairs}
