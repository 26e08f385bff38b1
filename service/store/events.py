"""Events in the order of their commits: audit trail and change feed; webhooks, and the log of deliveries.

The log says what was sent to a webhook, what waits, and how often it was tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select, update

from service.store import tables
from service.store.database import lock
from service.store.tables import columns_of, deliveries, events, json_text, one, record_of, webhooks


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
    # until the commit: else a reader could see a later number before an earlier one, go on from there and miss an event
    lock(db, "events")
    columns = columns_of(event, data=json_text(dict(event.data)))
    del columns["seq"]
    seq: int = db.execute(insert(events).values(columns).returning(events.c.seq)).scalar_one()
    return seq


def nth_last_of(db: Connection, actor: str, number: int) -> datetime | None:
    """Return when an actor made the change after which it has made `number` - 1 more; None where it made fewer."""
    c = events.c
    query = select(c.at).where(c.actor == actor).order_by(c.seq.desc()).offset(number - 1).limit(1)
    found: datetime | None = db.scalar(query)
    return found


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
        reader: (benchmark, team) of the reader, who sees the events of this team (without one, of all teams of the
            benchmark) and of no team. None for all events.
    """
    c = events.c
    query = tables.narrowed(tables.page_from(select(events), c.seq, after, limit), (c.benchmark_id, benchmark_id))
    if reader is not None:
        own = c.benchmark_id == reader[0]
        own = own if reader[1] is None else own & (c.team_id == reader[1])
        query = query.where(c.team_id.is_(None) | own)
    return [event_of(row) for row in db.execute(query)]


def event_of(row: tables.AnyRow) -> Event:
    """Make an event of a row."""
    return record_of(Event, row, data=orjson.loads(row.data))


WAITING, DELIVERED, GIVEN_UP = "waiting", "delivered", "given_up"


@dataclass(frozen=True, slots=True)
class Webhook:
    """One row.

    Attributes:
        id: `whk_...`.
        owner: id of the token that created it.
        benchmark_id: the benchmark whose events it receives; None for all that its owner may see.
        team_id: the team whose token created it, if any.
        url: of the receiver.
        secret: `whsec_...`, signs every delivery.
        kinds: of events; empty for all.
        created_at: when it was created.
        disabled_at: when it was disabled.
        failures: failed deliveries since the last successful one.
    """

    id: str
    owner: str
    benchmark_id: str | None
    team_id: str | None
    url: str
    secret: str
    kinds: tuple[str, ...]
    created_at: datetime
    disabled_at: datetime | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """The pending delivery of an event to a webhook.

    Attributes:
        id: of the delivery.
        webhook: the receiver.
        event: the event.
        attempts: number of failed attempts.
        next_at: when it is due.
    """

    id: str
    webhook: Webhook
    event: Event
    attempts: int
    next_at: datetime


def add_webhook(db: Connection, webhook: Webhook) -> None:
    """Store a new webhook."""
    db.execute(insert(webhooks).values(columns_of(webhook, kinds=" ".join(webhook.kinds))))


def get_webhook(db: Connection, webhook_id: str) -> Webhook | None:
    """Return one webhook, or None."""
    return one(db, select(webhooks).where(webhooks.c.id == webhook_id), _webhook)


def webhooks_of(
    db: Connection, team: tuple[str, str] | None, before: str | None, limit: int, owner: str | None = None
) -> Sequence[Webhook]:
    """List the webhooks of a team (benchmark, team), or those without a team (of one owner), newest first."""
    query = select(webhooks).where(*_owned_by(team, owner))
    return [_webhook(row) for row in db.execute(tables.page_down(query, webhooks.c.id, before, limit))]


def webhook_count(db: Connection, team: tuple[str, str] | None, owner: str | None = None) -> int:
    """Count the webhooks that `listing` shows."""
    return tables.count(db, select(func.count()).select_from(webhooks).where(*_owned_by(team, owner)))


def drop_webhook(db: Connection, webhook_id: str) -> None:
    """Delete a webhook and its deliveries."""
    db.execute(delete(deliveries).where(deliveries.c.webhook_id == webhook_id))
    db.execute(delete(webhooks).where(webhooks.c.id == webhook_id))


def disable_webhook(db: Connection, webhook_id: str, now: datetime) -> bool:
    """Disable a webhook and give up its deliveries; True where it was not disabled before."""
    waiting = (deliveries.c.webhook_id == webhook_id) & (deliveries.c.state == WAITING)
    db.execute(update(deliveries).where(waiting).values(state=GIVEN_UP, next_at=None))
    enabled = (webhooks.c.id == webhook_id) & webhooks.c.disabled_at.is_(None)
    return db.execute(update(webhooks).where(enabled).values(disabled_at=now)).rowcount == 1


def count_failures(db: Connection, webhook_id: str, *, delivered: bool) -> int:
    """Count failures in a row and return their number."""
    failures = 0 if delivered else webhooks.c.failures + 1
    result = db.execute(
        update(webhooks).where(webhooks.c.id == webhook_id).values(failures=failures).returning(webhooks.c.failures)
    )
    return int(result.scalar() or 0)


def subscribed(db: Connection, event: Event) -> Sequence[Webhook]:
    """List the webhooks that an event is sent to. Whether they may see it is checked on delivery."""
    c = webhooks.c
    query = select(webhooks).where(
        c.disabled_at.is_(None), c.benchmark_id.is_(None) | (c.benchmark_id == event.benchmark_id)
    )
    if event.team_id is not None:
        query = query.where(c.team_id.is_(None) | (c.team_id == event.team_id))
    hooks = [_webhook(row) for row in db.execute(query)]
    return [webhook for webhook in hooks if not webhook.kinds or event.kind in webhook.kinds]


