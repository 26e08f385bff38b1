"""Events: one list, in the order in which they were committed; the audit trail, the change feed and the replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, insert, select, text

from service.store.tables import events

ORDER_LOCK = 7_466_573_465
"""An advisory lock of PostgreSQL, held by whoever adds an event until the commit."""


@dataclass(frozen=True, slots=True)
class Event:
    """One row.

    Attributes:
        seq: its place in the list.
        id: `evt_...`.
        benchmark_id: where, None for what belongs to none.
        kind: `submission.scored`, ...
        at: when.
        actor: token that did it; None for a worker.
        team_id: whose it is, where it is a team's.
        subject: the resource.
        data: more; nothing of it comes from gold.
    """

    seq: int
    id: str
    benchmark_id: str | None
    kind: str
    at: datetime
    actor: str | None
    team_id: str | None
    subject: str | None
    data: Mapping[str, Any]


def add(db: Connection, event: Event) -> int:
    """Store an event at the end of the list: its place. The given `seq` is not looked at."""
    if db.dialect.name == "postgresql":
        # without it a later number could be seen before an earlier one, and a reader who goes on from it miss that
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ORDER_LOCK})
    result = db.execute(
        insert(events)
        .values(
            id=event.id,
            benchmark_id=event.benchmark_id,
            kind=event.kind,
            at=event.at,
            actor=event.actor,
            team_id=event.team_id,
            subject=event.subject,
            data=orjson.dumps(dict(event.data)).decode(),
        )
        .returning(events.c.seq)
    )
    seq: int = result.scalar_one()
    return seq


def by_id(db: Connection, event_id: str) -> Event | None:
    """One event, or None."""
    row = db.execute(select(events).where(events.c.id == event_id)).one_or_none()
    return None if row is None else event_of(row)


def listing(
    db: Connection,
    after: int,
    limit: int,
    *,
    benchmark_id: str | None = None,
    reader: tuple[str | None, str | None] | None = None,
) -> Sequence[Event]:
    """Events behind a place, oldest first.

    Args:
        db: the transaction.
        after: place behind which they stand.
        limit: at most so many.
        benchmark_id: only of this benchmark.
        reader: (benchmark, team) who reads; only events that are no team's or this one's. None for everything.
    """
    c = events.c
    query = select(events).where(c.seq > after).order_by(c.seq).limit(limit)
    if benchmark_id is not None:
        query = query.where(c.benchmark_id == benchmark_id)
    if reader is not None:
        query = query.where(c.team_id.is_(None) | ((c.benchmark_id == reader[0]) & (c.team_id == reader[1])))
    return [event_of(row) for row in db.execute(query)]


def event_of(row: Any) -> Event:
    """A row as an event."""
    return Event(
        seq=row.seq,
        id=row.id,
        benchmark_id=row.benchmark_id,
        kind=row.kind,
        at=row.at,
        actor=row.actor,
        team_id=row.team_id,
        subject=row.subject,
        data=orjson.loads(row.data),
    )
