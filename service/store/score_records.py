"""Score records: the result of scoring one submission under one revision. Count arrays are stored as artifacts.

The figures of a record are every score of each part, of all parts pooled and of their mean, and intervals. A ladder
holds the shown best of each team under one revision; it outlives the submission that it came from.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import orjson
from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, literal, select, update

from service.requests import MACRO, POOLED, PRIVATE
from service.store import artifacts, tables
from service.store.packing import pack_array, unpack_array
from service.store.revisions import NEVER_ACTIVE
from service.store.runs import SUCCEEDED
from service.store.tables import json_text, ladders, one, record_of, revisions, scores, submissions
from treescore.core.arrays import Counts, FloatArray
from treescore.core.params import Json

if TYPE_CHECKING:
    from treescore.evaluation.benchmark import PartScores

_FORMAT = np.dtype("<f8")


class Span(NamedTuple):
    """A range of the stored bytes: `start` counts from 1, as SQL's substr does."""

    start: int
    length: int


class Interval(NamedTuple):
    """A 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Which figure is stored where. It is known before any figure is read, so that the database can cut them out.

    Attributes:
        parts: names of the revision's parts, in their order.
        addresses: score addresses, in the order of the revision's scoring configuration.
    """

    parts: Sequence[str]
    addresses: Sequence[str]

    def span(self, part: str, address: str | None = None) -> Span:
        """Locate the bytes of one score, or of all scores, of a part, POOLED or MACRO."""
        return self._span(self.row(part), address)

    def interval_spans(self, part: str, address: str) -> tuple[Span, Span] | None:
        """Locate the bounds of a score's interval; None for a single part, which has none."""
        rows = self.interval_rows(part)
        return None if rows is None else (self._span(rows[0], address), self._span(rows[1], address))

    def row(self, part: str) -> int:
        """Return the row of a part, POOLED or MACRO."""
        if part in (POOLED, MACRO):
            return len(self.parts) + (part == MACRO)
        return self.parts.index(part)

    def interval_rows(self, part: str) -> tuple[int, int] | None:
        """Return the rows of the lower and the upper bounds; None for a single part."""
        size = len(self.parts)
        return {POOLED: (size + 2, size + 3), MACRO: (size + 4, size + 5)}.get(part)

    def column(self, address: str) -> int:
        """Return the column of a score."""
        return self.addresses.index(address)

    def _span(self, row: int, address: str | None) -> Span:
        columns = len(self.addresses)
        first = row * columns + (0 if address is None else self.column(address))
        return Span(first * _FORMAT.itemsize + 1, (columns if address is None else 1) * _FORMAT.itemsize)


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """All figures of one submission under one revision.

    Attributes:
        layout: which figure is where.
        values: float64 (parts + 6, addresses), NaN where undefined.
    """

    layout: Layout
    values: FloatArray

    @classmethod
    def of_scores(cls, layout: Layout, metrics: Sequence[PartScores]) -> Figures:
        """Join the figures of all metrics."""
        columns = [
            np.vstack([scores.parts, scores.pooled, scores.macro, scores.pooled_interval, scores.macro_interval])
            for scores in metrics
        ]
        return cls(layout, np.concatenate(columns, axis=1))

    @classmethod
    def from_bytes(cls, body: bytes, layout: Layout) -> Figures:
        """Read stored figures."""
        return cls(layout, numbers(body).reshape(-1, len(layout.addresses)))

    def to_bytes(self) -> bytes:
        """Return the figures as they are stored."""
        return self.values.astype(_FORMAT).tobytes()

    def value(self, part: str, address: str) -> float | None:
        """Return a score of a part, POOLED or MACRO; None where it is undefined."""
        return finite(self.values[self.layout.row(part), self.layout.column(address)])

    def parts_without_scores(self) -> list[str]:
        """Name the parts in which no score is defined."""
        parts = self.layout.parts
        return [part for part, scores in zip(parts, self.values, strict=False) if np.isnan(scores).all()]


def numbers(body: bytes) -> FloatArray:
    """Read numbers out of stored figures."""
    return np.frombuffer(body, _FORMAT).astype(np.float64)


def finite(number: float) -> float | None:
    """Return a number, or None where it is undefined."""
    return float(number) if math.isfinite(number) else None


def interval_of(bounds: FloatArray) -> Interval | None:
    """Return the interval between two bounds, or None where one is undefined."""
    low, high = map(finite, bounds.tolist())
    return None if low is None or high is None else Interval(low, high)


