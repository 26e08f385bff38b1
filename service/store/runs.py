"""Runs: the work of workers, who perform every run that is stored and not final; turns.

Turns say in which order waiting runs begin, so that principals take turns however much each of them has queued. Each
run gets the number of a turn when it is stored. A principal has one run in a turn, and no run is put into a turn before
the last that was begun: who has nothing waiting is next, who has a thousand runs waiting has them in a thousand turns.
Workers begin the lowest turn first, so finding the next run is one step in an index.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, update

from service.logs import note_stored
from service.store.database import Store, lock
from service.store.tables import AnyRow, columns_of, count, json_text, one, record_of, runs, turns

ALL_PRINCIPALS = ""
"""The principal under which the last turn that was begun is kept, of all principals."""


_TURNS_OF_QUEUE = sa.and_(turns.c.queue == bindparam("of_queue"), turns.c.precedence == bindparam("of_precedence"))
_TURN_BEGUN = select(turns.c.turn).where(_TURNS_OF_QUEUE)
_TURN_WAITING = select(func.max(runs.c.turn)).where(
    runs.c.principal == bindparam("of_principal"),
    runs.c.state == "queued",
    runs.c.queue == bindparam("of_queue"),
    runs.c.precedence == bindparam("of_precedence"),
)
_LAST_TURNS = select(
    _TURN_BEGUN.where(turns.c.principal == ALL_PRINCIPALS).scalar_subquery(),
    _TURN_BEGUN.where(turns.c.principal == bindparam("of_principal")).scalar_subquery(),
    _TURN_WAITING.scalar_subquery(),
)
_ADVANCE_TURNS = (
    update(turns)
    .where(_TURNS_OF_QUEUE, turns.c.principal.in_((ALL_PRINCIPALS, bindparam("of_principal"))))
    .values(turn=sa.case((turns.c.turn < bindparam("begun"), bindparam("begun")), else_=turns.c.turn))
)
# built once: building them takes longer than running them


def next_turn(db: Connection, queue: str, precedence: int, principal: str) -> int:
    """Return the turn of a principal's next run: after those it has, and not before the last that was begun."""
    line = {"of_queue": queue, "of_precedence": precedence, "of_principal": principal}
    begun_of_all, own, waiting = db.execute(_LAST_TURNS, line).one()
    return max([int(begun_of_all or 0), *(int(turn) + 1 for turn in (own, waiting) if turn is not None)])


def note_turn_begun(db: Connection, queue: str, precedence: int, principal: str, turn: int) -> None:
    """Note that a run of a principal begins. The transaction has locked the queue."""
    line = {"of_queue": queue, "of_precedence": precedence, "of_principal": principal}
    both = {ALL_PRINCIPALS, principal}
    if db.execute(_ADVANCE_TURNS, {**line, "begun": turn}).rowcount == len(both):
        return
    known = db.scalars(select(turns.c.principal).where(_TURNS_OF_QUEUE, turns.c.principal.in_(both)), line)
    for each in both.difference(known):
        db.execute(insert(turns).values(queue=queue, precedence=precedence, principal=each, turn=turn))


def forget_turns(db: Connection) -> None:
    """Delete the turns of principals that are over: they no longer decide the next turn."""
    others = turns.alias()
    passed = (
        select(others.c.turn)
        .where(
            others.c.queue == turns.c.queue,
            others.c.precedence == turns.c.precedence,
            others.c.principal == ALL_PRINCIPALS,
        )
        .scalar_subquery()
    )
    db.execute(delete(turns).where(turns.c.turn < passed))


QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED = "queued", "running", "succeeded", "failed", "cancelled"
UNFINISHED = (QUEUED, RUNNING)
ANONYMOUS = "anonymous"
"""What the principals of callers without a token begin with."""
AD_HOC = ("job",)
"""Kinds of runs that begin after all others of their queue."""
NO_LIMIT = 2**31 - 1
LONGEST_HOLD = timedelta(hours=1)
"""No run is held longer: four times the 15 minutes that one may take. A moment further ahead is of a wrong clock, and
the run begins at once."""
_ORDER = (runs.c.precedence, runs.c.turn, runs.c.created_at, runs.c.id)
_OF_QUEUE = runs.c.queue == bindparam("of_queue")
_WITHOUT_TOKEN = runs.c.principal.like(ANONYMOUS + "%")
_WITHOUT_TOKEN_RUNNING = select(func.count()).where(_OF_QUEUE, runs.c.state == RUNNING, _WITHOUT_TOKEN)
_MAY_BEGIN = sa.or_(~_WITHOUT_TOKEN, _WITHOUT_TOKEN_RUNNING.scalar_subquery() < bindparam("anonymous"))
_DUE = sa.or_(
    runs.c.not_before.is_(None), runs.c.not_before <= bindparam("now"), runs.c.not_before > bindparam("longest")
)
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
_ADD = insert(runs)
_QUEUED_OF = select(func.count()).where(runs.c.principal == bindparam("of_principal"), runs.c.state == QUEUED)
_FINISH = update(runs).where(runs.c.id == bindparam("run_id"), runs.c.state.in_(UNFINISHED)).values(progress=None)
# built once: building them takes longer than running them


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
    turn = next_turn(db, queue, precedence, principal)
    state = (QUEUED, 0, now, None, None, None)
    run = Run(run_id, kind, queue, *state, principal, precedence, turn, not_before, note_stored(run_id))
    db.execute(_ADD, columns_of(run))


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
    note_turn_begun(db, run.queue, run.precedence, run.principal, run.turn)
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
    return int(db.scalar(_QUEUED_OF, {"of_principal": principal}) or 0)


def note_progress(db: Connection, run_id: str, done: int, total: int, step: str) -> bool:
    """Store the progress. False where the run is final (cancelled), so that the work can stop."""
    progress = json_text({"done": done, "total": total, "step": step})
    result = db.execute(update(runs).where(runs.c.id == run_id, runs.c.state == RUNNING).values(progress=progress))
    return result.rowcount == 1


def reset_attempts(db: Connection, run_id: str) -> None:
    """Count attempts from the start, because the work has progressed since the last one began."""
    db.execute(update(runs).where(runs.c.id == run_id, runs.c.attempts > 1).values(attempts=1))


def requeue(db: Connection, run: Run, not_before: datetime | None = None) -> None:
    """Set a run back to `queued`, in its principal's next turn, so that a worker continues it; held until then."""
    turn = next_turn(db, run.queue, run.precedence, run.principal)
    values = {"state": QUEUED, "attempts": 0, "turn": turn, "not_before": not_before}
    db.execute(update(runs).where(runs.c.id == run.id, runs.c.state == RUNNING).values(**values))


def finish(db: Connection, run_id: str, state: str, now: datetime) -> bool:
    """Set a final state. Return whether this call did: only the first one does."""
    return db.execute(_FINISH, {"run_id": run_id, "state": state, "finished_at": now}).rowcount == 1


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
    place = sa.tuple_(run.precedence, run.turn, run.created_at, run.id, types=[column.type for column in _ORDER])
    under_way = of_queue.where(runs.c.state == RUNNING)
    before = of_queue.where(runs.c.state == QUEUED, runs.c.not_before.is_(None), sa.tuple_(*_ORDER) < place)
    return count(db, under_way) + count(db, before)


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
