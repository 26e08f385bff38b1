"""Runs: the work of workers. Workers perform every run that is stored and not final."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, or_, select, tuple_, update

from service.origin import note_stored
from service.store import pieces
from service.store.database import Store, lock
from service.store.records import AnyRow, json_text, one, record_of
from service.store.tables import runs
from service.store.turns import next_turn, note_begun

QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED = "queued", "running", "succeeded", "failed", "cancelled"
UNFINISHED = (QUEUED, RUNNING)
ANONYMOUS = "anonymous"
"""What the principals of callers without a token begin with."""
AD_HOC = ("job",)
"""Kinds of runs that begin after all others of their queue."""
DIVIDED = ("submission",)
"""Kinds of runs whose work may be divided into pieces."""
NO_LIMIT = 2**31 - 1
LONGEST_HOLD = timedelta(hours=1)
"""No run is held longer: four times the 15 minutes that one may take. A moment further ahead is of a wrong clock, and
the run begins at once."""
_ORDER = (runs.c.precedence, runs.c.turn, runs.c.created_at, runs.c.id)
_OF_QUEUE = runs.c.queue == bindparam("of_queue")
_WITHOUT_TOKEN = runs.c.principal.like(ANONYMOUS + "%")
_WITHOUT_TOKEN_RUNNING = select(func.count()).where(_OF_QUEUE, runs.c.state == RUNNING, _WITHOUT_TOKEN)
_MAY_BEGIN = or_(~_WITHOUT_TOKEN, _WITHOUT_TOKEN_RUNNING.scalar_subquery() < bindparam("anonymous"))
_DUE = or_(runs.c.not_before.is_(None), runs.c.not_before <= bindparam("now"), runs.c.not_before > bindparam("longest"))
_NEXT_RUN = select(runs.c.id).where(_OF_QUEUE, runs.c.state == QUEUED, _DUE, _MAY_BEGIN).order_by(*_ORDER).limit(1)
_BEGIN = {
    "state": RUNNING,
    "attempts": runs.c.attempts + 1,
    "started_at": func.coalesce(runs.c.started_at, bindparam("now", type_=runs.c.started_at.type)),
}
# a row that is locked is being cancelled
_BEGIN_NEXT = (
    update(runs)
    .where(runs.c.id == _NEXT_RUN.with_for_update(skip_locked=True).scalar_subquery())
    .values(_BEGIN)
    .returning(*runs.c)
)
# built once: building it takes longer than running it


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
    principal: str
    precedence: int
    turn: int
    not_before: datetime | None = None
    request_id: str | None = None
    trace: str | None = None

    @property
    def final(self) -> bool:
        """Return whether its state is final."""
        return self.state not in UNFINISHED


_NAMES = [field.name for field in fields(Run) if field.name != "progress"]
_LOOK = select(*(runs.c[name] for name in [*_NAMES, "progress"])).where(runs.c.id == bindparam("run_id"))


class OpenCount(NamedTuple):
    """How many runs of a queue, kind and state there are, and since when the oldest waits."""

    queue: str
    kind: str
    state: str
    number: int
    oldest: datetime


def add(
    db: Connection,
    run_id: str,
    kind: str,
    queue: str,
    now: datetime,
    principal: str,
    *,
    not_before: datetime | None = None,
) -> None:
    """Store a queued run of a principal, in the principal's next turn. `not_before` holds it until then."""
    precedence = int(kind in AD_HOC)
    db.execute(
        insert(runs).values(
            id=run_id,
            kind=kind,
            queue=queue,
            state=QUEUED,
            attempts=0,
            created_at=now,
            principal=principal,
            precedence=precedence,
            turn=next_turn(db, queue, precedence, principal),
            not_before=not_before,
            **note_stored(run_id)._asdict(),
        )
    )