HELD = 0
"""The rung of scores that a ladder did not release."""
SCORED, FAILED, MISSING = "scored", "failed", "missing"
"""States of a part in the document of a record."""
PackedArtifacts = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class PrivateFigures:
    """What a score record has of the private share of a split test set.

    Attributes:
        main, figures: as those of the record.
        metrics: the members of its document's `metrics` that differ from those over the public share.
    """

    main: float | None
    figures: bytes
    metrics: dict[str, Json]


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One row.

    Attributes:
        submission_id: the submission.
        revision: number of the revision.
        main: the main score (the mean of the parts); None where undefined.
        figures: every score of every part, as `Figures` stores them.
        document: the whole result, uncensored: `revision`, `metrics`, `parts`, ... (JSON).
        covered: sentences with a scored output in each part of the revision.
        created_at: when it was scored.
        rung: of the team's ladder; 0 where the ladder holds the scores, None without a ladder.
        private: the figures over the private share; those above are then over the public one. None without a split.
    """

    submission_id: str
    revision: int
    main: float | None
    figures: bytes
    document: dict[str, Json]
    covered: Sequence[int]
    created_at: datetime
    rung: int | None = None
    private: PrivateFigures | None = None

    def scored(self, part: str) -> bool:
        """Return whether a part had an output that could be scored."""
        return bool(self.document["parts"][part]["state"] == SCORED)

    def shown(self, share: str | None) -> ScoreRecord:
        """Return the record with the figures of a share, which signatures name; None for a test set without shares."""
        if self.private is None:
            return self
        metrics = {
            key: {**metric, "signature": {**metric["signature"], "split": share}}
            for key, metric in self.document["metrics"].items()
        }
        if share != PRIVATE:
            return replace(self, document={**self.document, "metrics": metrics})
        metrics = {key: _merged(metric, self.private.metrics[key]) for key, metric in metrics.items()}
        document = {**self.document, "metrics": metrics}
        return replace(self, main=self.private.main, figures=self.private.figures, document=document)


def _merged(metric: Mapping[str, Json], private: Mapping[str, Json]) -> dict[str, Json]:
    """Return a metric's document with the figures of the private share; its other members stay."""
    parts = {
        name: None if part is None else {**part, **private["parts"][name]} for name, part in metric["parts"].items()
    }
    return {**metric, **private, "parts": parts}


def coverage_of(stored: str | None) -> Sequence[int] | None:
    """Return the sentences with a scored output, part by part, as a column holds them; None without a record."""
    return None if stored is None else orjson.loads(stored)


def artifact_name(revision: int, kind: str, part: int, metric: int) -> str:
    """Name an artifact of one part and one metric entry, both by position.

    Kinds: `counts` (array, one row a sentence; zeros for a part that is missing or failed), `counts/charged` (the same
    under `errors: zero`, where the entry leaves sentences out and some of these are; beside them `counts/answered`,
    which are not), `counts/status` (of each sentence, where some could not be scored), `tokens` (offsets of tokens by
    sentence, and `tokens/<score>`, their bits, where a score says of each token whether it is right).
    """
    return f"r{revision}/{kind}/{part}/{metric}"


def save(db: Connection, record: ScoreRecord, bodies: PackedArtifacts) -> None:
    """Store a record and its artifacts instead of an earlier one of the same revision, whose rung it keeps."""
    record = replace(record, rung=rung(db, record.submission_id, record.revision))
    remove(db, record.submission_id, record.revision)
    artifacts.put(db, record.submission_id, bodies)
    covered = json_text(list(record.covered))
    packed = tables.columns_of(record, document=artifacts.pack_json(record.document), covered=covered)
    del packed["private"]
    if record.private is not None:
        metrics = artifacts.pack_json(record.private.metrics)
        packed |= {
            f"private_{name}": value for name, value in tables.columns_of(record.private, metrics=metrics).items()
        }
    db.execute(insert(scores).values(packed))


def remove(db: Connection, submission_id: str, revision: int) -> None:
    """Delete one record and its artifacts."""
    artifacts.drop_below(db, submission_id, f"r{revision}/")
    db.execute(delete(scores).where(scores.c.submission_id == submission_id, scores.c.revision == revision))


