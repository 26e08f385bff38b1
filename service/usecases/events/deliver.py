"""Deliver events by Standard Webhooks: signed, retried with growing pauses, given up in the end.

Each is delivered at least once: a process that is killed while it sends leaves the delivery to be sent again, with the
same `webhook-id`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus

import orjson
import structlog
from sqlalchemy import Connection

from service import outbound
from service.caller import ADMIN, Caller
from service.context import Context
from service.meters import DELIVERIES
from service.outbound import BadAddress, NoAnswer
from service.store import delivery_log, teams, tokens, webhooks
from service.store.webhooks import DELIVERED, GIVEN_UP, WAITING, Delivery, Webhook
from service.usecases.events.listing import visible_to
from service.usecases.events.record import record_event
from service.usecases.events.webhooks import SECRET_PREFIX

PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400))
"""Pauses between the attempts at one delivery: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h; ten attempts in all."""
ATTEMPTS = len(PAUSES) + 1
LEASE = timedelta(seconds=120)
"""Time after which a delivery that was begun and not ended is begun again."""
AT_ONCE = 8
"""Webhooks that are delivered to at the same time."""
IN_A_ROW = 4
"""Deliveries to one webhook in one round, so that a busy webhook does not delay the others."""
LOOKED_AT = 256
LOGGED = 200
"""Deliveries of one webhook that have ended and stay in its log."""
log = structlog.get_logger("treescore.webhooks")
Send = Callable[[str, bytes, Mapping[str, str]], int]


class Outcome(StrEnum):
    """How an attempt at a delivery ended: FAILED is tried again, DROPPED may not be sent any more."""

    DELIVERED = "delivered"
    FAILED = "failed"
    GIVEN_UP = "given_up"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Message:
    """A message: the headers that sign it, and its body."""

    headers: Mapping[str, str]
    body: bytes


def deliver_due(context: Context, send: Send | None = None) -> int:
    """Try each due delivery once. Return how many were tried.

    Args:
        context: of this process.
        send: (URL, body, headers) -> status; over the network by default.
    """
    now = context.now()
    with context.store.read() as db:
        due = webhooks.due(db, now, LOOKED_AT)
    if not due:
        return 0
    by_webhook: dict[str, list[Delivery]] = {}
    for delivery in due:
        by_webhook.setdefault(delivery.webhook.id, []).append(delivery)
    with context.store.write() as db:
        batches = [_claimed(db, batch, now) for batch in by_webhook.values()]
    chosen = send if send is not None else _sender(context)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sum(pool.map(lambda batch: _deliver(context, batch, chosen), batches))


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return `v1,...` of Standard Webhooks: HMAC-SHA256 over id, timestamp and body, joined by dots."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def _claimed(db: Connection, batch: Sequence[Delivery], now: datetime) -> list[Delivery]:
    return [delivery for delivery in batch[:IN_A_ROW] if webhooks.claim(db, delivery, now + LEASE)]


def _sender(context: Context) -> Send:
    private = context.config.webhooks_private
    return lambda url, body, headers: outbound.post(url, body, headers, private=private)


def _deliver(context: Context, batch: Sequence[Delivery], send: Send) -> int:
    """Send the deliveries of one webhook one after the other; after a failure the rest is postponed."""
    tried = 0
    failed = False
    for delivery in batch:
        if failed:
            with context.store.write() as db:
                webhooks.postpone(db, delivery.id, context.now() + PAUSES[0])
            continue
        with context.store.read() as db:
            caller = _reader(db, context, delivery.webhook)
            message = None if caller is None else _message(db, context, caller, delivery)
        if message is None:
            _drop(context, delivery, end_webhook=caller is None)
            _note(context, delivery, Outcome.DROPPED, None)
            continue
        tried += 1
        status = _status(send, delivery.webhook.url, message)
        outcome = _settle(context, delivery, status)
        _note(context, delivery, outcome, status)
        failed = outcome is not Outcome.DELIVERED
    return tried


def _note(context: Context, delivery: Delivery, outcome: Outcome, status: int | None) -> None:
    """Count an attempt, and write its line: `run` is the id of what the event is about."""
    context.meters.count(DELIVERIES, outcome)
    event = delivery.event
    log.info(
        "delivery", run=event.subject, type=event.kind, event_id=event.id, webhook=delivery.webhook.id,
        outcome=outcome, status=status, attempt=delivery.attempts + 1,
    )  # fmt: skip


def _status(send: Send, url: str, message: Message) -> int | None:
    try:
        return send(url, message.body, message.headers)
    except (BadAddress, NoAnswer):
        return None


def _message(db: Connection, context: Context, caller: Caller, delivery: Delivery) -> Message | None:
    """Make a message of type, time and ids: the receiver reads the rest with a token. None if it may not be sent."""
    hook = delivery.webhook
    shown = visible_to(db, context, caller, hook, delivery.event)
    if shown is None:
        return None
    data = {"event": shown["id"], **{name: shown[name] for name in ("benchmark", "team", "subject")}}
    body = orjson.dumps({"type": shown["type"], "timestamp": shown["at"], "data": data})
    now, message_id = context.now(), str(shown["id"])
    timestamp = int(now.timestamp())
    signatures = [signature(secret, message_id, timestamp, body) for secret in hook.secrets(now)]
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Treescore",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }
    return Message(headers, body)


def _reader(db: Connection, context: Context, hook: Webhook) -> Caller | None:
    """Return the caller on whose behalf it is sent; None if it may not read any more. A team's token may change."""
    if hook.team_id is not None and hook.benchmark_id is not None:
        team = teams.get(db, hook.benchmark_id, hook.team_id)
        if team is None or team.erased_at is not None:
            return None
        return Caller(hook.owner, frozenset({"submit"}), hook.team_id, hook.benchmark_id)
    if hook.owner == ADMIN:
        return Caller(ADMIN, frozenset({"organise"})) if context.config.admin_token else None
    row = tokens.by_id(db, hook.owner)
    if row is None or row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= context.now()):
        return None
    return Caller(row.id, frozenset(row.scopes.split()), row.team_id, row.benchmark_id)


def _settle(context: Context, delivery: Delivery, status: int | None) -> Outcome:
    """Record how an attempt ended, and return it."""
    received = status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    now = context.now()
    attempts = delivery.attempts + 1
    with context.store.write() as db:
        failures = webhooks.count_failures(db, delivery.webhook.id, delivered=received)
        if not received and status != HTTPStatus.GONE and attempts < ATTEMPTS:
            next_at = now + PAUSES[attempts - 1]
            webhooks.note_attempt(db, delivery, status, now, state=WAITING, next_at=next_at)
            return Outcome.FAILED
        state = DELIVERED if received else GIVEN_UP
        webhooks.note_attempt(db, delivery, status, now, state=state, next_at=None)
        # where others were received since, only this one is given up
        if status == HTTPStatus.GONE or (not received and failures >= ATTEMPTS):
            _disable(db, context, delivery.webhook)
        delivery_log.trim(db, delivery.webhook.id, LOGGED)
    return Outcome.DELIVERED if received else Outcome.GIVEN_UP


def _drop(context: Context, delivery: Delivery, *, end_webhook: bool) -> None:
    with context.store.write() as db:
        webhooks.drop_delivery(db, delivery.id)
        if end_webhook:
            _disable(db, context, delivery.webhook)


def _disable(db: Connection, context: Context, hook: Webhook) -> None:
    if webhooks.disable(db, hook.id, context.now()):
        record_event(db, context, "webhook.disabled", hook.benchmark_id, team_id=hook.team_id, subject=hook.id)