def get(db: Connection, run_id: str, *, lock: bool = False) -> Run | None:
    """Return one run, or None. `lock` keeps others from beginning or ending it in this transaction."""
    query = select(runs).where(runs.c.id == run_id)
    return one(db, query.with_for_update() if lock else query, run_of)


def look(store: Store, run_id: str) -> Run | None:
    """Return one run as `get` does, by a fast lookup: clients ask again and again."""
    row = store.lookup(_LOOK, run_id=run_id)
    if row is None:
        return None
    *members, progress = row
    return Run(**dict(zip(_NAMES, members, strict=True)), progress=None if progress is None else orjson.loads(progress))


def many(db: Connection, run_ids: Sequence[str]) -> dict[str, Run]:
    """Return the runs that exist, by id."""
    return {row.id: run_of(row) for row in db.execute(select(runs).where(runs.c.id.in_(list(run_ids))))}


def claim(db: Connection, run_id: str, now: datetime) -> Run | None:
    """Begin a run out of turn, or begin it again, and count the attempt; None where the run is final."""
    begin = update(runs).where(runs.c.id == run_id, runs.c.state.in_(UNFINISHED)).values(_BEGIN).returning(*runs.c)
    row = db.execute(begin, {"now": now}).one_or_none()
    return None if row is None else run_of(row)


def claim_next(db: Connection, queue: str, now: datetime, *, anonymous: int = NO_LIMIT) -> Run | None:
    """Begin the queued run whose turn it is, and count the attempt; None where none may begin, or all are held.

    Args:
        db: a writing transaction; others that claim from the queue wait for its end.
        queue: of the run.
        now: the time.
        anonymous: runs of callers without a token that may be under way in the queue at once.
    """
    lock(db, f"queue {queue}")
    row = db.execute(_BEGIN_NEXT, {"of_queue": queue, "anonymous": anonymous, **_at(now)}).one_or_none()
    if row is None:
        return None
    run = run_of(row)
    note_begun(db, run.queue, run.precedence, run.principal, run.turn)
    return run


def next_id(db: Connection, queue: str, now: datetime, *, anonymous: int = NO_LIMIT) -> str | None:
    """Return the id of the run that `claim_next` would begin, or None."""
    run_id: str | None = db.scalar(_NEXT_RUN, {"of_queue": queue, "anonymous": anonymous, **_at(now)})
    return run_id


def let_begin(db: Connection, run_id: str) -> bool:
    """Hold a queued run no longer. Return whether it was held."""
    held = (runs.c.id == run_id) & (runs.c.state == QUEUED) & runs.c.not_before.is_not(None)
    return db.execute(update(runs).where(held).values(not_before=None)).rowcount == 1


def release(db: Connection, run_id: str) -> bool:
    """Set a run that lost its worker back to `queued`, in its old turn. Return whether it was running."""
    result = db.execute(update(runs).where(runs.c.id == run_id, runs.c.state == RUNNING).values(state=QUEUED))
    return result.rowcount == 1


def queued_of(db: Connection, principal: str) -> int:
    """Count the queued runs of a principal. Others that store runs of it wait until this transaction ends."""
    lock(db, f"principal {principal}")
    return int(db.scalar(select(func.count()).where(runs.c.principal == principal, runs.c.state == QUEUED)) or 0)


def note_progress(db: Connection, run_id: str, done: int, total: int, step: str) -> bool:
    """Store the progress. False where the run is final (cancelled), so that the work can stop."""
    progress = json_text({"done": done, "total": total, "step": step})
    result = db.execute(update(runs).where(runs.c.id == run_id, runs.c.state == RUNNING).values(progress=progress))
    return result.rowcount == 1


def reset_attempts(db: Connection, run_id: str) -> None:
    """Count attempts from the start, because the work has progressed since the last one began."""
    db.execute(update(runs).where(runs.c.id == run_id, runs.c.attempts > 1).values(attempts=1))


