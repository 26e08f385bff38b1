"""Runs: the work of workers, who perform every run that is stored and not final; turns, and pieces of large runs.

Turns say in which order waiting runs begin, so that principals take turns however much each of them has queued. Each
run gets the number of a turn when it is stored. A principal has one run in a turn, and no run is put into a turn before
the last that was begun: who has nothing waiting is next, who has a thousand runs waiting has them in a thousand turns.
Workers begin the lowest turn first, so finding the next run is one step in an index.

Pieces of a large submission are groups of its parts, which any worker scores; the submission's own run joins them. A
piece is taken by setting its holder: what names the work in Redis while it is done, the id of the piece for another
worker, that of the run for the worker of the run itself. Results are written once: a second one changes nothing. All
pieces of a run are deleted in the transaction that ends it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, update

from service.monitoring import note_stored
from service.store.database import Store, lock
from service.store.tables import AnyRow, count, json_text, one, pieces, record_of, runs, turns

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


_PIECE_MARK = "-p"
_P = pieces.c
_OPEN_PIECE = _P.body.is_(None)
_FREE_PIECE = _OPEN_PIECE & _P.holder.is_(None)
_others, _owners = pieces.alias(), runs.alias()
_BEGUN_RUN = (
    select(func.count())
    .select_from(_others.join(_owners, _owners.c.id == _others.c.run_id))
    .where(_others.c.body.is_(None), _others.c.holder.is_not(None), _owners.c.principal == runs.c.principal)
    .correlate(runs)
    .scalar_subquery()
)
_NEXT_PIECE = (
    select(_P.id)
    .join(runs, runs.c.id == _P.run_id)
    .where(
        _FREE_PIECE,
        runs.c.queue == bindparam("of_queue"),
        runs.c.state == "running",
        _P.attempts < bindparam("most"),
        _P.version == bindparam("of_version"),
    )
    .order_by(_BEGUN_RUN, runs.c.created_at, runs.c.id, _P.first)
    .limit(1)
)
_TAKEN_PIECE = {"attempts": _P.attempts + 1, "done": 0}
_TAKE_NEXT_PIECE = (
    update(pieces)
    .where(_FREE_PIECE, _P.id == _NEXT_PIECE.with_for_update(skip_locked=True, of=pieces).scalar_subquery())
    .values({**_TAKEN_PIECE, "holder": _P.id})
    .returning(*_P)
)
# built once: building them takes longer than running them


@dataclass(frozen=True, slots=True)
class Piece:
    """One row: the parts `first` to `last` (not included) of a run's submission, by position.

    Attributes:
        id: also names the work of a worker that is not the run's own.
        run_id: the run of the submission.
        revision: number of the revision under which it is scored.
        version: of the program that planned it; no other scores it.
        first, last: positions of its parts.
        attempts: how often it was begun.
    """

    id: str
    run_id: str
    revision: int
    version: str
    first: int
    last: int
    attempts: int


def piece_of(name: str, run_id: str) -> bool:
    """Return whether a name is that of a piece of a run."""
    return name.startswith(run_id + _PIECE_MARK)


def is_piece(name: str) -> bool:
    """Return whether a name is that of a piece, and not of a run."""
    return _PIECE_MARK in name


def plan_pieces(db: Connection, run_id: str, revision: int, version: str, spans: Sequence[tuple[int, int]]) -> None:
    """Store the pieces of a run unless they are there, and free those that an earlier attempt of the run has begun.

    Pieces of another revision, or of another version of the program, are deleted with their results.

    Args:
        db: a transaction that has locked the run, which is running.
        run_id: the run.
        revision: number of the revision.
        version: of this program.
        spans: first and last (not included) part of each piece.
    """
    db.execute(delete(pieces).where(_P.run_id == run_id, (_P.revision != revision) | (_P.version != version)))
    if db.scalar(select(func.count()).where(_P.run_id == run_id)):
        db.execute(update(pieces).where(_P.run_id == run_id, _OPEN_PIECE, _P.holder == run_id).values(holder=None))
        return
    of_run = {"run_id": run_id, "revision": revision, "version": version, "done": 0, "attempts": 0}
    rows = [
        {"id": f"{run_id}{_PIECE_MARK}{revision}-{number}", "first": first, "last": last, **of_run}
        for number, (first, last) in enumerate(spans)
    ]
    db.execute(insert(pieces), rows)


def take_piece(db: Connection, run_id: str, *, also_held: bool = False) -> Piece | None:
    """Begin the next piece of a run in the run's own worker; None where none is free.

    Args:
        db: a writing transaction.
        run_id: the run.
        also_held: whether pieces that others hold are taken from them, because it is not known whether they live.
    """
    free = _OPEN_PIECE if also_held else _FREE_PIECE
    following = select(_P.id).where(_P.run_id == run_id, free).order_by(_P.first).limit(1)
    begin = (
        update(pieces)
        .where(free, _P.id == following.with_for_update(skip_locked=True).scalar_subquery())
        .values({**_TAKEN_PIECE, "holder": run_id})
        .returning(*_P)
    )
    return one(db, begin, _piece)


def take_next_piece(db: Connection, queue: str, version: str, most: int) -> Piece | None:
    """Begin a piece for another worker than the run's own; None where none is free.

    The principal whose pieces the fewest workers have is served first, then the oldest run.

    Args:
        db: a writing transaction.
        queue: of the run.
        version: of this program.
        most: attempts after which only the run's own worker takes a piece: it may end the worker that does it.
    """
    row = db.execute(_TAKE_NEXT_PIECE, {"of_queue": queue, "of_version": version, "most": most}).one_or_none()
    return None if row is None else _piece(row)


def next_piece_id(db: Connection, queue: str, version: str, most: int) -> str | None:
    """Return the id of the piece that `take_next_piece` would begin, or None."""
    piece_id: str | None = db.scalar(_NEXT_PIECE, {"of_queue": queue, "of_version": version, "most": most})
    return piece_id


def done_beside_piece(db: Connection, piece: Piece) -> int:
    """Count the parts that are done in the other pieces of its run."""
    return count(db, select(func.sum(_P.done)).where(_P.run_id == piece.run_id, _P.id != piece.id))


def note_piece_done(db: Connection, piece: Piece, holder: str, done: int) -> bool:
    """Note how many parts of a piece are done. Return whether it still is the holder's."""
    mine = _is_piece(piece) & (_P.holder == holder) & _OPEN_PIECE
    return db.execute(update(pieces).where(mine).values(done=done)).rowcount == 1


