"""Runs: the work of workers. Workers perform every run that is stored and not final."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from service.store.records import AnyRow, json_text, one, record_of
from service.store.tables import runs

QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED = "queued", "running", "succeeded", "failed", "cancelled"
UNFINISHED = (QUEUED, RUNNING)


@dataclass(frozen=True, slots=True)
class Run:
    """One row: work for the resource with the same id."""

    id: str
    kind: str
    queue: str
    state: str
    attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: dict[str, object] | None

    @property
    def final(self) -> bool:
        """Return whether its state is final."""
        return self.state not in UNFINISHED


def add(db: Connection, run_id: str, kind: str, queue: str, now: datetime) -> None:
    """Store a queued run."""
    db.execute(insert(runs).values(id=run_id, kind=kind, queue=queue, state=QUEUED, attempts=0, created_at=now))


def get(db: Connection, run_id: str, *, lock: bool = False) -> Run | None:
    """Return one run, or None. `lock` keeps others from beginning or ending it in this transaction."""
    query = select(runs).where(runs.c.id == run_id)
    return one(db, query.with_for_update() if lock else query, run_of)


def many(db: Connection, run_ids: Sequence[str]) -> dict[str, Run]:
    """Return the runs that exist, by id."""
    return {row.id: run_of(row) for row in db.execute(select(runs).where(runs.c.id.in_(list(run_ids))))}


def claim(db: Connection, run_id: str, now: datetime) -> Run | None:
    """Begin a run, or begin it again, and count the attempt; None where the run is final."""
    return one(
        db,
        update(runs)
        .where(runs.c.id == run_id, runs.c.state.in_(UNFINISHED))
        .values(state=RUNNING, attempts=runs.c.attempts + 1, started_at=func.coalesce(runs.c.started_at, now))
        .returning(*runs.c),
        run_of,
    )


def note_progress(db: Connection, run_id: str, done: int, total: int, step: str) -> bool:
    """Store the progress. False where the run is final (cancelled), so that the work can stop."""
    progress = json_text({"done": done, "total": total, "step": step})
    result = db.execute(update(runs).where(runs.c.id == run_id, runs.c.state == RUNNING).values(progress=progress))
    return result.rowcount == 1


def reset_attempts(db: Connection, run_id: str) -> None:
    """Count attempts from the start, because the work has progressed since the last one began."""
    db.execute(update(runs).where(runs.c.id == run_id, runs.c.attempts > 1).values(attempts=1))


def requeue(db: Connection, run_id: str) -> None:
    """Set a run back to `queued`, so that the next worker continues it."""
    db.execute(update(runs).where(runs.c.id == run_id, runs.c.state == RUNNING).values(state=QUEUED, attempts=0))


def finish(db: Connection, run_id: str, state: str, now: datetime) -> bool:
    """Set a final state. Return whether this call did: only the first one does."""
    result = db.execute(
        update(runs)
        .where(runs.c.id == run_id, runs.c.state.in_(UNFINISHED))
        .values(state=state, finished_at=now, progress=None)
    )
    return result.rowcount == 1


def unfinished(db: Connection, before: datetime) -> Sequence[Run]:
    """List the runs that are not final and older than `before`, oldest first; at most a thousand."""
    query = (
        select(runs)
        .where(runs.c.state.in_(UNFINISHED), runs.c.created_at < before)
        .order_by(runs.c.created_at)
        .limit(1000)
    )
    return [run_of(row) for row in db.execute(query)]


def is_unfinished() -> ColumnElement[bool]:
    """Select the runs that are not final."""
    return runs.c.state.in_(UNFINISHED)


def ahead(db: Connection, run: Run) -> int:
    """Count the runs before this one in its queue."""
    query = select(func.count()).where(
        runs.c.queue == run.queue, runs.c.state.in_(UNFINISHED), runs.c.created_at < run.created_at
    )
    return int(db.scalar(query) or 0)


def counts_by_state(db: Connection) -> dict[tuple[str, str], int]:
    """Count runs by kind and state."""
    query = select(runs.c.kind, runs.c.state, func.count()).group_by(runs.c.kind, runs.c.state)
    return {(kind, state): number for kind, state, number in db.execute(query)}


def run_of(row: AnyRow) -> Run:
    """Make a run of a row."""
    return record_of(Run, row, progress=None if row.progress is None else orjson.loads(row.progress))
