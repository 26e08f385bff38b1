"""What scoring a submission under a revision gave: one record, and count arrays beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, delete, func, insert, literal, select, update

from service.store import artifacts
from service.store.packing import unpack_array
from service.store.runs import SUCCEEDED
from service.store.tables import Utc, scores, submissions
from treescore.core.arrays import Counts, FloatArray

POOLED, MACRO = -6, -5
POOLED_INTERVAL, MACRO_INTERVAL = slice(-4, -2), slice(-2, None)
"""Rows of `figures` from their end: the parts come first, in their order; of an interval low, then high."""

Packed = Mapping[tuple[str, int], bytes]


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One row.

    Attributes:
        submission_id: whose.
        revision: number of the revision that ruled.
        main: the main score (the mean of the parts; of one part its own); None where undefined.
        figures: float64 (parts + 6, scores): each part, all parts pooled (row POOLED), the mean of the parts (MACRO),
            the 95 % intervals of both (POOLED_INTERVAL, MACRO_INTERVAL); NaN where undefined. The columns are the
            revision's score addresses, in their order (rulers.ScoringConfig.addresses).
        document: everything that scoring found, uncensored: `revision`, `metrics`, `parts`, ... (JSON).
        created_at: when it was scored.
    """

    submission_id: str
    revision: int
    main: float | None
    figures: FloatArray
    document: dict[str, Any]
    created_at: datetime


def artifact_name(revision: int, kind: str, part: int, metric: int) -> str:
    """Where a worker puts what it made of one part and one metric entry, both by position.

    Kinds: `counts` (array, one row a sentence; zeros for a part that is missing or failed), `items` (pages without
    scores and counts, to be read by usecases.submission_items.load_items), `slices` (all groupings), `tokens` (offsets
    of tokens by sentence, and `tokens/<score>`, their bits, where a score says of each token whether it is right).
    """
    return f"r{revision}/{kind}/{part}/{metric}"


def save(db: Connection, record: ScoreRecord, made: Packed) -> None:
    """Store a record with its artifacts, in place of an earlier one of the same revision."""
    remove(db, record.submission_id, record.revision)
    artifacts.put(db, record.submission_id, made)
    db.execute(
        insert(scores).values(
            submission_id=record.submission_id,
            revision=record.revision,
            main=record.main,
            figures=record.figures.astype("<f8").tobytes(),
            document=artifacts.pack_json(record.document),
            created_at=record.created_at,
        )
    )


def remove(db: Connection, submission_id: str, revision: int) -> None:
    """Drop one record and its artifacts."""
    artifacts.drop_below(db, submission_id, f"r{revision}/")
    db.execute(delete(scores).where(scores.c.submission_id == submission_id, scores.c.revision == revision))


def copy(db: Connection, source: str, target: str, revision: int, now: datetime) -> None:
    """Give a submission the record and artifacts of another one with the same outputs."""
    artifacts.copy_below(db, source, target, f"r{revision}/")
    c = scores.c
    row = select(literal(target), c.revision, c.main, c.figures, c.document, literal(now, Utc)).where(
        c.submission_id == source, c.revision == revision
    )
    db.execute(
        insert(scores).from_select(["submission_id", "revision", "main", "figures", "document", "created_at"], row)
    )


def unscored(db: Connection, benchmark_id: str, revision: int, limit: int) -> Sequence[str]:
    """Succeeded submissions without a record under a revision whose outputs are still there, oldest first."""
    query = select(submissions.c.id).where(*_waiting(benchmark_id, revision)).order_by(submissions.c.id).limit(limit)
    return list(db.scalars(query))


def unscored_count(db: Connection, benchmark_id: str, revision: int) -> int:
    """How many `unscored` would find."""
    return int(db.scalar(select(func.count()).where(*_waiting(benchmark_id, revision))) or 0)


def _waiting(benchmark_id: str, revision: int) -> tuple[ColumnElement[bool], ...]:
    known = (
        select(literal(1))
        .where(scores.c.submission_id == submissions.c.id, scores.c.revision == revision)
        .correlate(submissions)
        .exists()
    )
    return (
        submissions.c.benchmark_id == benchmark_id,
        submissions.c.state == SUCCEEDED,
        submissions.c.deleted_at.is_(None),
        submissions.c.output_deleted_at.is_(None),
        ~known,
    )