def requeue(db: Connection, run: Run) -> None:
    """Set a run back to `queued`, in its principal's next turn, so that a worker continues it."""
    turn = next_turn(db, run.queue, run.precedence, run.principal)
    values = {"state": QUEUED, "attempts": 0, "turn": turn}
    db.execute(update(runs).where(runs.c.id == run.id, runs.c.state == RUNNING).values(**values))


def finish(db: Connection, run_id: str, state: str, now: datetime) -> bool:
    """Set a final state and delete the pieces. Return whether this call did: only the first one does."""
    kind = db.scalar(
        update(runs)
        .where(runs.c.id == run_id, runs.c.state.in_(UNFINISHED))
        .values(state=state, finished_at=now, progress=None)
        .returning(runs.c.kind)
    )
    if kind in DIVIDED:
        pieces.drop(db, run_id)
    return kind is not None


def unfinished(db: Connection, before: datetime, *, due: datetime | None = None) -> Sequence[Run]:
    """List the runs that are not final and older than `before`, oldest first; at most a thousand.

    `due` leaves out those that are held at this moment.
    """
    query = (
        select(runs)
        .where(runs.c.state.in_(UNFINISHED), runs.c.created_at < before)
        .order_by(runs.c.created_at)
        .limit(1000)
    )
    rows = db.execute(query) if due is None else db.execute(query.where(_DUE), _at(due))
    return [run_of(row) for row in rows]


def is_unfinished() -> ColumnElement[bool]:
    """Select the runs that are not final."""
    return runs.c.state.in_(UNFINISHED)


def _at(now: datetime) -> dict[str, datetime]:
    return {"now": now, "longest": now + LONGEST_HOLD}


def ahead(db: Connection, run: Run) -> int:
    """Count the runs of its queue that end or begin before this one begins; 0 once it has begun."""
    if run.state != QUEUED:
        return 0
    of_queue = select(func.count()).where(runs.c.queue == run.queue)
    place = tuple_(run.precedence, run.turn, run.created_at, run.id, types=[column.type for column in _ORDER])
    under_way = of_queue.where(runs.c.state == RUNNING)
    before = of_queue.where(runs.c.state == QUEUED, runs.c.not_before.is_(None), tuple_(*_ORDER) < place)
    return int(db.scalar(under_way) or 0) + int(db.scalar(before) or 0)


def waits(db: Connection, kinds: Sequence[str], most: int) -> dict[str, list[float]]:
    """Return the seconds from creation to first start of the last runs that began, by kind; at most `most` in all."""
    query = (
        select(runs.c.kind, runs.c.created_at, runs.c.started_at)
        .where(runs.c.started_at.is_not(None), runs.c.kind.in_(kinds))
        .order_by(runs.c.started_at.desc())
        .limit(most)
    )
    waited: dict[str, list[float]] = {}
    for kind, created_at, started_at in db.execute(query):
        waited.setdefault(kind, []).append(max(0.0, (started_at - created_at).total_seconds()))
    return waited


def counts_by_state(db: Connection) -> dict[tuple[str, str], int]:
    """Count runs by kind and state."""
    query = select(runs.c.kind, runs.c.state, func.count()).group_by(runs.c.kind, runs.c.state)
    return {(kind, state): number for kind, state, number in db.execute(query)}


def open_counts(db: Connection) -> list[OpenCount]:
    """Count the runs that are not final, by queue, kind and state. A run that is held waits from its moment on."""
    since = func.coalesce(runs.c.not_before, runs.c.created_at, type_=runs.c.created_at.type)
    query = (
        select(runs.c.queue, runs.c.kind, runs.c.state, func.count(), func.min(since))
        .where(is_unfinished())
        .group_by(runs.c.queue, runs.c.kind, runs.c.state)
    )
    return [OpenCount(*row) for row in db.execute(query)]


def run_of(row: AnyRow) -> Run:
    """Make a run of a row."""
    return record_of(Run, row, progress=None if row.progress is None else orjson.loads(row.progress))