def add_delivery(db: Connection, delivery_id: str, webhook_id: str, event_seq: int, now: datetime) -> None:
    """Store the delivery of an event to a webhook."""
    what = {"id": delivery_id, "webhook_id": webhook_id, "event_seq": event_seq}
    db.execute(insert(deliveries).values(**what, attempts=0, state=WAITING, created_at=now, next_at=now))


def due_deliveries(db: Connection, now: datetime, limit: int, in_a_row: int) -> Sequence[Delivery]:
    """List the deliveries that are due, webhook by webhook in turns: each has its longest due one before a second.

    Args:
        db: the transaction.
        now: when.
        limit: the most of all.
        in_a_row: the most of one webhook.
    """
    d = deliveries.c
    turn = func.row_number().over(partition_by=d.webhook_id, order_by=(d.next_at, d.event_seq)).label("turn")
    due = (
        select(d.id, d.webhook_id, d.event_seq, d.attempts, d.next_at, turn)
        .where(d.state == WAITING, d.next_at <= now)
        .subquery()
    )
    hooks = [column.label(f"hook_{column.name}") for column in webhooks.c]
    query = (
        select(due.c.id.label("delivery_id"), due.c.attempts, due.c.next_at, *hooks, *events.c)
        .join_from(due, webhooks, due.c.webhook_id == webhooks.c.id)
        .join(events, due.c.event_seq == events.c.seq)
        .where(due.c.turn <= in_a_row, webhooks.c.disabled_at.is_(None))
        .order_by(due.c.turn, due.c.next_at, due.c.event_seq)
        .limit(limit)
    )
    return [
        Delivery(row.delivery_id, _webhook(row, "hook_"), event_of(row), row.attempts, row.next_at)
        for row in db.execute(query)
    ]


def claim_delivery(db: Connection, delivery: Delivery, until: datetime) -> bool:
    """Keep others from sending a delivery until a time; False where another sender has claimed it."""
    free = (deliveries.c.id == delivery.id) & (deliveries.c.next_at == delivery.next_at)
    return db.execute(update(deliveries).where(free).values(next_at=until)).rowcount == 1


def drop_delivery(db: Connection, delivery_id: str) -> None:
    """Delete a delivery that may not be sent."""
    db.execute(delete(deliveries).where(deliveries.c.id == delivery_id))


def postpone(db: Connection, webhook_id: str, claimed: Sequence[str], until: datetime) -> None:
    """Let a webhook rest: no attempt at a delivery before a time; those that were `claimed` are then due."""
    c = deliveries.c
    due = (c.webhook_id == webhook_id) & (c.state == WAITING) & ((c.next_at < until) | c.id.in_(claimed))
    db.execute(update(deliveries).where(due).values(next_at=until))


def note_attempt(
    db: Connection, delivery: Delivery, status: int | None, now: datetime, *, state: str, next_at: datetime | None
) -> None:
    """Store how an attempt ended: the delivery waits for another one at `next_at`, or has ended."""
    db.execute(
        update(deliveries)
        .where(deliveries.c.id == delivery.id)
        .values(attempts=delivery.attempts + 1, last_status=status, attempted_at=now, state=state, next_at=next_at)
    )


def _owned_by(team: tuple[str, str] | None, owner: str | None) -> list[ColumnElement[bool]]:
    c = webhooks.c
    if team is not None:
        return [c.benchmark_id == team[0], c.team_id == team[1]]
    return [c.team_id.is_(None), *([] if owner is None else [c.owner == owner])]


def _webhook(row: tables.AnyRow, prefix: str = "") -> Webhook:
    return record_of(Webhook, row, prefix, kinds=tuple(getattr(row, f"{prefix}kinds").split()))


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


def logged_deliveries(db: Connection, webhook_id: str, before: str | None, limit: int) -> Sequence[LoggedDelivery]:
    """List the deliveries of a webhook, newest first."""
    query = _logged_query().where(deliveries.c.webhook_id == webhook_id)
    return [_logged(row) for row in db.execute(tables.page_down(query, deliveries.c.id, before, limit))]


def logged_delivery(db: Connection, delivery_id: str) -> LoggedDelivery:
    """Return one delivery, which must be stored."""
    return _logged(db.execute(_logged_query().where(deliveries.c.id == delivery_id)).one())


def waiting_deliveries(db: Connection, webhook_id: str) -> int:
    """Count the deliveries of a webhook that have not ended."""
    of_it = (deliveries.c.webhook_id == webhook_id) & (deliveries.c.state == WAITING)
    return tables.count(db, select(func.count()).select_from(deliveries).where(of_it))


def trim_log(db: Connection, webhook_id: str, kept: int) -> None:
    """Delete the deliveries of a webhook that have ended, all but the newest ones."""
    c = deliveries.c
    ended = (c.webhook_id == webhook_id) & (c.state != WAITING)
    oldest = db.scalar(select(c.id).where(ended).order_by(c.id.desc()).offset(kept).limit(1))
    if oldest is not None:
        db.execute(delete(deliveries).where(ended, c.id <= oldest))


def _logged_query() -> Select[tuple[object, ...]]:
    c = deliveries.c
    own = (c.state, c.attempts, c.last_status, c.created_at, c.attempted_at, c.next_at)
    return select(c.id.label("delivery_id"), *own, *events.c).join_from(deliveries, events, c.event_seq == events.c.seq)


def _logged(row: tables.AnyRow) -> LoggedDelivery:
    return record_of(LoggedDelivery, row, id=row.delivery_id, event=event_of(row))