def get(db: Connection, submission_id: str, revision: int) -> ScoreRecord | None:
    """One record, or None."""
    query = select(scores).where(scores.c.submission_id == submission_id, scores.c.revision == revision)
    row = db.execute(query).one_or_none()
    return None if row is None else _record(row)


def newest(db: Connection, submission_id: str, revision: int) -> ScoreRecord | None:
    """The record under a revision, or under the last one before it that has one, or None."""
    query = select(scores).where(scores.c.submission_id == submission_id, scores.c.revision <= revision)
    row = db.execute(query.order_by(scores.c.revision.desc()).limit(1)).one_or_none()
    return None if row is None else _record(row)


def scored(db: Connection, revision: int, submission_ids: Sequence[str]) -> set[str]:
    """Those of these submissions that have a record under a revision."""
    query = select(scores.c.submission_id).where(
        scores.c.revision == revision, scores.c.submission_id.in_(list(submission_ids))
    )
    return set(db.scalars(query))


def mains(db: Connection, benchmark_id: str, revision: int) -> dict[str, float | None]:
    """The main score of every submission that may stand on the board: submission -> score."""
    query = (
        select(scores.c.submission_id, scores.c.main)
        .join(submissions, submissions.c.id == scores.c.submission_id)
        .where(
            submissions.c.benchmark_id == benchmark_id,
            scores.c.revision == revision,
            submissions.c.state == SUCCEEDED,
            submissions.c.withdrawn_at.is_(None),
            submissions.c.deleted_at.is_(None),
        )
    )
    return {row.submission_id: row.main for row in db.execute(query)}


def figures_of(body: bytes, columns: int) -> FloatArray:
    """The array of a stored `figures` column: (parts + 6, columns)."""
    return np.frombuffer(body, "<f8").reshape(-1, columns).astype(np.float64)


def counts(db: Connection, submission_id: str, revision: int, part: int, metric: int) -> Counts | None:
    """The count rows of one part under one metric entry, both by position, or None."""
    body = artifacts.get(db, submission_id, artifact_name(revision, "counts", part, metric))
    return None if body is None else unpack_array(body)


def drop(db: Connection, submission_ids: Sequence[str]) -> None:
    """Delete all records of these submissions."""
    db.execute(delete(scores).where(scores.c.submission_id.in_(list(submission_ids))))


def strip(db: Connection, submission_ids: Sequence[str]) -> None:
    """Leave the figures of these submissions, and nothing that quotes their outputs or names them by a digest."""
    for submission_id in submission_ids:
        rows = db.execute(select(scores.c.revision, scores.c.document).where(scores.c.submission_id == submission_id))
        for row in rows.all():
            document = artifacts.unpack_json(row.document)
            document["warnings"] = []
            for part in document["parts"].values():
                part["failure"] = None
            for metric in document["metrics"].values():
                metric["signature"]["output"] = ""
                for share in metric["parts"].values():
                    if share is not None:
                        share.pop("extra", None)
            db.execute(
                update(scores)
                .where(scores.c.submission_id == submission_id, scores.c.revision == row.revision)
                .values(document=artifacts.pack_json(document))
            )


def drop_revision(db: Connection, benchmark_id: str, revision: int, limit: int) -> int:
    """Delete some records of a revision that never came to rule; how many were deleted."""
    query = (
        select(scores.c.submission_id)
        .join(submissions, submissions.c.id == scores.c.submission_id)
        .where(submissions.c.benchmark_id == benchmark_id, scores.c.revision == revision)
        .limit(limit)
    )
    found = list(db.scalars(query))
    for submission_id in found:
        remove(db, submission_id, revision)
    return len(found)


def _record(row: Any) -> ScoreRecord:
    document = artifacts.unpack_json(row.document)
    columns = document["columns"]
    return ScoreRecord(
        row.submission_id, row.revision, row.main, figures_of(row.figures, columns), document, row.created_at
    )