def copy(db: Connection, source: str, target: str, revision: int, now: datetime) -> None:
    """Copy the record and artifacts of a submission to another one with equal outputs."""
    artifacts.copy_below(db, source, target, f"r{revision}/")
    c = scores.c
    copied = (c.main, c.figures, c.document, c.covered, c.private_main, c.private_figures, c.private_metrics)
    row = select(literal(target), c.revision, *copied, literal(now, tables.Utc)).where(
        c.submission_id == source, c.revision == revision
    )
    names = ["submission_id", "revision", *(column.name for column in copied), "created_at"]
    db.execute(insert(scores).from_select(names, row))


def record_under(revision: int) -> ColumnElement[bool]:
    """Select the record of a submission under a revision."""
    return (scores.c.submission_id == submissions.c.id) & (scores.c.revision == revision)


def unscored(db: Connection, benchmark_id: str, revision: int, limit: int) -> Sequence[str]:
    """List the submissions that need scoring under a revision, oldest first."""
    query = select(submissions.c.id).where(needs_rescoring(benchmark_id, revision))
    return list(db.scalars(query.order_by(submissions.c.id).limit(limit)))


def unscored_count(db: Connection, benchmark_id: str, revision: int) -> int:
    """Count the submissions that need scoring under a revision."""
    return tables.count(db, select(func.count()).where(needs_rescoring(benchmark_id, revision)))


def needs_rescoring(benchmark_id: str, revision: int) -> ColumnElement[bool]:
    """Select the submissions that a revision has yet to score.

    This is not the rule of the leaderboard: a withdrawn submission is scored, because it may be restored, and one
    without outputs cannot be.
    """
    has_record = select(literal(1)).where(record_under(revision)).correlate(submissions).exists()
    return and_(
        submissions.c.benchmark_id == benchmark_id,
        submissions.c.state == SUCCEEDED,
        submissions.c.deleted_at.is_(None),
        submissions.c.output_deleted_at.is_(None),
        ~has_record,
    )


def get(db: Connection, submission_id: str, revision: int) -> ScoreRecord | None:
    """Return one record, or None."""
    query = select(scores).where(scores.c.submission_id == submission_id, scores.c.revision == revision)
    return one(db, query, _score_record)


def newest(db: Connection, submission_id: str, revision: int) -> ScoreRecord | None:
    """Return the record under a revision or, without one, under the last revision before it; or None."""
    query = select(scores).where(scores.c.submission_id == submission_id, scores.c.revision <= revision)
    return one(db, query.order_by(scores.c.revision.desc()).limit(1), _score_record)


def rung(db: Connection, submission_id: str, revision: int) -> int | None:
    """Return the rung of a record; None where it has no place on a ladder, or does not exist."""
    mine = (scores.c.submission_id == submission_id) & (scores.c.revision == revision)
    number: int | None = db.scalar(select(scores.c.rung).where(mine))
    return number


def set_rung(db: Connection, submission_id: str, revision: int, number: int) -> None:
    """Give a record its place on a ladder."""
    mine = (scores.c.submission_id == submission_id) & (scores.c.revision == revision)
    db.execute(update(scores).where(mine).values(rung=number))


def held(db: Connection, submission_ids: Sequence[str], revision: int) -> set[str]:
    """Return those of the submissions whose scores under a revision a ladder holds."""
    c = scores.c
    mine = (c.revision == revision) & c.submission_id.in_(list(submission_ids))
    return set(db.scalars(select(c.submission_id).where(mine, c.rung == HELD)))


def scored_ids(db: Connection, revision: int, submission_ids: Sequence[str]) -> set[str]:
    """Return those of the submissions that have a record under a revision."""
    c = scores.c
    mine = (c.revision == revision) & c.submission_id.in_(list(submission_ids))
    return set(db.scalars(select(c.submission_id).where(mine)))


def last_made(db: Connection, revision: int, submission_ids: Collection[str]) -> datetime | None:
    """Return when the last of the submissions was scored under a revision; None where none is."""
    made = select(func.max(scores.c.created_at, type_=scores.c.created_at.type))
    query = made.where(scores.c.revision == revision, scores.c.submission_id.in_(list(submission_ids)))
    last: datetime | None = db.scalar(query)
    return last


CHARGED = "counts/charged"
"""The kind of counts with what an output lacks, where a metric entry leaves that out."""
ANSWERED = "counts/answered"
"""The kind of artifact beside them that says which sentences are not left out, bool (n,)."""


