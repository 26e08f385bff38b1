"""Requested comparisons: the question, and the answer when it is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

import orjson
from sqlalchemy import Connection, func, insert, select, update

from service.store import artifacts
from service.store.records import AnyRow, columns_of, json_text, one, record_of
from service.store.runs import UNFINISHED
from service.store.tables import comparisons, runs
from treescore.core.params import Json


class Question(TypedDict):
    """What a comparison is about, complete and in its canonical form."""

    benchmark: str
    revision: int
    score: str
    part: str | None
    submissions: list[str]
    settings: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row.

    Attributes:
        id: `cmp_` and a digest of the question.
        benchmark_id, revision: what its submissions are scored by.
        question: what is compared.
        run_id: of the current attempt.
        document: the answer (`comparison` and `failure`); None while there is none.
        created_at: when it was first asked.
        attempt: number of the current attempt, from 1.
    """

    id: str
    benchmark_id: str
    revision: int
    question: Question
    run_id: str
    document: dict[str, Json] | None
    created_at: datetime
    attempt: int = 1


def add(db: Connection, comparison: Comparison) -> None:
    """Store a question. Its run is stored in the same transaction."""
    columns = columns_of(comparison, question=json_text(comparison.question), document=None)
    db.execute(insert(comparisons).values(columns))


def get(db: Connection, comparison_id: str) -> Comparison | None:
    """Return one comparison, or None."""
    return one(db, select(comparisons).where(comparisons.c.id == comparison_id), _comparison)


def of_run(db: Connection, run_id: str) -> Comparison | None:
    """Return the comparison whose current attempt a run is, or None."""
    return one(db, select(comparisons).where(comparisons.c.run_id == run_id), _comparison)


def listing(db: Connection, benchmark_id: str, after: str | None, limit: int) -> Sequence[Comparison]:
    """List comparisons of a benchmark by id, after a given one, without their answers."""
    c = comparisons.c
    query = select(*(column for column in c if column is not c.document)).where(c.benchmark_id == benchmark_id)
    if after is not None:
        query = query.where(c.id > after)
    return [_comparison(row) for row in db.execute(query.order_by(c.id).limit(limit))]


def unanswered(db: Connection, benchmark_id: str) -> int:
    """Count the unanswered questions of a benchmark."""
    query = (
        select(func.count())
        .select_from(comparisons)
        .join(runs, runs.c.id == comparisons.c.run_id)
        .where(comparisons.c.benchmark_id == benchmark_id, runs.c.state.in_(UNFINISHED))
    )
    return int(db.scalar(query) or 0)


def save_answer(db: Connection, comparison_id: str, document: Mapping[str, object], etag: str) -> None:
    """Store the answer."""
    db.execute(
        update(comparisons)
        .where(comparisons.c.id == comparison_id)
        .values(document=artifacts.pack_json(document), etag=etag)
    )


def begin_attempt(db: Connection, comparison_id: str, run_id: str, attempt: int) -> None:
    """Note the run of another attempt at a question that the service failed to answer."""
    db.execute(
        update(comparisons)
        .where(comparisons.c.id == comparison_id)
        .values(run_id=run_id, attempt=attempt, document=None, etag=None)
    )


def _comparison(row: AnyRow) -> Comparison:
    packed = getattr(row, "document", None)
    document = None if packed is None else artifacts.unpack_json(packed)
    return record_of(Comparison, row, question=orjson.loads(row.question), document=document)
