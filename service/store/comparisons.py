"""Comparisons that were asked for: the question, and the answer once there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, func, insert, select, update

from service.store import artifacts
from service.store.runs import UNFINISHED
from service.store.tables import comparisons, runs


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row.

    Attributes:
        id: `cmp_` and a digest of the question.
        benchmark_id, revision: where.
        question: complete and in its one form.
        run_id: of the current attempt.
        document: the answer (JSON); None while there is none.
        created_at: when it was first asked.
    """

    id: str
    benchmark_id: str
    revision: int
    question: dict[str, Any]
    run_id: str
    document: dict[str, Any] | None
    created_at: datetime


def add(db: Connection, comparison: Comparison) -> None:
    """Store a question; its run is stored beside it in the same transaction."""
    db.execute(
        insert(comparisons).values(
            id=comparison.id,
            benchmark_id=comparison.benchmark_id,
            revision=comparison.revision,
            question=orjson.dumps(comparison.question).decode(),
            run_id=comparison.run_id,
            created_at=comparison.created_at,
        )
    )


def get(db: Connection, comparison_id: str) -> Comparison | None:
    """One comparison, or None."""
    row = db.execute(select(comparisons).where(comparisons.c.id == comparison_id)).one_or_none()
    return None if row is None else _comparison(row)


def of_run(db: Connection, run_id: str) -> Comparison | None:
    """The comparison whose current attempt this run is, or None."""
    row = db.execute(select(comparisons).where(comparisons.c.run_id == run_id)).one_or_none()
    return None if row is None else _comparison(row)


def listing(db: Connection, benchmark_id: str, after: str | None, limit: int) -> Sequence[Comparison]:
    """Comparisons of a benchmark by id, without their answers, from after a given one."""
    c = comparisons.c
    query = select(c.id, c.benchmark_id, c.revision, c.question, c.run_id, c.created_at).where(
        c.benchmark_id == benchmark_id
    )
    if after is not None:
        query = query.where(c.id > after)
    return [_comparison(row) for row in db.execute(query.order_by(c.id).limit(limit))]


def waiting(db: Connection, benchmark_id: str) -> int:
    """How many of a benchmark's questions are not answered yet."""
    query = (
        select(func.count())
        .select_from(comparisons)
        .join(runs, runs.c.id == comparisons.c.run_id)
        .where(comparisons.c.benchmark_id == benchmark_id, runs.c.state.in_(UNFINISHED))
    )
    return int(db.scalar(query) or 0)


def save_answer(db: Connection, comparison_id: str, document: dict[str, Any], etag: str) -> None:
    """Store the answer."""
    db.execute(
        update(comparisons)
        .where(comparisons.c.id == comparison_id)
        .values(document=artifacts.pack_json(document), etag=etag)
    )


def ask_again(db: Connection, comparison_id: str, run_id: str) -> None:
    """Another attempt at a question that failed through no fault of its own."""
    db.execute(
        update(comparisons).where(comparisons.c.id == comparison_id).values(run_id=run_id, document=None, etag=None)
    )


def _comparison(row: Any) -> Comparison:
    body = getattr(row, "document", None)
    return Comparison(
        id=row.id,
        benchmark_id=row.benchmark_id,
        revision=row.revision,
        question=orjson.loads(row.question),
        run_id=row.run_id,
        document=None if body is None else artifacts.unpack_json(body),
        created_at=row.created_at,
    )
