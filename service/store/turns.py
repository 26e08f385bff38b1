"""Turns: in which order waiting runs begin, so that principals take turns however much each of them has queued.

Each run gets the number of a turn when it is stored. A principal has one run in a turn, and no run is put into a turn
before the last that was begun: who has nothing waiting is next, who has a thousand runs waiting has them in a thousand
turns. Workers begin the lowest turn first, so finding the next run is one step in an index.
"""

from __future__ import annotations

from sqlalchemy import Connection, and_, bindparam, case, delete, func, insert, select, update

from service.store.tables import runs, turns

ALL = ""
"""The principal under which the last turn that was begun is kept, of all principals."""


_LINE = and_(turns.c.queue == bindparam("of_queue"), turns.c.precedence == bindparam("of_precedence"))
_BEGUN = select(turns.c.turn).where(_LINE)
_WAITING = select(func.max(runs.c.turn)).where(
    runs.c.principal == bindparam("of_principal"),
    runs.c.state == "queued",
    runs.c.queue == bindparam("of_queue"),
    runs.c.precedence == bindparam("of_precedence"),
)
_LAST = select(
    _BEGUN.where(turns.c.principal == ALL).scalar_subquery(),
    _BEGUN.where(turns.c.principal == bindparam("of_principal")).scalar_subquery(),
    _WAITING.scalar_subquery(),
)
_ADVANCE = (
    update(turns)
    .where(_LINE, turns.c.principal.in_((ALL, bindparam("of_principal"))))
    .values(turn=case((turns.c.turn < bindparam("begun"), bindparam("begun")), else_=turns.c.turn))
)
# built once: building them takes longer than running them


def next_turn(db: Connection, queue: str, precedence: int, principal: str) -> int:
    """Return the turn of a principal's next run: after those it has, and not before the last that was begun."""
    line = {"of_queue": queue, "of_precedence": precedence, "of_principal": principal}
    begun_of_all, own, waiting = db.execute(_LAST, line).one()
    return max([int(begun_of_all or 0), *(int(turn) + 1 for turn in (own, waiting) if turn is not None)])


def note_begun(db: Connection, queue: str, precedence: int, principal: str, turn: int) -> None:
    """Note that a run of a principal begins. The transaction has locked the queue."""
    line = {"of_queue": queue, "of_precedence": precedence, "of_principal": principal}
    both = {ALL, principal}
    if db.execute(_ADVANCE, {**line, "begun": turn}).rowcount == len(both):
        return
    known = db.scalars(select(turns.c.principal).where(_LINE, turns.c.principal.in_(both)), line)
    for each in both.difference(known):
        db.execute(insert(turns).values(queue=queue, precedence=precedence, principal=each, turn=turn))


def forget(db: Connection) -> None:
    """Delete the turns of principals that are over: they no longer decide the next turn."""
    others = turns.alias()
    passed = (
        select(others.c.turn)
        .where(
            others.c.queue == turns.c.queue,
            others.c.precedence == turns.c.precedence,
            others.c.principal == ALL,
        )
        .scalar_subquery()
    )
    db.execute(delete(turns).where(turns.c.turn < passed))
