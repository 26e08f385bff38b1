"""Show the log of a webhook's deliveries, send a test, and send an event again."""

from __future__ import annotations

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import LONGEST_SHOWN, Conflict, NotFound
from service.ids import new_id
from service.requests import WEBHOOK_TEST, PageQuery
from service.store import delivery_log, webhooks
from service.store.delivery_log import LoggedDelivery
from service.store.webhooks import WAITING, Webhook
from service.usecases.access.access import storable
from service.usecases.events.listing import visible_to
from service.usecases.events.record import record_event
from service.usecases.events.webhooks import own_webhook
from service.usecases.runs.views import Page, moment, page_of

MOST_WAITING = 100
"""Waiting deliveries of a webhook beyond which no test and no replay is added."""


def send_test(context: Context, caller: Caller, webhook_id: str) -> dict[str, object]:
    """Send an event `webhook.test` to this webhook only, also if it takes other kinds; return its delivery.

    Raises:
        NotFound: the webhook does not exist, or belongs to another caller.
        Conflict: it is disabled, or too many deliveries wait.
    """
    with context.store.write() as db:
        hook = own_webhook(db, caller, webhook_id)
        _require_sending(db, hook)
        made = record_event(
            db, context, WEBHOOK_TEST, hook.benchmark_id, actor=caller.owner, team_id=hook.team_id, subject=hook.id,
            only=hook,
        )  # fmt: skip
        return _shown(db, hook, made[0])


def list_deliveries(context: Context, caller: Caller, webhook_id: str, query: PageQuery) -> Page:
    """List the deliveries of a webhook, newest first, of those events that the caller may know of now.

    Raises:
        NotFound: the webhook does not exist, or belongs to another caller.
    """
    shown: list[LoggedDelivery] = []
    before, more = query.cursor, True
    with context.store.read() as db:
        hook = own_webhook(db, caller, webhook_id)
        while more and len(shown) <= query.limit:
            rows = delivery_log.listing(db, hook.id, before, query.limit + 1)
            shown += [row for row in rows if visible_to(db, context, caller, hook, row.event) is not None]
            more = len(rows) > query.limit
            before = rows[-1].id if rows else before
    return page_of(shown, query.limit, _delivery_document)


def replay_delivery(context: Context, caller: Caller, webhook_id: str, delivery_id: str) -> dict[str, object]:
    """Deliver the event of a delivery again, under the same `webhook-id`; return the new delivery.

    Raises:
        NotFound: webhook or delivery do not exist, or the caller may not know of them.
        Conflict: the webhook is disabled, the delivery has not ended, or too many wait.
    """
    now = context.now()
    with context.store.write() as db:
        hook = own_webhook(db, caller, webhook_id)
        known = delivery_log.get(db, hook.id, delivery_id) if storable(delivery_id) else None
        if known is None or visible_to(db, context, caller, hook, known.event) is None:
            shown = delivery_id[:LONGEST_SHOWN]
            raise NotFound(f"Unknown delivery {shown!r} of webhook {hook.id}. The log keeps the newest ones.")
        _require_sending(db, hook)
        if known.state == WAITING:
            detail = f"The delivery {known.id} is still waiting; it is tried next at {moment(known.next_at)}."
            raise Conflict(detail, slug="delivery-waiting")
        made = new_id("del", now)
        webhooks.add_delivery(db, made, hook.id, known.event.seq, now)
        return _shown(db, hook, made)


def _require_sending(db: Connection, hook: Webhook) -> None:
    if hook.disabled_at is not None:
        raise Conflict(f"The webhook {hook.id} was disabled. Create another one.", slug="webhook-disabled")
    if delivery_log.waiting(db, hook.id) >= MOST_WAITING:
        detail = f"{MOST_WAITING} deliveries of the webhook {hook.id} wait already. Send this once they have ended."
        raise Conflict(detail, slug="too-many-deliveries")


def _shown(db: Connection, hook: Webhook, delivery_id: str) -> dict[str, object]:
    made = delivery_log.get(db, hook.id, delivery_id)
    if made is None:
        raise RuntimeError(f"the delivery {delivery_id} was not stored")
    return _delivery_document(made)


def _delivery_document(delivery: LoggedDelivery) -> dict[str, object]:
    return {
        "id": delivery.id,
        "event": delivery.event.id,
        "type": delivery.event.kind,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "last_status": delivery.last_status,
        "at": moment(delivery.created_at),
        "attempted_at": moment(delivery.attempted_at),
        "next_at": moment(delivery.next_at),
    }
