"""Scoring jobs: the request, and the answer when it is computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, func, insert, select, update

from service.store import artifacts, database, packing, texts
from service.store.runs import UNFINISHED, Run, run_of
from service.store.tables import count, jobs, json_text, narrowed, page_down, record_of, runs
from treescore.core.params import Json

PACKED_FROM = 1024
"""Bytes of an answer from which it is stored packed. Smaller ones are sent plain."""


@dataclass(frozen=True, slots=True)
class Job:
    """One row. `document` is the final answer as it is stored, None before."""

    id: str
    owner: str
    request: dict[str, Json]
    document: bytes | None
    etag: str | None
    deleted_at: datetime | None


class Answer(NamedTuple):
    """The final answer of a job and its owner; document and etag are None before.

    Attributes:
        owner: of the job.
        state: of the job.
        document: as it is stored: packed, unless it is small.
        etag: validator of the document that is not packed.
        deleted_at: when the job was deleted.
        key_hash: of the key that changes a job of an anonymous caller.
    """

    owner: str
    state: str | None
    document: bytes | None
    etag: str | None
    deleted_at: datetime | None
    key_hash: str | None


_ADD = insert(jobs)
_IS_JOB = jobs.c.id == bindparam("job_id")
_GET = select(jobs).where(_IS_JOB)
_ANSWER = select(*(jobs.c[name] for name in Answer._fields)).where(_IS_JOB)
_SAVE_ANSWER = update(jobs).where(_IS_JOB)
# built once: building them takes longer than running them


def add(db: Connection, job_id: str, owner: str, request: Mapping[str, object], *, key_hash: str | None = None) -> None:
    """Store a job. Its run and texts are stored in the same transaction."""
    row = {"id": job_id, "owner": owner, "request": json_text(dict(request)), "key_hash": key_hash}
    db.execute(_ADD, row)


def get(db: Connection, job_id: str) -> Job | None:
    """Return one job, or None."""
    row = db.execute(_GET, {"job_id": job_id}).one_or_none()
    return None if row is None else record_of(Job, row, request=orjson.loads(row.request))


def answer(store: database.Store, job_id: str) -> Answer | None:
    """Return what a GET of a finished job needs, by a fast lookup; None for an unknown job."""
    row = store.lookup(_ANSWER, job_id=job_id)
    return None if row is None else Answer(*row)


def save_answer(db: Connection, job_id: str, state: str, document: bytes, etag: str) -> None:
    """Store the final answer, packed where that is worth it. Only the call that finished the run may do so."""
    if len(document) >= PACKED_FROM:
        document = packing.pack(document)
    db.execute(_SAVE_ANSWER, {"job_id": job_id, "state": state, "document": document, "etag": etag})


def of_owner(db: Connection, owner: str | None, before: str | None, limit: int, state: str | None) -> Sequence[Run]:
    """List the runs of the jobs of an owner (of all for None) before a given id, newest first."""
    query = select(runs).join(jobs, runs.c.id == jobs.c.id).where(jobs.c.deleted_at.is_(None))
    query = narrowed(query, (jobs.c.owner, owner), (runs.c.state, state))
    return [run_of(row) for row in db.execute(page_down(query, jobs.c.id, before, limit))]


def unfinished_of(db: Connection, owner: str, kind: str) -> int:
    """Count the jobs of an owner and a kind that are not final."""
    query = (
        select(func.count())
        .select_from(jobs.join(runs, runs.c.id == jobs.c.id))
        .where(jobs.c.owner == owner, runs.c.kind == kind, runs.c.state.in_(UNFINISHED))
    )
    return count(db, query)


def erase(db: Connection, job_ids: Sequence[str], now: datetime) -> None:
    """Delete texts, results and request. The row stays, so that the id answers 410."""
    texts.drop(db, job_ids)
    artifacts.drop(db, job_ids)
    erased = {"deleted_at": now, "document": None, "etag": None, "request": "{}"}
    db.execute(update(jobs).where(jobs.c.id.in_(job_ids)).values(erased))


def finished_before(db: Connection, moment: datetime, limit: int) -> Sequence[str]:
    """List jobs that ended before a moment and are not erased."""
    query = select(jobs.c.id).join(runs, runs.c.id == jobs.c.id)
    return list(db.scalars(query.where(jobs.c.deleted_at.is_(None), runs.c.finished_at < moment).limit(limit)))
