"""Pieces of a large submission: groups of its parts, which any worker scores; the submission's own run joins them.

A piece is taken by setting its holder: what names the work in Redis while it is done, the id of the piece for another
worker, that of the run for the worker of the run itself. Results are written once: a second one changes
nothing. All pieces of a run are deleted in the transaction that ends it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, insert, select, tuple_, update

from service.store.records import one, record_of
from service.store.tables import pieces, runs

if TYPE_CHECKING:
    from service.store.records import AnyRow

_MARK = "-p"
_C = pieces.c
_OPEN = _C.body.is_(None)
_FREE = _OPEN & _C.holder.is_(None)
_others, _owners = pieces.alias(), runs.alias()
_UNDER_WAY = (
    select(func.count())
    .select_from(_others.join(_owners, _owners.c.id == _others.c.run_id))
    .where(_others.c.body.is_(None), _others.c.holder.is_not(None), _owners.c.principal == runs.c.principal)
    .correlate(runs)
    .scalar_subquery()
)
_NEXT_PIECE = (
    select(_C.id)
    .join(runs, runs.c.id == _C.run_id)
    .where(
        _FREE,
        runs.c.queue == bindparam("of_queue"),
        runs.c.state == "running",
        _C.attempts < bindparam("most"),
        _C.version == bindparam("of_version"),
    )
    .order_by(_UNDER_WAY, runs.c.created_at, runs.c.id, _C.first)
    .limit(1)
)
_TAKE = {"attempts": _C.attempts + 1, "done": 0}
_TAKE_NEXT = (
    update(pieces)
    .where(_FREE, _C.id == _NEXT_PIECE.with_for_update(skip_locked=True, of=pieces).scalar_subquery())
    .values({**_TAKE, "holder": _C.id})
    .returning(*_C)
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
    return name.startswith(run_id + _MARK)


def is_piece(name: str) -> bool:
    """Return whether a name is that of a piece, and not of a run."""
    return _MARK in name


def plan(db: Connection, run_id: str, revision: int, version: str, spans: Sequence[tuple[int, int]]) -> None:
    """Store the pieces of a run unless they are there, and free those that an earlier attempt of the run has begun.

    Pieces of another revision, or of another version of the program, are deleted with their results.

    Args:
        db: a transaction that has locked the run, which is running.
        run_id: the run.
        revision: number of the revision.
        version: of this program.
        spans: first and last (not included) part of each piece.
    """
    db.execute(delete(pieces).where(_C.run_id == run_id, (_C.revision != revision) | (_C.version != version)))
    if db.scalar(select(func.count()).where(_C.run_id == run_id)):
        db.execute(update(pieces).where(_C.run_id == run_id, _OPEN, _C.holder == run_id).values(holder=None))
        return
    of_run = {"run_id": run_id, "revision": revision, "version": version, "done": 0, "attempts": 0}
    rows = [
        {"id": f"{run_id}{_MARK}{revision}-{number}", "first": first, "last": last, **of_run}
        for number, (first, last) in enumerate(spans)
    ]
    db.execute(insert(pieces), rows)


def take(db: Connection, run_id: str, *, also_held: bool = False) -> Piece | None:
    """Begin the next piece of a run in the run's own worker; None where none is free.

    Args:
        db: a writing transaction.
        run_id: the run.
        also_held: whether pieces that others hold are taken from them, because it is not known whether they live.
    """
    free = _OPEN if also_held else _FREE
    following = select(_C.id).where(_C.run_id == run_id, free).order_by(_C.first).limit(1)
    begin = (
        update(pieces)
        .where(free, _C.id == following.with_for_update(skip_locked=True).scalar_subquery())
        .values({**_TAKE, "holder": run_id})
        .returning(*_C)
    )
    return one(db, begin, _piece)


def take_next(db: Connection, queue: str, version: str, most: int) -> Piece | None:
    """Begin a piece for another worker than the run's own; None where none is free.

    The principal whose pieces the fewest workers have is served first, then the oldest run.

    Args:
        db: a writing transaction.
        queue: of the run.
        version: of this program.
        most: attempts after which only the run's own worker takes a piece: it may end the worker that does it.
    """
    row = db.execute(_TAKE_NEXT, {"of_queue": queue, "of_version": version, "most": most}).one_or_none()
    return None if row is None else _piece(row)


def next_id(db: Connection, queue: str, version: str, most: int) -> str | None:
    """Return the id of the piece that `take_next` would begin, or None."""
    piece_id: str | None = db.scalar(_NEXT_PIECE, {"of_queue": queue, "of_version": version, "most": most})
    return piece_id


def done_beside(db: Connection, piece: Piece) -> int:
    """Count the parts that are done in the other pieces of its run."""
    beside = select(func.coalesce(func.sum(_C.done), 0)).where(_C.run_id == piece.run_id, _C.id != piece.id)
    return int(db.scalar(beside) or 0)


def note_done(db: Connection, piece: Piece, holder: str, done: int) -> bool:
    """Note how many parts of a piece are done. Return whether it still is the holder's."""
    mine = _is(piece) & (_C.holder == holder) & _OPEN
    return db.execute(update(pieces).where(mine).values(done=done)).rowcount == 1


def save(db: Connection, piece: Piece, body: bytes) -> bool:
    """Store the packed result of a piece. Return whether this call did: only the first one does."""
    query = update(pieces).where(_is(piece), _OPEN).values(body=body, done=piece.last - piece.first, holder=None)
    return db.execute(query).rowcount == 1


def give_back(db: Connection, lost: Mapping[str, str | None]) -> bool:
    """Let others begin pieces whose holder was lost (id -> holder). Return whether one still was that holder's."""
    held = tuple_(_C.id, _C.holder).in_(list(lost.items()))
    return db.execute(update(pieces).where(held, _OPEN).values(holder=None, done=0)).rowcount > 0


def run_of(db: Connection, piece_id: str) -> str | None:
    """Return the run of a piece, None where the piece was deleted."""
    run_id: str | None = db.scalar(select(_C.run_id).where(_C.id == piece_id))
    return run_id


def unfinished(db: Connection, run_id: str) -> Mapping[str, str | None]:
    """Return the pieces of a run that have no result: id -> holder, None for one that may be taken."""
    return {row.id: row.holder for row in db.execute(select(_C.id, _C.holder).where(_C.run_id == run_id, _OPEN))}


def results(db: Connection, run_id: str, revision: int) -> Sequence[bytes]:
    """Return the packed results of a run's pieces under a revision, in the order of parts."""
    query: Select[tuple[bytes]] = select(_C.body).where(
        _C.run_id == run_id, _C.revision == revision, _C.body.is_not(None)
    )
    return list(db.scalars(query.order_by(_C.first)))


def drop(db: Connection, run_id: str) -> None:
    """Delete the pieces of a run, which has ended."""
    db.execute(delete(pieces).where(_C.run_id == run_id))


def _piece(row: AnyRow) -> Piece:
    return record_of(Piece, row)


def _is(piece: Piece) -> ColumnElement[bool]:
    """Select a piece, and not the one that a worker of another version has put in its place under the same id."""
    return (_C.id == piece.id) & (_C.version == piece.version)
