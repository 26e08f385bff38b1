"""What leaderboards read: the scores of everything that may stand there, and the comparisons behind them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, LargeBinary, delete, func, insert, select

from service.store import artifacts, runs
from service.store.runs import SUCCEEDED
from service.store.score_records import figures_of
from service.store.tables import board_comparisons, scores, submissions
from treescore.core.arrays import FloatArray

WORK = ""
"""The row of `board_comparisons` that only says which run makes the comparisons of a revision."""
_FIGURE_BYTES = 8
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Figure:
    """Where a number stands in the figures of a revision's score records.

    Attributes:
        row: from 0.
        column: of the score's address.
        columns: how many there are.
        main: whether it is the one that the store keeps apart.
    """

    row: int
    column: int
    columns: int
    main: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A submission that may stand on the board, and one of its figures; `scored` is False where it has no record."""

    id: str
    team_id: str | None
    role: str
    chosen: bool
    value: float | None
    scored: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """What a row shows of its submission: some rows of its figures, (rows, scores)."""

    name: str
    created_at: datetime
    figures: FloatArray | None


@dataclass(frozen=True, slots=True)
class BoardComparison:
    """One row.

    Attributes:
        run_id: whoever makes it at the moment, or made it last.
        board_version: the board that it was made for.
        body: what was found (JSON).
    """

    run_id: str | None
    board_version: int
    body: Any


def standings(
    db: Connection, benchmark_id: str, revision: int, figure: Figure, *, until: datetime | None, scored_only: bool
) -> list[Standing]:
    """Everything that may stand on the board, oldest first, with one figure of each.

    Args:
        db: where from.
        benchmark_id: whose board.
        revision: under which the figures were found.
        figure: which one.
        until: leaves out what had no scores at that moment; None for none.
        scored_only: leaves out what has no record under the revision.
    """
    value = scores.c.main if figure.main else _cut(figure.row * figure.columns + figure.column, 1)
    c = submissions.c
    query = (
        select(c.id, c.team_id, c.role, c.chosen, value.label("value"), scores.c.revision)
        .join(scores, (scores.c.submission_id == c.id) & (scores.c.revision == revision), isouter=not scored_only)
        .where(*_on_board(benchmark_id, until))
        .order_by(c.id)
    )
    return [
        Standing(row.id, row.team_id, row.role, row.chosen, _number(row.value), row.revision is not None)
        for row in db.execute(query)
    ]


def last_change(db: Connection, benchmark_id: str, until: datetime | None) -> datetime | None:
    """When the newest of the submissions on the board got its scores."""
    query = select(func.max(submissions.c.finished_at)).where(*_on_board(benchmark_id, until))
    found: datetime | None = db.scalar(query)
    return found


def shown(
    db: Connection, submission_ids: Sequence[str], revision: int, columns: int, first: int, count: int
) -> dict[str, Shown]:
    """What rows show: rows `first` to `first + count` of each submission's figures."""
    found: dict[str, Shown] = {}
    c = submissions.c
    for start in range(0, len(submission_ids), _AT_ONCE):
        query = (
            select(c.id, c.name, c.created_at, _cut(first * columns, count * columns).label("figures"))
            .join(scores, (scores.c.submission_id == c.id) & (scores.c.revision == revision), isouter=True)
            .where(c.id.in_(submission_ids[start : start + _AT_ONCE]))
        )
        for row in db.execute(query):
            figures = None if row.figures is None else figures_of(row.figures, columns)
            found[row.id] = Shown(row.name, row.created_at, figures)
    return found


def get(db: Connection, benchmark_id: str, revision: int, key: str) -> BoardComparison | None:
    """One comparison, or None."""
    c = board_comparisons.c
    query = select(board_comparisons).where(c.benchmark_id == benchmark_id, c.revision == revision, c.score == key)
    row = db.execute(query).one_or_none()
    return None if row is None else _board_comparison(row)


def of_run(db: Connection, run_id: str) -> tuple[str, int] | None:
    """The benchmark and the revision for which a run works, or None where another one has taken over."""
    c = board_comparisons.c
    query = select(c.benchmark_id, c.revision).where(c.run_id == run_id, c.score == WORK)
    row = db.execute(query).one_or_none()
    return None if row is None else (row.benchmark_id, row.revision)


def working(db: Connection, benchmark_id: str, revision: int) -> str | None:
    """The id of the unfinished run that makes a board's comparisons, or None."""
    row = get(db, benchmark_id, revision, WORK)
    if row is None or row.run_id is None:
        return None
    run = runs.get(db, row.run_id)
    return None if run is None or run.final else run.id


def save(
    db: Connection,
    benchmark_id: str,
    revision: int,
    key: str,
    comparison: BoardComparison,
    now: datetime,
) -> None:
    """Store a comparison in place of the one before."""
    c = board_comparisons.c
    db.execute(delete(board_comparisons).where(c.benchmark_id == benchmark_id, c.revision == revision, c.score == key))
    body = None if comparison.body is None else artifacts.pack_json(comparison.body)
    db.execute(
        insert(board_comparisons).values(
            benchmark_id=benchmark_id,
            revision=revision,
            score=key,
            run_id=comparison.run_id,
            board_version=comparison.board_version,
            document=body,
            created_at=now,
        )
    )


def keys(db: Connection, benchmark_id: str, revision: int) -> list[str]:
    """The keys of the comparisons kept for a revision's boards."""
    c = board_comparisons.c
    query = select(c.score).where(c.benchmark_id == benchmark_id, c.revision == revision, c.score != WORK)
    return list(db.scalars(query.order_by(c.created_at)))


def remove(db: Connection, benchmark_id: str, revision: int, removed: Sequence[str]) -> None:
    """Drop comparisons."""
    c = board_comparisons.c
    db.execute(
        delete(board_comparisons).where(
            c.benchmark_id == benchmark_id, c.revision == revision, c.score.in_(list(removed))
        )
    )


def _on_board(benchmark_id: str, until: datetime | None) -> tuple[ColumnElement[bool], ...]:
    c = submissions.c
    conditions: tuple[ColumnElement[bool], ...] = (
        c.benchmark_id == benchmark_id,
        c.state == SUCCEEDED,
        c.withdrawn_at.is_(None),
        c.deleted_at.is_(None),
    )
    return conditions if until is None else (*conditions, c.finished_at <= until)


def _cut(first: int, count: int) -> ColumnElement[bytes]:
    """Some numbers out of the figures, cut by the database."""
    size = _FIGURE_BYTES
    return func.substr(scores.c.figures, first * size + 1, count * size, type_=LargeBinary())


def _number(value: float | bytes | None) -> float | None:
    number = np.frombuffer(value, "<f8")[0] if isinstance(value, bytes) and value else value
    return None if not isinstance(number, float) or not math.isfinite(number) else float(number)


def _board_comparison(row: Any) -> BoardComparison:
    body = None if row.document is None else artifacts.unpack_json(row.document)
    return BoardComparison(row.run_id, row.board_version, body)