def counts(
    db: Connection, submission_id: str, revision: int, parts: Sequence[int], metric: int, kind: str = "counts"
) -> list[Counts | None]:
    """Return the counts of parts under one metric entry, all by position, None for those that are not kept."""
    names = [artifact_name(revision, kind, part, metric) for part in parts]
    return [None if body is None else unpack_array(body) for body in artifacts.get_all(db, submission_id, names)]


def drop(db: Connection, submission_ids: Sequence[str]) -> None:
    """Delete all records of these submissions."""
    db.execute(delete(scores).where(scores.c.submission_id.in_(list(submission_ids))))


def strip(db: Connection, submission_ids: Sequence[str]) -> None:
    """Keep the scores of submissions; delete what quotes their outputs or names them by a digest."""
    for submission_id in submission_ids:
        rows = db.execute(select(scores.c.revision, scores.c.document).where(scores.c.submission_id == submission_id))
        for row in rows.all():
            document = artifacts.unpack_json(row.document)
            document["warnings"] = []
            for part in document["parts"].values():
                part["failure"] = None
            for metric in document["metrics"].values():
                metric["signature"]["output"] = ""
                for part_scores in metric["parts"].values():
                    if part_scores is not None:
                        part_scores.pop("extra", None)
            db.execute(
                update(scores)
                .where(scores.c.submission_id == submission_id, scores.c.revision == row.revision)
                .values(document=artifacts.pack_json(document))
            )


def drop_revision(db: Connection, benchmark_id: str, revision: int, limit: int) -> int:
    """Delete up to `limit` records of a revision that never became active; return how many."""
    query = (
        select(scores.c.submission_id)
        .join(submissions, submissions.c.id == scores.c.submission_id)
        .where(submissions.c.benchmark_id == benchmark_id, scores.c.revision == revision)
        .limit(limit)
    )
    ids = list(db.scalars(query))
    for submission_id in ids:
        remove(db, submission_id, revision)
    return len(ids)


def left_over(db: Connection) -> Sequence[tuple[str, int]]:
    """List the revisions (benchmark, number) that ended without becoming active and still have records."""
    query = (
        select(revisions.c.benchmark_id, revisions.c.number)
        .join(submissions, submissions.c.benchmark_id == revisions.c.benchmark_id)
        .join(scores, (scores.c.submission_id == submissions.c.id) & (scores.c.revision == revisions.c.number))
        .where(revisions.c.state.in_(NEVER_ACTIVE))
        .distinct()
    )
    return [(slug, number) for slug, number in db.execute(query)]


def _score_record(row: tables.AnyRow) -> ScoreRecord:
    covered = orjson.loads(row.covered)
    private = None
    if row.private_figures is not None:
        private = PrivateFigures(row.private_main, row.private_figures, artifacts.unpack_json(row.private_metrics))
    return record_of(ScoreRecord, row, document=artifacts.unpack_json(row.document), covered=covered, private=private)


@dataclass(frozen=True, slots=True)
class Ladder:
    """A team's place.

    Attributes:
        rung: how many of its scores were released.
        counts: of the last released one under the metric that ranks, (n, k), all parts one after the other.
    """

    rung: int
    counts: Counts


def ladder_of(db: Connection, benchmark_id: str, team_id: str, revision: int) -> Ladder | None:
    """Return a team's place, or None before its first score."""
    c = ladders.c
    query = select(c.rung, c.counts).where(c.benchmark_id == benchmark_id, c.team_id == team_id, c.revision == revision)
    row = db.execute(query).one_or_none()
    return None if row is None else Ladder(row.rung, unpack_array(row.counts))


def save_ladder(db: Connection, benchmark_id: str, team_id: str, revision: int, ladder: Ladder) -> None:
    """Store a team's place instead of the one before."""
    c = ladders.c
    place = {"benchmark_id": benchmark_id, "team_id": team_id, "revision": revision}
    db.execute(delete(ladders).where(c.benchmark_id == benchmark_id, c.team_id == team_id, c.revision == revision))
    db.execute(insert(ladders).values(**place, rung=ladder.rung, counts=pack_array(ladder.counts)))


def drop_ladders(db: Connection, benchmark_id: str) -> None:
    """Delete all places of a benchmark."""
    db.execute(delete(ladders).where(ladders.c.benchmark_id == benchmark_id))


def drop_ladders_under(db: Connection, benchmark_id: str, revision: int) -> None:
    """Delete all places under a revision that never became active."""
    db.execute(delete(ladders).where(ladders.c.benchmark_id == benchmark_id, ladders.c.revision == revision))