def save_piece(db: Connection, piece: Piece, body: bytes) -> bool:
    """Store the packed result of a piece. Return whether this call did: only the first one does."""
    query = (
        update(pieces)
        .where(_is_piece(piece), _OPEN_PIECE)
        .values(body=body, done=piece.last - piece.first, holder=None)
    )
    return db.execute(query).rowcount == 1


def give_pieces_back(db: Connection, lost: Mapping[str, str | None]) -> bool:
    """Let others begin pieces whose holder was lost (id -> holder). Return whether one still was that holder's."""
    held = sa.tuple_(_P.id, _P.holder).in_(list(lost.items()))
    return db.execute(update(pieces).where(held, _OPEN_PIECE).values(holder=None, done=0)).rowcount > 0


def run_of_piece(db: Connection, piece_id: str) -> str | None:
    """Return the run of a piece, None where the piece was deleted."""
    run_id: str | None = db.scalar(select(_P.run_id).where(_P.id == piece_id))
    return run_id


def unfinished_pieces(db: Connection, run_id: str) -> Mapping[str, str | None]:
    """Return the pieces of a run that have no result: id -> holder, None for one that may be taken."""
    return {row.id: row.holder for row in db.execute(select(_P.id, _P.holder).where(_P.run_id == run_id, _OPEN_PIECE))}


def piece_results(db: Connection, run_id: str, revision: int) -> Sequence[bytes]:
    """Return the packed results of a run's pieces under a revision, in the order of parts."""
    query: sa.Select[tuple[bytes]] = select(_P.body).where(
        _P.run_id == run_id, _P.revision == revision, _P.body.is_not(None)
    )
    return list(db.scalars(query.order_by(_P.first)))


def drop_pieces(db: Connection, run_id: str) -> None:
    """Delete the pieces of a run, which has ended."""
    db.execute(delete(pieces).where(_P.run_id == run_id))


def _piece(row: AnyRow) -> Piece:
    return record_of(Piece, row)


def _is_piece(piece: Piece) -> ColumnElement[bool]:
    """Select a piece, and not the one that a worker of another version has put in its place under the same id."""
    return (_P.id == piece.id) & (_P.version == piece.version)


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
_FINISH = (
    update(runs)
    .where(runs.c.id == bindparam("run_id"), runs.c.state.in_(UNFINISHED))
    .values(progress=None)
    .returning(runs.c.kind)
)
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
    row = {
        "id": run_id,
        "kind": kind,
        "queue": queue,
        "state": QUEUED,
        "attempts": 0,
        "created_at": now,
        "principal": principal,
        "precedence": precedence,
        "turn": next_turn(db, queue, precedence, principal),
        "not_before": not_before,
    }
    db.execute(_ADD, row | note_stored(run_id)._asdict())


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


def requeue(db: Connection, run: Run) -> None:
    """Set a run back to `queued`, in its principal's next turn, so that a worker continues it."""
    turn = next_turn(db, run.queue, run.precedence, run.principal)
    values = {"state": QUEUED, "attempts": 0, "turn": turn}
    db.execute(update(runs).where(runs.c.id == run.id, runs.c.state == RUNNING).values(**values))


def finish(db: Connection, run_id: str, state: str, now: datetime) -> bool:
    """Set a final state and delete the pieces. Return whether this call did: only the first one does."""
    kind = db.scalar(_FINISH, {"run_id": run_id, "state": state, "finished_at": now})
    if kind in DIVIDED:
        drop_pieces(db, run_id)
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
