"""Score records: the result of scoring one submission under one revision. Count arrays are stored as artifacts.

A record has a row for each share of the test set: arrays of all scores, in the order of the revision's addresses, and a
document. A ladder holds the shown best of each team under one revision; it outlives the submission that it came from.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import orjson
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    and_,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    update,
)

from service.lru import LruCache
from service.store import artifacts, tables
from service.store.database import BYTES
from service.store.packing import pack_array, unpack_array
from service.store.revisions import NEVER_ACTIVE
from service.store.runs import SUCCEEDED
from service.store.tables import batches, json_text, ladders, records, results, revisions, submissions
from treescore.core.arrays import Counts, FloatArray
from treescore.core.params import Json

if TYPE_CHECKING:
    from treescore.evaluation.benchmark import PartScores

_FORMAT = np.dtype("<f8")
WHOLE = ""
"""The share of a test set that is not split, as tables name it."""
PARTS = "parts"
"""The column of results that holds the scores of single parts."""
_AT_ONCE = 64
"""Rows of all parts that stay in a processor's cache while they are averaged."""
HELD = 0
"""The rung of scores that a ladder did not release."""
SCORED, FAILED, MISSING = "scored", "failed", "missing"
"""States of a part in the document of a record."""
PackedArtifacts = Mapping[str, bytes]


