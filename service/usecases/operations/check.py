"""Check everything that is stored, and where it is stored. Changes nothing.

Stored figures are computed again from stored counts: nothing is parsed or scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import zstandard
from sqlalchemy import Connection, select
from sqlalchemy.exc import DatabaseError
from zstandard import ZstdError

from service.context import Context
from service.requests import MACRO, SHARES
from service.store import benchmarks, integrity, revisions, score_records, submissions
from service.store.database import Fault, SchemaState, error_line, fault_of, schema_of
from service.store.integrity import Flaw
from service.store.packing import is_packed, unpack
from service.store.revisions import Part
from service.store.score_records import Figures, Layout, ScoreRecord
from service.store.tables import jobs
from service.usecases.operations import doctor
from service.usecases.operations.doctor import Finding, Level
from service.usecases.runs.views import etag_of
from service.usecases.scoring.config import ScoringConfig, scoring_config
from service.usecases.scoring.part_scorer import SCORED
from service.usecases.scoring.shares import share_rows, split_of
from treescore.core.arrays import Counts, FloatArray
from treescore.evaluation.parts import macro_mean

SAMPLE = 100
"""Score records that are computed again unless all are asked for."""
TOLERANCE = 1e-9


def wrong_scores(db: Connection, *, every: bool) -> Iterator[Flaw]:
    """Find score records whose figures do not follow from their counts: of a sample, or of every one."""
    step = 1 if every else max(1, integrity.score_records_count(db) // SAMPLE)
    for submission_id, number in integrity.sampled_records(db, step):
        subject = f"{submission_id} revision {number}"
        try:
            detail = _flaw(db, submission_id, number)
        except (zstandard.ZstdError, ValueError, KeyError):
            detail = "The score record or one of its count arrays cannot be read."
        if detail:
            yield Flaw("scores-damaged", subject, detail)


def _flaw(db: Connection, submission_id: str, number: int) -> str:
    """Return what is wrong with a record; empty for nothing."""
    record = score_records.get(db, submission_id, number)
    submission = submissions.get(db, submission_id)
    revision = None if submission is None else revisions.get(db, submission.benchmark_id, number)
    if record is None or revision is None:
        return "The record has no revision."
    scoring = scoring_config(revision.scoring)
    parts = revisions.parts_of(db, revision.id)
    layout = Layout([part.name for part in parts], scoring.addresses)
    benchmark = benchmarks.get(db, revision.benchmark_id)
    split = None if benchmark is None else split_of(db, benchmark, revision.id)
    if (split is None) != (record.private is None):
        return "The record and its benchmark differ in whether the test set is split."
    positions = [part.position for part in parts]
    counts: list[list[Counts]] = []
    for position, entry in enumerate(scoring.spec.entries):
        rows = score_records.counts(db, submission_id, number, positions, position)
        present = [each for each in rows if each is not None]
        if len(present) < len(rows):
            return f"The counts of {entry.key} are not complete."
        if any(len(each) != part.sentences for each, part in zip(present, parts, strict=True)):
            return f"The counts of {entry.key} have another number of sentences than gold."
        counts.append(present)
    for share in (None,) if split is None else SHARES:
        chosen = [share_rows(split, part, share) for part in parts]
        of_share = [[each[rows] for each, rows in zip(metric, chosen, strict=True)] for metric in counts]
        computed = _computed(scoring, of_share)
        shown = record.shown(share)
        detail = _difference(shown, Figures.from_bytes(shown.figures, layout), computed, scoring, parts)
        if detail:
            return detail
    return ""


def _computed(scoring: ScoringConfig, counts: Sequence[Sequence[Counts]]) -> FloatArray:
    """Compute the scores of each part, pooled and their mean, of the counts of each metric entry and part."""
    columns = []
    for entry, parts in zip(scoring.spec.entries, counts, strict=True):
        totals: Counts = np.stack([each.sum(axis=0) for each in parts])
        table = entry.metric.table
        by_part: FloatArray = np.stack(list(table.values(totals).values()), axis=-1)
        pooled: FloatArray = np.stack(list(table.values(totals.sum(axis=0)).values()), axis=-1)
        columns.append(np.vstack([by_part, pooled, macro_mean(table, by_part)]))
    return np.concatenate(columns, axis=1)


def _difference(
    record: ScoreRecord, figures: Figures, computed: FloatArray, scoring: ScoringConfig, parts: list[Part]
) -> str:
    stored = figures.values[: len(parts) + 2]
    # what a part without a scored output costs has counts; the part itself has no score
    lacking = [row for row, part in enumerate(parts) if record.document["parts"][part.name]["state"] != SCORED]
    computed[lacking] = np.nan
    same = np.isclose(stored, computed, rtol=0, atol=TOLERANCE, equal_nan=True)
    if not same.all():
        column = int(np.argwhere(~same)[0][1])
        return f"The stored {scoring.addresses[column]} does not follow from the stored counts."
    main = figures.value(MACRO, scoring.main_score)
    if main != record.main:
        return "The main score of the record differs from its figures."
    return ""


Look = Callable[[Connection], Iterator[Flaw]]

RESTORE = "Restore a backup."
DELETE = "It takes space only."
ADVICE: Mapping[str, str] = {
    "scores-damaged": "Score it again with a new revision of its benchmark, or restore a backup.",
    "scores-missing": "A new revision of its benchmark scores it; wait if one is being scored.",
    "run-without-resource": "The worker ends it when it takes it.",
    "text-without-owner": DELETE,
    "texts-without-owner": DELETE,
    "artifacts-without-owner": DELETE,
    "scores-left-over": "Start the service, and check again after ten minutes.",
}
"""What to do about each kind of flaw; without an entry, a backup must be restored."""


def check(context: Context, *, every: bool) -> Iterator[Finding]:
    """Yield what is wrong, in the order of the looks; nothing where all is well.

    Args:
        context: of the store; the queue may be away.
        every: whether every score record is computed again, not only a sample.
    """
    with context.store.snapshot() as db:
        found = schema_of(db)
        if found.state is not SchemaState.CURRENT:
            yield Finding(Level.WRONG, "schema", found.state, found.words)
            return
        looks: tuple[Look, ...] = (
            integrity.damaged_pages,
            integrity.damaged_texts,
            integrity.damaged_artifacts,
            integrity.damaged_documents,
            _damaged_answers,
            integrity.broken_references,
            integrity.missing_rows,
            integrity.left_over,
            lambda db: wrong_scores(db, every=every),
        )
        for look in looks:
            yield from _findings(db, look)
    yield from doctor.file_mode_findings(context)
    yield from doctor.partial_file_findings(context)
    yield from doctor.queue_findings(context)
    disk = doctor.disk_finding(context)
    if disk.level is not Level.OK:
        yield disk


def _damaged_answers(db: Connection) -> Iterator[Flaw]:
    """Compare the stored answers of jobs with their validators."""
    query = select(jobs.c.id, jobs.c.document, jobs.c.etag).where(jobs.c.document.is_not(None))
    for row in db.execute(query, execution_options={"yield_per": 50}):
        try:
            document = unpack(row.document) if is_packed(row.document) else row.document
        except ZstdError:
            document = b""
        if etag_of(document) != row.etag:
            yield Flaw("answer-damaged", row.id, "The answer of the job is not the one that its validator names.")


def _findings(db: Connection, look: Look) -> Iterator[Finding]:
    """Look; a database that cannot be read is a finding, one that does not answer is not."""
    try:
        for flaw in look(db):
            yield Finding(Level.WRONG, flaw.code, flaw.subject, flaw.detail, ADVICE.get(flaw.code, RESTORE))
    except DatabaseError as error:
        if fault_of(error) is not Fault.DAMAGED:
            raise
        yield Finding(Level.WRONG, "database-damaged", "database", f"{error_line(error)}.", RESTORE)
