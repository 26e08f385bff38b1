"""Check everything that is stored, and where a service stands: files, disk, queue, workers. Changes nothing.

Each finding says what to do. Stored figures are computed again from stored counts: nothing is parsed or scored.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import zstandard
from sqlalchemy import Connection, select
from sqlalchemy.exc import DatabaseError
from zstandard import ZstdError

from service import process, requests
from service.context import Context
from service.queue import BULK, LIVE, REDIS_ERRORS, Pulse
from service.store import benchmarks, database, packing, revisions, runs, score_records, submissions, upkeep
from service.store.score_records import PARTS
from service.store.tables import jobs
from service.store.upkeep import Flaw
from service.usecases.runs import etag_of
from service.usecases.scoring.config import ScoringConfig, scoring_config
from service.usecases.scoring.shares import share_rows, split_of
from treescore.core.arrays import Counts, FloatArray
from treescore.evaluation.benchmark import macro_mean


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    WRONG = "wrong"
    UNKNOWN = "unknown"


class Finding(NamedTuple):
    """One line.

    Attributes:
        level: how bad it is.
        code: stable name of the kind.
        subject: id, file or part of the service.
        detail: what is wrong.
        advice: what to do.
    """

    level: Level
    code: str
    subject: str
    detail: str
    advice: str = ""

    @property
    def line(self) -> str:
        """Return it for people."""
        return f"{self.level:<7} {self.code:<22} {self.subject}: {self.detail} {self.advice}".rstrip()


def worst(findings: Iterable[Finding]) -> Level:
    """Return the level of the worst finding; something wrong outweighs something unknown."""
    levels = {finding.level for finding in findings}
    return next((level for level in (Level.WRONG, Level.UNKNOWN, Level.WARN) if level in levels), Level.OK)


GRACE = timedelta(seconds=10)
"""A younger run may be on its way into the queue."""


def file_mode_findings(context: Context) -> Iterator[Finding]:
    """Look at who can read the data directory and what is in it."""
    for path in process.private_paths(context.config):
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Finding(Level.UNKNOWN, "file-unreadable", str(path), f"{error.strerror}.", "Run this as its owner.")
            continue
        mode = stat.S_IMODE(found.st_mode)
        if mode & process.UMASK:
            advice = f"Run: chmod go-rwx {path}"
            yield Finding(Level.WRONG, "file-mode", str(path), f"Others can use it (mode {mode:o}).", advice)
        if found.st_uid != os.geteuid() and os.geteuid():
            yield Finding(Level.WRONG, "file-owner", str(path), "It belongs to another user.", "Run this as its owner.")


def partial_file_findings(context: Context) -> Iterator[Finding]:
    """Find the files that a killed backup or restore left."""
    for path in sorted(context.config.data_dir.glob(".*.partial*")):
        advice = "Delete it, unless a backup is being made."
        yield Finding(Level.WARN, "partial-file", str(path), "A backup or restore was not completed.", advice)


def disk_findings(context: Context) -> Iterator[Finding]:
    """Look at the free space of the store's disk; that of a database server is not seen from here."""
    found = database.disk_of(context.store)
    if found.free is not None and found.state is not database.DiskState.OK:
        level = Level.WRONG if found.state is database.DiskState.FULL else Level.WARN
        advice = "Free some space, or `treescore purge` what is no longer needed."
        yield Finding(level, "disk", "store", f"{found.free / 2**30:.1f} GiB are free.", advice)


def queue_findings(context: Context) -> Iterator[Finding]:
    """Compare the queue with the unfinished runs of the store."""
    try:
        held, waiting = Pulse(context.queue).held(), context.queue.lengths()
        workers = {name: context.queue.workers(name) for name in (LIVE, BULK)}
    except REDIS_ERRORS as error:
        advice = "Start the service, or check TREESCORE_REDIS_URL. Stored runs wait in the store."
        yield Finding(Level.WARN, "queue-away", "queue", f"Redis does not answer ({type(error).__name__}).", advice)
        return
    with context.store.read() as db:
        unfinished = runs.unfinished(db, context.now() - GRACE, due=context.now())
    lost = [run for run in unfinished if run.state == runs.RUNNING and run.id not in held]
    for name, number in waiting.items():
        lost += [run for run in unfinished if run.state == runs.QUEUED and run.queue == name][number:]
    for run in lost:
        advice = "The sweeper queues it again within seconds; check that it runs."
        yield Finding(Level.WARN, "run-not-queued", run.id, f"The {run.kind} is {run.state} in no queue.", advice)
    for name, number in workers.items():
        if not number:
            advice = f"Start one: treescore worker --queue {name}"
            yield Finding(Level.WARN, "no-worker", name, "No worker serves this queue.", advice)


