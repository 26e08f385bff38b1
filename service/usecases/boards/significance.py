"""What is known of the differences between a board's rows: the comparison of these very rows, if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from service.policy.gate import Level
from service.store import boards, comparisons, runs
from service.store.benchmarks import Benchmark
from service.usecases.boards.board import (
    BOARD_SETTINGS,
    Board,
    board_of,
    comparison_id,
    question_of,
    standard_boards,
    tested_of,
)
from service.usecases.boards.rows import TESTED, Place, with_significance

NOT_TESTED = (
    "The differences on this board were not tested. Ask for it: POST a comparison with "
    '"submissions": "leaderboard" and this score, part and pick.'
)
BELOW = f"not among the first {TESTED} rows"
UNKNOWN: Mapping[str, Any] = {
    "pending": False,
    "test": None,
    "alternative": None,
    "unit": None,
    "correction": None,
    "alpha": None,
    "shuffles": None,
    "seed": None,
    "pairs": None,
    "first_rows": TESTED,
    "comparison": None,
    "reason": None,
}
"""Of significance, where nothing is known."""
HOW: Mapping[str, Any] = {
    "test": "permutation",
    "alternative": BOARD_SETTINGS.alternative,
    "unit": BOARD_SETTINGS.unit,
    "correction": BOARD_SETTINGS.correction,
    "alpha": BOARD_SETTINGS.alpha,
    "seed": BOARD_SETTINGS.seed,
}
"""How every board is tested."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of the differences between a board's rows.

    Attributes:
        document: how they were tested, or why not.
        places: the rows, with it.
        untested: submission -> why it was not tested.
        intervals: submission -> interval of its score, where the score records hold none.
    """

    document: dict[str, Any]
    places: Sequence[Place]
    untested: dict[str, str] = field(default_factory=dict)
    intervals: Mapping[str, dict[str, float]] = field(default_factory=dict)


def significance_of(
    db: Connection, benchmark: Benchmark, board: Board, places: Sequence[Place], level: Level
) -> Finding:
    """What is known of the differences between a board's rows."""
    document = dict(UNKNOWN)
    if level < Level.SCORES:
        document["reason"] = "The feedback level of this benchmark shows no significance."
        return Finding(document, places)
    ids, untested = tested_of(db, board, places)
    document["comparison"] = name = comparison_id(question_of(board, ids))
    found = _found(db, board, name, ids)
    if found is None:
        document["pending"] = _coming(db, benchmark, board, name)
        if document["pending"]:
            document.update(HOW)
        else:
            document["reason"] = NOT_TESTED
        return Finding(document, places, untested)
    document.update(
        HOW,
        shuffles=(found.get("signature") or {}).get("shuffles"),
        pairs=len(found["pairs"]),
    )
    untested |= {each["name"]: each["reason"] for each in found["untested"]}
    places = with_significance(places, found)
    for place in places:
        if not place.tested and place.entrant.value is not None:
            untested.setdefault(place.entrant.id, BELOW)
    return Finding(document, places, untested, _part_intervals(board, found))


def _part_intervals(board: Board, found: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Intervals of a single part's scores, which no score record holds."""
    if board.interval_rows is not None:
        return {}
    known = {str(system["name"]): system.get("ci") for system in found["systems"]}
    return {name: {"low": ci["low"], "high": ci["high"]} for name, ci in known.items() if ci is not None}


def _found(db: Connection, board: Board, name: str, ids: Sequence[str]) -> Mapping[str, Any] | None:
    """The comparison of these very rows: made for the board, or asked for."""
    if len(ids) < 2:
        return {
            "systems": [{"name": each} for each in ids], "pairs": [], "rank_ranges": [], "clusters": None,
            "untested": [],
        }  # fmt: skip
    for key in (board.key, _unfrozen(board)):
        kept = boards.get(db, board.benchmark_id, board.revision.number, key)
        if kept is not None and kept.body is not None and kept.body["id"] == name and kept.body["comparison"]:
            found: Mapping[str, Any] = kept.body["comparison"]
            return found
    asked = comparisons.get(db, name)
    if asked is None or asked.document is None or asked.document.get("failure") is not None:
        return None
    answer: Mapping[str, Any] = asked.document["comparison"]
    return answer


def _unfrozen(board: Board) -> str:
    """The key of the same board as it stands now: just after freezing it has the same rows."""
    return replace(board, until=None).key


def _coming(db: Connection, benchmark: Benchmark, board: Board, name: str) -> bool:
    """Whether a worker is about to make the comparison of these rows."""
    asked = comparisons.get(db, name)
    if asked is not None:
        run = runs.get(db, asked.run_id)
        if run is not None and not run.final:
            return True
    number = board.revision.number
    if boards.working(db, board.benchmark_id, number) is None:
        return False
    live = _unfrozen(board)
    standard = {each.key for each in standard_boards(board_of(db, benchmark, revision=number))}
    return live in standard or boards.get(db, board.benchmark_id, number, live) is not None
