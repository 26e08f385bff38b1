"""Check everything that is stored, and where it is stored. Changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlalchemy import Connection, select
from sqlalchemy.exc import DatabaseError
from zstandard import ZstdError

from service.context import Context
from service.store import integrity
from service.store.faults import Fault, fault_of, line_of
from service.store.integrity import Flaw
from service.store.packing import is_packed, unpack
from service.store.schema import State, schema_of
from service.store.tables import jobs
from service.usecases.operations import place
from service.usecases.operations.findings import Finding, Level
from service.usecases.operations.scores_check import wrong_scores
from service.usecases.runs.views import etag_of

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
        if found.state is not State.CURRENT:
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
    yield from place.file_modes(context)
    yield from place.partial_files(context)
    yield from place.queue(context)
    disk = place.disk(context)
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
        yield Finding(Level.WRONG, "database-damaged", "database", f"{line_of(error)}.", RESTORE)