# everything that is stored

SAMPLE = 100
"""Score records that are computed again unless all are asked for."""
TOLERANCE = 1e-9


def wrong_scores(db: Connection, *, every: bool) -> Iterator[Flaw]:
    """Find score records whose figures do not follow from their counts: of a sample, or of every one."""
    step = 1 if every else max(1, upkeep.score_records_count(db) // SAMPLE)
    for submission_id, number in upkeep.sampled_records(db, step):
        subject = f"{submission_id} revision {number}"
        try:
            detail = _flaw(db, submission_id, number)
        except (zstandard.ZstdError, ValueError, LookupError):
            detail = "The score record or one of its count arrays cannot be read."
        if detail:
            yield Flaw("scores-damaged", subject, detail)


def _flaw(db: Connection, submission_id: str, number: int) -> str:
    """Return what is wrong with a record; empty for nothing."""
    submission = submissions.get(db, submission_id)
    revision = None if submission is None else revisions.get(db, submission.benchmark_id, number)
    if revision is None:
        return "The record has no revision."
    scoring = scoring_config(revision.scoring)
    parts = revisions.parts_of(db, revision.id)
    benchmark = benchmarks.get(db, revision.benchmark_id)
    split = None if benchmark is None else split_of(db, benchmark, revision.id)
    shares = (None,) if split is None else requests.SHARES
    results = [score_records.get(db, submission_id, number, share) for share in shares]
    if any(result is None for result in results):
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
    for share, result in zip(shares, results, strict=True):
        chosen = [share_rows(split, part, share) for part in parts]
        of_share = [[each[rows] for each, rows in zip(metric, chosen, strict=True)] for metric in counts]
        computed = _computed(scoring, of_share)
        # what a part without a scored output costs has counts; the part itself has no score
        computed[[at for at, part in enumerate(parts) if result is None or not result.scored(part.name)]] = np.nan
        its, columns = score_records.of_submissions([submission_id]), (requests.POOLED, requests.MACRO)
        asked = score_records.Asked(revision.benchmark_id, number, share, scoring.addresses)
        _, found = score_records.selected(db, its, asked, (PARTS, *columns))
        stored = np.vstack([found[PARTS][0].T, *(found[name] for name in columns)])
        same = np.isclose(stored, computed, rtol=0, atol=TOLERANCE, equal_nan=True)
        if not same.all():
            column = int(np.argwhere(~same)[0][1])
            return f"The stored {scoring.addresses[column]} does not follow from the stored counts."
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
        found = database.schema_of(db)
        if found.state is not database.SchemaState.CURRENT:
            yield Finding(Level.WRONG, "schema", found.state, found.words)
            return
        looks: tuple[Look, ...] = (
            upkeep.damaged_pages,
            upkeep.damaged_texts,
            upkeep.damaged_artifacts,
            upkeep.damaged_documents,
            _damaged_answers,
            upkeep.broken_references,
            upkeep.missing_rows,
            upkeep.left_over,
            lambda db: wrong_scores(db, every=every),
        )
        for look in looks:
            yield from _findings(db, look)
    yield from file_mode_findings(context)
    yield from partial_file_findings(context)
    yield from queue_findings(context)
    yield from disk_findings(context)


def _damaged_answers(db: Connection) -> Iterator[Flaw]:
    """Compare the stored answers of jobs with their validators."""
    query = select(jobs.c.id, jobs.c.document, jobs.c.etag).where(jobs.c.document.is_not(None))
    for row in db.execute(query, execution_options={"yield_per": 50}):
        try:
            document = packing.unpack(row.document) if packing.is_packed(row.document) else row.document
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
        if database.fault_of(error) is not database.Fault.DAMAGED:
            raise
        yield Finding(Level.WRONG, "database-damaged", "database", f"{database.error_line(error)}.", RESTORE)
