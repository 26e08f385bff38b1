"""Events in the order of their commits: audit trail, change feed and replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import Connection, insert, select, text

from service.store.records import AnyRow, columns_of, json_text, one, record_of
from service.store.tables import events

ORDER_LOCK = 7_466_573_465
"""An advisory lock of PostgreSQL, held from adding an event until the commit."""


@dataclass(frozen=True, slots=True)
class Event:
    """One row.

    Attributes:
        seq: its position in the list.
        id: `evt_...`.
        benchmark_id: the benchmark, where there is one.
        kind: `submission.scored`, ...
        at: when.
        actor: id of the token that did it; None for a worker.
        team_id: the team concerned, where there is one.
        subject: id of the resource.
        data: details; nothing of it comes from gold.
    """

    seq: int
    id: str
    benchmark_id: str | None
    kind: str
    at: datetime
    actor: str | None
    team_id: str | None
    subject: str | None
    data: Mapping[str, object]


def add(db: Connection, event: Event) -> int:
    """Store an event at the end of the list and return its position. `event.seq` is ignored."""
    if db.dialect.name == "postgresql":
        # without it a reader could see a later number before an earlier one, continue from there and miss an event
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ORDER_LOCK})
    columns = columns_of(event, data=json_text(dict(event.data)))
    del columns["seq"]
    seq: int = db.execute(insert(events).values(columns).returning(events.c.seq)).scalar_one()
    return seq


def by_id(db: Connection, event_id: str) -> Event | None:
    """Return one event, or None."""
    return one(db, select(events).where(events.c.id == event_id), event_of)


def listing(
    db: Connection,
    after: int,
    limit: int,
    *,
    benchmark_id: str | None = None,
    reader: tuple[str | None, str | None] | None = None,
) -> Sequence[Event]:
    """List events after a position, oldest first.

    Args:
        db: the transaction.
        after: the position.
        limit: maximum number of events.
        benchmark_id: only of this benchmark.
        reader: (benchmark, team) of the reader, who sees the events of this team and of no team. None for all events.
    """
    c = events.c
    query = select(events).where(c.seq > after).order_by(c.seq).limit(limit)
    if benchmark_id is not None:
        query = query.where(c.benchmark_id == benchmark_id)
    if reader is not None:
        query = query.where(c.team_id.is_(None) | ((c.benchmark_id == reader[0]) & (c.team_id == reader[1])))
    return [event_of(row) for row in db.execute(query)]


def event_of(row: AnyRow) -> Event:
    """Make an event of a row."""
    return record_of(Event, row, data=orjson.loads(row.data))
