"""Significance of the differences between a board's rows: the comparison of exactly these rows, if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from service.policy.gate import Level
from service.render.documents import IntervalDocument, SignificanceDocument
from service.store import boards, comparisons, runs
from service.store.benchmarks import Benchmark
from service.usecases.boards.board import (
    BOARD_SETTINGS,
    Board,
    board_of,
    comparison_id,
    standard_boards,
    tested_of,
)
from service.usecases.boards.considered import board_question, selection_of
from service.usecases.boards.rows import TESTED, BoardRow, with_significance
from service.usecases.boards.systems import intervals_of
from service.usecases.scoring.published import counts_shown
from treescore.core.params import Json

NOT_TESTED = (
    "The differences on this board were not tested. To test them, POST a comparison with "
    '"submissions": "leaderboard" and this score and part.'
)
NO_SCORE = "without a score"
BELOW = f"not among the first {TESTED} rows"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of the differences between a board's rows.

    Attributes:
        document: how they were tested, or why not.
        rows: the rows, with their rank intervals, clusters and p.
        untested: submission -> why it was not tested.
        intervals: submission -> interval of its score, where the score records have none.
    """

    document: SignificanceDocument
    rows: Sequence[BoardRow]
    untested: dict[str, str] = field(default_factory=dict)
    intervals: Mapping[str, IntervalDocument] = field(default_factory=dict)


def significance_of(
    db: Connection, benchmark: Benchmark, board: Board, rows: Sequence[BoardRow], level: Level
) -> Finding:
    """Return what is known of the differences between a board's rows."""
    if level < Level.SCORES:
        reason = "The feedback level of this benchmark shows no significance."
        return Finding(_untested_document(None, None, reason), rows)
    ids, untested = tested_of(db, board, rows)
    name = comparison_id(board_question(db, board, rows, ids))
    comparison = _comparison(db, board, name, ids)
    if comparison is None:
        pending = _pending(db, benchmark, board, name)
        document = _tested_document(name, board) if pending else _untested_document(name, board, NOT_TESTED)
        return Finding(document, rows, untested)
    counts = _counts_shown(benchmark, board, level)
    document = _answered_document(name, board, comparison, counts=counts)
    untested |= {each["name"]: each["reason"] for each in comparison["untested"]}
    rows = with_significance(rows, comparison)
    for row in rows:
        if not row.tested:
            untested.setdefault(row.entry.id, NO_SCORE if row.entry.value is None else BELOW)
    systems = intervals_of((row.entry for row in rows), comparison)
    return Finding(document, rows, untested, _part_intervals(board, comparison) | systems)


def comparison_behind(db: Connection, board: Board, rows: Sequence[BoardRow]) -> tuple[str, Mapping[str, Json] | None]:
    """Return the id of the comparison of a board's rows, and its document if there is one."""
    ids, _ = tested_of(db, board, rows)
    name = comparison_id(board_question(db, board, rows, ids))
    return name, _comparison(db, board, name, ids)


def _counts_shown(benchmark: Benchmark, board: Board, level: Level) -> bool:
    """Return whether the number of units is shown; that of a share could tell which documents are in it."""
    return counts_shown(benchmark, board.revision, level) and (board.share is None or level is Level.GOLD)


def _untested_document(name: str | None, board: Board | None, reason: str) -> SignificanceDocument:
    return SignificanceDocument(
        pending=False, test=None, alternative=None, unit=None, unit_count=None, assumed=None, correction=None,
        alpha=None, shuffles=None, seed=None, pairs=None, first_rows=TESTED, comparison=name,
        selection=None if board is None else selection_of(board), reason=reason,
    )  # fmt: skip


def _tested_document(name: str, board: Board) -> SignificanceDocument:
    """Return how every board is tested; its units and pairs are not known yet, and its seeds are secret."""
    how = BOARD_SETTINGS
    return SignificanceDocument(
        pending=True, test="permutation", alternative=how.alternative, unit=None, unit_count=None, assumed=None,
        correction=how.correction, alpha=how.alpha, shuffles=how.shuffles, seed=None, pairs=None, first_rows=TESTED,
        comparison=name, selection=selection_of(board), reason=None,
    )  # fmt: skip


def _answered_document(
    name: str, board: Board, comparison: Mapping[str, Json], *, counts: bool
) -> SignificanceDocument:
    """Return how a board was tested. A board of fewer than two tested rows has no units and assumes nothing.

    Args:
        name: of the comparison.
        board: whose rows were tested.
        comparison: behind the board.
        counts: whether the number of gold's sentences, or of its documents, may be shown.
    """
    document = _tested_document(name, board)
    document["pending"] = False
    document["pairs"] = len(comparison["pairs"])
    document["unit"] = comparison.get("units")
    document["unit_count"] = comparison.get("unit_count") if counts else None
    document["assumed"] = comparison.get("assumed")
    return document


def _part_intervals(board: Board, comparison: Mapping[str, Json]) -> dict[str, IntervalDocument]:
    """Return the intervals of a single part's scores, which no score record has."""
    if board.layout.interval_rows(board.ranking_part) is not None:
        return {}
    known = {str(system["name"]): system.get("ci") for system in comparison["systems"]}
    return {name: {"low": ci["low"], "high": ci["high"]} for name, ci in known.items() if ci is not None}


def _comparison(db: Connection, board: Board, name: str, ids: Sequence[str]) -> Mapping[str, Json] | None:
    """Return the comparison of exactly these rows, made for the board or requested; None where there is none."""
    if len(ids) < 2:
        return {
            "systems": [{"name": each} for each in ids], "pairs": [], "rank_ranges": [], "clusters": None,
            "untested": [],
        }  # fmt: skip
    for key in (board.key, _unfrozen(board)):
        kept = boards.get(db, board.benchmark_id, board.revision.number, key)
        if kept is not None and kept.body["id"] == name and kept.body["comparison"]:
            return kept.body["comparison"]
    asked = comparisons.get(db, name)
    if asked is None or asked.document is None or asked.document.get("failure") is not None:
        return None
    answer: Mapping[str, Json] = asked.document["comparison"]
    return answer


def _unfrozen(board: Board) -> str:
    """Return the key of the same board as it is now: right after freezing it has the same rows."""
    return replace(board, until=None).key


def _pending(db: Connection, benchmark: Benchmark, board: Board, name: str) -> bool:
    """Return whether a worker is going to compare these rows."""
    asked = comparisons.get(db, name)
    if asked is not None:
        run = runs.get(db, asked.run_id)
        if run is not None and not run.final:
            return True
    number = board.revision.number
    if boards.unfinished_run(db, board.benchmark_id, number) is None:
        return False
    live = _unfrozen(board)
    standard = {each.key for each in standard_boards(board_of(db, benchmark, revision=number, share=board.share))}
    return live in standard or boards.get(db, board.benchmark_id, number, live) is not None
