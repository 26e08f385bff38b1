"""Turns: in which order waiting runs begin, so that principals take turns however much each of them has queued.

Each run gets the number of a turn when it is stored. A principal has one run in a turn, and no run is put into a turn
before the last that was begun: who has nothing waiting is next, who has a thousand runs waiting has them in a thousand
turns. Workers begin the lowest turn first, so finding the next run is one step in an index.
"""

from __future__ import annotations

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from service.store.tables import runs, turns

ALL = ""
"""The principal under which the last turn that was begun is kept, of all principals."""


def next_turn(db: Connection, queue: str, precedence: int, principal: str) -> int:
    """Return the turn of a principal's next run: after those it has, and not before the last that was begun."""
    begun = select(turns.c.turn).where(turns.c.queue == queue, turns.c.precedence == precedence)
    waiting = select(func.max(runs.c.turn)).where(
        runs.c.principal == principal,
        runs.c.state == "queued",
        runs.c.queue == queue,
        runs.c.precedence == precedence,
    )
    query = select(
        begun.where(turns.c.principal == ALL).scalar_subquery(),
        begun.where(turns.c.principal == principal).scalar_subquery(),
        waiting.scalar_subquery(),
    )
    begun_of_all, own, last_waiting = db.execute(query).one()
    turns_after = [int(turn) + 1 for turn in (own, last_waiting) if turn is not None]
    return max([int(begun_of_all or 0), *turns_after])


def note_begun(db: Connection, queue: str, precedence: int, principal: str, turn: int) -> None:
    """Note that a run of a principal begins. The transaction has locked the queue."""
    line = and_(turns.c.queue == queue, turns.c.precedence == precedence)
    stored = select(turns.c.principal, turns.c.turn).where(line, turns.c.principal.in_((ALL, principal)))
    known = {row.principal: row.turn for row in db.execute(stored)}
    behind = [each for each, last in known.items() if last < turn]
    if behind:
        db.execute(update(turns).where(line, turns.c.principal.in_(behind)).values(turn=turn))
    for each in {ALL, principal}.difference(known):
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
