"""The log of a webhook's deliveries: what was sent, what waits, and how often it was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Select, delete, func, select

from service.store.events import Event, event_of
from service.store.records import AnyRow, one
from service.store.tables import deliveries, events
from service.store.webhooks import WAITING


@dataclass(frozen=True, slots=True)
class LoggedDelivery:
    """One delivery of an event, under way or ended.

    Attributes:
        id: `del_...`.
        event: that is delivered.
        state: `waiting`, `delivered` or `given_up`.
        attempts: how often it was tried.
        last_status: HTTP status of the last answer; None without one.
        created_at: when it was made.
        attempted_at: when it was last tried; None before.
        next_at: when it is tried next; None once it has ended.
    """

    id: str
    event: Event
    state: str
    attempts: int
    last_status: int | None
    created_at: datetime
    attempted_at: datetime | None
    next_at: datetime | None


def listing(db: Connection, webhook_id: str, before: str | None, limit: int) -> Sequence[LoggedDelivery]:
    """List the deliveries of a webhook, newest first."""
    query = _query().where(deliveries.c.webhook_id == webhook_id)
    if before is not None:
        query = query.where(deliveries.c.id < before)
    return [_logged(row) for row in db.execute(query.order_by(deliveries.c.id.desc()).limit(limit))]


def get(db: Connection, webhook_id: str, delivery_id: str) -> LoggedDelivery | None:
    """Return one delivery of a webhook, or None."""
    of_it = (deliveries.c.webhook_id == webhook_id) & (deliveries.c.id == delivery_id)
    return one(db, _query().where(of_it), _logged)


def waiting(db: Connection, webhook_id: str) -> int:
    """Count the deliveries of a webhook that have not ended."""
    of_it = (deliveries.c.webhook_id == webhook_id) & (deliveries.c.state == WAITING)
    return int(db.scalar(select(func.count()).select_from(deliveries).where(of_it)) or 0)


def trim(db: Connection, webhook_id: str, kept: int) -> None:
    """Delete the deliveries of a webhook that have ended, all but the newest ones."""
    c = deliveries.c
    ended = (c.webhook_id == webhook_id) & (c.state != WAITING)
    oldest = db.scalar(select(c.id).where(ended).order_by(c.id.desc()).offset(kept).limit(1))
    if oldest is not None:
        db.execute(delete(deliveries).where(ended, c.id <= oldest))


def _query() -> Select[tuple[object, ...]]:
    c = deliveries.c
    own = (c.state, c.attempts, c.last_status, c.created_at, c.attempted_at, c.next_at)
    return select(c.id.label("delivery_id"), *own, *events.c).join_from(deliveries, events, c.event_seq == events.c.seq)


def _logged(row: AnyRow) -> LoggedDelivery:
    return LoggedDelivery(
        row.delivery_id, event_of(row), row.state, row.attempts, row.last_status,
        row.created_at, row.attempted_at, row.next_at,
    )  # fmt: skip