def finite(number: float) -> float | None:
    """Return a number, or None where it is undefined."""
    return float(number) if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class ShareResult:
    """The result over one share of the test set.

    Attributes:
        document: the whole result, uncensored: `revision`, `main`, `metrics`, `parts`, ... (JSON).
        scores: of all metrics, columns in the order of the revision's addresses.
    """

    document: dict[str, Json]
    scores: PartScores


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """The result of scoring a submission.

    Attributes:
        submission_id: the submission.
        revision: number of the revision.
        covered: sentences with a scored output in each part of the revision.
        created_at: when it was scored.
        shares: the results over the public and the private share; None -> that over a test set that is not split.
    """

    submission_id: str
    revision: int
    covered: Sequence[int]
    created_at: datetime
    shares: Mapping[str | None, ShareResult]


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What a record says over one share.

    Attributes:
        submission_id, revision: of the record.
        rung: of the team's ladder; 0 where the ladder holds the scores, None without a ladder.
        document: as in ShareResult.
    """

    submission_id: str
    revision: int
    rung: int | None
    document: dict[str, Json]

    def scored(self, part: str) -> bool:
        """Return whether a part had an output that could be scored."""
        return bool(self.document["parts"][part]["state"] == SCORED)


@lru_cache(maxsize=1000)  # most submissions cover the same
def numbers_of(stored: str | None) -> tuple[int, ...] | None:
    """Return the numbers that a column of a record holds; None without a record."""
    return None if stored is None else tuple(orjson.loads(stored))


def artifact_name(revision: int, kind: str, part: int, metric: int) -> str:
    """Name an artifact of one part and one metric entry, both by position.

    Kinds: `counts` (array, one row a sentence; zeros for a part that is missing or failed), `counts/charged` (the same
    under `errors: zero`, where the entry leaves sentences out and some of these are; beside them `counts/answered`,
    which are not), `counts/status` (of each sentence, where some could not be scored), `tokens` (offsets of tokens by
    sentence, and `tokens/<score>`, their bits, where a score says of each token whether it is right).
    """
    return f"r{revision}/{kind}/{part}/{metric}"


_OF_RECORD = (records, results)
_PUT_RECORD, _PUT_RESULTS = insert(records), insert(results)


def save(db: Connection, record: ScoreRecord, bodies: PackedArtifacts) -> None:
    """Store a record and its artifacts instead of an earlier one of the same revision, whose rung it keeps."""
    of_it = {"submission_id": record.submission_id, "revision": record.revision}
    kept = rung(db, record.submission_id, record.revision)
    remove(db, record.submission_id, record.revision)
    artifacts.put(db, record.submission_id, bodies)
    first = next(iter(record.shares.values())).scores.parts
    lacking = np.flatnonzero(np.isnan(first).all(axis=1)).tolist()
    covered = {"covered": json_text(list(record.covered)), "lacking": json_text(lacking)}
    db.execute(_PUT_RECORD, {**of_it, **covered, "created_at": record.created_at, "rung": kept})
    rows = [
        {**of_it, "share": share or WHOLE, **_arrays(result.scores), "document": artifacts.pack_json(result.document)}
        for share, result in record.shares.items()
    ]
    db.execute(_PUT_RESULTS, rows)


def _arrays(found: PartScores) -> dict[str, bytes]:
    """Return the columns of scores: NaN where undefined, single parts score by score."""
    (macro_low, macro_high), (pooled_low, pooled_high) = found.macro_interval, found.pooled_interval
    arrays = {
        "macro": found.macro, "macro_low": macro_low, "macro_high": macro_high,
        "pooled": found.pooled, "pooled_low": pooled_low, "pooled_high": pooled_high, PARTS: found.parts.T,
    }  # fmt: skip
    return {name: each.astype(_FORMAT).tobytes() for name, each in arrays.items()}


def of_benchmark(benchmark_id: str, team_id: str | None = None) -> list[ColumnElement[bool]]:
    """Choose the scores of all submissions of a benchmark, or of one of its teams."""
    query = select(submissions.c.id).where(submissions.c.benchmark_id == benchmark_id)
    return [results.c.submission_id.in_(tables.narrowed(query, (submissions.c.team_id, team_id)))]


def of_submissions(ids: Sequence[str]) -> list[ColumnElement[bool]]:
    """Choose the scores of submissions, so many at a time as one statement takes."""
    return [results.c.submission_id.in_(some) for some in batches(ids)]


class Asked(NamedTuple):
    """Which scores of records are read.

    Attributes:
        benchmark_id: the slug.
        revision: its number.
        share: PUBLIC, PRIVATE, or None for a test set that is not split.
        addresses: of all scores of the revision.
        score: the only one that is read; None for all.
    """

    benchmark_id: str
    revision: int
    share: str | None
    addresses: Sequence[str]
    score: str | None = None

    @property
    def size(self) -> int:
        """How many scores are read of a submission."""
        return len(self.addresses) if self.score is None else 1

    @property
    def rows(self) -> ColumnElement[bool]:
        """Select the rows of results that hold them."""
        return (results.c.revision == self.revision) & (results.c.share == (self.share or WHOLE))


def selected(
    db: Connection, chosen: Iterable[ColumnElement[bool]], asked: Asked, columns: Sequence[str]
) -> tuple[list[str], dict[str, FloatArray]]:
    """Select scores: what boards, matrices, lists and reports are made of.

    Args:
        db: the transaction.
        chosen: conditions, one for each statement: `of_benchmark`, `of_submissions`.
        asked: which scores.
        columns: of the table, as `macro`, `pooled_low` or PARTS.

    Returns:
        The submissions with a record; and by column float64 (submissions, scores), NaN where undefined. PARTS is
        (submissions, scores, parts).

    Raises:
        ValueError: a stored array has another length.
    """
    c, size, addresses = results.c, asked.size, asked.addresses
    stored: list[ColumnElement[Any]] = [c[name] for name in columns]
    if asked.score is not None:
        widths = [func.length(column, type_=Integer) // len(addresses) for column in stored]
        at = addresses.index(asked.score)
        stored = [func.substr(each, width * at + 1, width) for each, width in zip(stored, widths, strict=True)]
    query = select(c.submission_id, *stored).where(asked.rows).execution_options(**{BYTES: True})
    # the driver's own rows: those of SQLAlchemy take longer than all the rest
    rows = [row for each in chosen for row in db.execute(query.where(each)).cursor.fetchall()]
    if not rows:
        return [], dict.fromkeys(columns, np.empty((0, size)))
    ids, *bodies = zip(*rows, strict=True)
    arrays = [np.frombuffer(b"".join(body), _FORMAT).reshape(len(rows), size, -1) for body in bodies]
    found = zip(columns, arrays, strict=True)
    return [*ids], {name: array if name == PARTS else array[:, :, 0] for name, array in found}


def kept(
    db: Connection,
    chosen: Iterable[ColumnElement[bool]],
    asked: Asked,
    columns: Sequence[str],
    parts: Sequence[Sequence[int]] = (),
    worst: FloatArray | float = math.nan,
) -> tuple[list[str], FloatArray]:
    """Return scores as `selected`, and those of parts, of several together their mean.

    A process remembers them by record: of a changed board most are as before, and reading all parts of a thousand takes
    longer than the rest of the board.

    Args:
        db: the transaction.
        chosen: conditions, as of `selected`.
        asked: which scores.
        columns: of the table, without PARTS.
        parts: positions of the parts of each mean.
        worst: value of each score, by which a missing part counts in a mean.

    Returns:
        The submissions with a record, in order; and float64 (submissions, columns and then means, scores), NaN where
        undefined, or where each part of a mean is missing.
    """
    c, r = results.c, records.c
    made = select(c.submission_id, r.created_at).where(asked.rows).order_by(c.submission_id)
    made = made.join(records, (r.submission_id == c.submission_id) & (r.revision == c.revision))
    stamps = [stamp for each in chosen for stamp in db.execute(made.where(each)).cursor.fetchall()]
    remembered = _remembered_by(db.engine)
    question = repr((asked._replace(addresses=()), columns, parts, np.asarray(worst).tobytes()))
    known = remembered.get(question) or {}
    new = {stamp[0]: stamp for stamp in stamps if stamp not in known}
    names = [*columns, PARTS] if parts else columns
    for start in range(0, len(new), _AT_ONCE):
        ids, found = selected(db, of_submissions([*new][start : start + _AT_ONCE]), asked, names)
        pieces = [found[name][:, None] for name in columns]
        pieces += [_means(found[PARTS], parts, worst)] if parts else []
        rows = np.concatenate(pieces, axis=1)
        known = known | {new[each]: row for each, row in zip(ids, rows, strict=True)}
    if new and (asked.score is not None or len(parts) <= 1):
        remembered.put(question, known)
    shape = len(stamps), len(columns) + len(parts), asked.size
    return [stamp[0] for stamp in stamps], np.array([known[stamp] for stamp in stamps]).reshape(shape)


_Known = dict[tuple[str, Any], FloatArray]
"""Columns and means of a record, (columns and means, scores), by submission and by when it was scored."""
MOST_KEPT = 32 * 2**20
"""Bytes that a process remembers of the scores of each store."""
_KEY_BYTES = 300
_REMEMBERED: WeakKeyDictionary[Engine, LruCache[_Known]] = WeakKeyDictionary()
_LOCK = Lock()


def _remembered_by(engine: Engine) -> LruCache[_Known]:
    """Return the scores that are remembered of a store, by question."""
    with _LOCK:
        return _REMEMBERED.setdefault(
            engine, LruCache(MOST_KEPT, lambda known: sum(row.nbytes + _KEY_BYTES for row in known.values()))
        )


def _means(rows: FloatArray, parts: Sequence[Sequence[int]], worst: FloatArray | float) -> FloatArray:
    """Return the scores (submissions, means, scores) of parts, of several their mean; see `kept`.

    Args:
        rows: of all parts, (submissions, scores, parts).
        parts: positions.
        worst: value of each score.
    """
    means = np.empty((len(rows), len(parts), rows.shape[1]))
    single = [at for at, of_it in enumerate(parts) if len(of_it) == 1]
    means[:, single] = rows[:, :, [parts[at][0] for at in single]].transpose(0, 2, 1)
    for at, of_it in enumerate(parts):
        if len(of_it) > 1:
            some = rows[:, :, of_it]
            missing = np.isnan(some)
            # one after the other: how many submissions are averaged at once must not change the last bit
            total = np.add.accumulate(np.where(missing, np.reshape(worst, (-1, 1)), some), axis=-1)[:, :, -1]
            means[:, at] = np.where(missing.all(axis=-1), np.nan, total / len(of_it))
    return means


def macro_of(db: Connection, chosen: Iterable[ColumnElement[bool]], asked: Asked) -> dict[str, float | None]:
    """Select the mean of the parts of one score, by submission."""
    ids, found = selected(db, chosen, asked, ["macro"])
    return dict(zip(ids, map(finite, found["macro"][:, 0].tolist()), strict=True))


def remove(db: Connection, submission_id: str, revision: int) -> None:
    """Delete one record and its artifacts."""
    artifacts.drop_below(db, submission_id, f"r{revision}/")
    for table in _OF_RECORD:
        db.execute(delete(table).where(table.c.submission_id == submission_id, table.c.revision == revision))


def copy(db: Connection, source: str, target: str, revision: int, now: datetime) -> None:
    """Copy the record and artifacts of a submission to another one with equal outputs, which has no rung yet."""
    artifacts.copy_below(db, source, target, f"r{revision}/")
    changed: dict[str, ColumnElement[Any]] = {"submission_id": literal(target), "rung": null()}
    changed["created_at"] = literal(now, tables.Utc)
    for table in _OF_RECORD:
        row = select(*(changed.get(column.name, column) for column in table.c))
        row = row.where(table.c.submission_id == source, table.c.revision == revision)
        db.execute(insert(table).from_select(table.c.keys(), row))


def record_under(revision: int) -> ColumnElement[bool]:
    """Select the record of a submission under a revision."""
    return (records.c.submission_id == submissions.c.id) & (records.c.revision == revision)


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


def get(db: Connection, submission_id: str, revision: int, share: str | None) -> StoredResult | None:
    """Return what the record of a submission under a revision says over a share; or None."""
    return _stored(db, submission_id, share, records.c.revision == revision)


def newest(db: Connection, submission_id: str, revision: int, share: str | None) -> StoredResult | None:
    """Return the result under a revision or, without one, under the last revision before it; or None."""
    return _stored(db, submission_id, share, records.c.revision <= revision)


class Newest(NamedTuple):
    """The newest record of a submission.

    Attributes:
        revision: under which it was scored.
        rung: of its team's ladder; None without a place on one.
        parts: how many the revision has.
        lacking: how many of them have no score.
    """

    revision: int
    rung: int | None
    parts: int
    lacking: int


def newest_of(db: Connection, submission_ids: Sequence[str], revision: int) -> dict[str, Newest]:
    """Return the newest records of submissions under a revision or those before it."""
    c = records.c
    query = select(c.submission_id, c.revision, c.rung, c.covered, c.lacking)
    query = query.where(c.submission_id.in_(list(submission_ids)), c.revision <= revision).order_by(c.revision)
    return {
        row.submission_id: Newest(
            row.revision, row.rung, len(orjson.loads(row.covered)), len(orjson.loads(row.lacking))
        )
        for row in db.execute(query)
    }


def _stored(db: Connection, submission_id: str, share: str | None, under: ColumnElement[bool]) -> StoredResult | None:
    c, d = records.c, results.c
    query = (
        select(c.submission_id, c.revision, c.rung, d.document)
        .join(results, (d.submission_id == c.submission_id) & (d.revision == c.revision))
        .where(c.submission_id == submission_id, under, d.share == (share or WHOLE))
        .order_by(c.revision.desc())
        .limit(1)
    )
    row = db.execute(query).one_or_none()
    return None if row is None else StoredResult(*row[:3], artifacts.unpack_json(row.document))


def rung(db: Connection, submission_id: str, revision: int) -> int | None:
    """Return the rung of a record; None where it has no place on a ladder, or does not exist."""
    mine = (records.c.submission_id == submission_id) & (records.c.revision == revision)
    number: int | None = db.scalar(select(records.c.rung).where(mine))
    return number


def set_rung(db: Connection, submission_id: str, revision: int, number: int) -> None:
    """Give a record its place on a ladder."""
    mine = (records.c.submission_id == submission_id) & (records.c.revision == revision)
    db.execute(update(records).where(mine).values(rung=number))


def held(db: Connection, submission_ids: Sequence[str], revision: int) -> set[str]:
    """Return those of the submissions whose scores under a revision a ladder holds."""
    c = records.c
    mine = (c.revision == revision) & c.submission_id.in_(list(submission_ids))
    return set(db.scalars(select(c.submission_id).where(mine, c.rung == HELD)))


def scored_ids(db: Connection, revision: int, submission_ids: Sequence[str]) -> set[str]:
    """Return those of the submissions that have a record under a revision."""
    c = records.c
    mine = (c.revision == revision) & c.submission_id.in_(list(submission_ids))
    return set(db.scalars(select(c.submission_id).where(mine)))


def last_made(db: Connection, revision: int, submission_ids: Collection[str]) -> datetime | None:
    """Return when the last of the submissions was scored under a revision; None where none is."""
    made = select(func.max(records.c.created_at, type_=records.c.created_at.type))
    query = made.where(records.c.revision == revision, records.c.submission_id.in_(list(submission_ids)))
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
    for table in _OF_RECORD:
        db.execute(delete(table).where(table.c.submission_id.in_(list(submission_ids))))


def strip(db: Connection, submission_ids: Sequence[str]) -> None:
    """Keep the scores of submissions; delete what quotes their outputs or names them by a digest."""
    c = results.c
    stored = select(c.submission_id, c.revision, c.share, c.document).where(c.submission_id.in_(list(submission_ids)))
    for row in db.execute(stored).all():
        document = artifacts.unpack_json(row.document)
        document["warnings"] = []
        for part in document["parts"].values():
            part["failure"] = None
        for metric in document["metrics"].values():
            metric["signature"]["output"] = ""
            for part_scores in metric["parts"].values():
                if part_scores is not None:
                    part_scores.pop("extra", None)
        here = and_(c.submission_id == row.submission_id, c.revision == row.revision, c.share == row.share)
        db.execute(update(results).where(here).values(document=artifacts.pack_json(document)))


def drop_revision(db: Connection, benchmark_id: str, revision: int, limit: int) -> int:
    """Delete up to `limit` records of a revision that never became active; return how many."""
    query = (
        select(records.c.submission_id)
        .join(submissions, submissions.c.id == records.c.submission_id)
        .where(submissions.c.benchmark_id == benchmark_id, records.c.revision == revision)
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
        .join(records, (records.c.submission_id == submissions.c.id) & (records.c.revision == revisions.c.number))
        .where(revisions.c.state.in_(NEVER_ACTIVE))
        .distinct()
    )
    return [(slug, number) for slug, number in db.execute(query)]


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
