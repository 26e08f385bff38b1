"""Record events in the transaction of the change they report, list them, and deliver them to webhooks.

Each caller sees what it may know of. Deliveries follow Standard Webhooks: signed, retried with growing pauses, given up
in the end. Each event is delivered at least once: a process that is killed while it sends leaves the delivery to be
sent again, with the same `webhook-id`. The log of deliveries is shown; a test is sent when asked for.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from math import ceil

import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from service import errors, logs, monitoring, outbound, requests
from service.caller import ADMIN, Caller, new_id
from service.context import Context
from service.contract.access import EventsQuery, WebhookRequest
from service.contract.common import PageQuery
from service.policy import gate, release
from service.store import benchmarks, events, submissions, tokens
from service.store.benchmarks import Benchmark
from service.store.events import DELIVERED, GIVEN_UP, WAITING, Delivery, Event, LoggedDelivery, Webhook
from service.usecases import access, runs


def record_event(
    db: Connection,
    context: Context,
    kind: str,
    benchmark_id: str | None,
    *,
    actor: str | None = None,
    team_id: str | None = None,
    subject: str | None = None,
    data: Mapping[str, object] | None = None,
    only: Webhook | None = None,
) -> list[str]:
    """Record an event, and queue its deliveries to webhooks. Return their ids.

    Args:
        db: the transaction of the change.
        context: for the clock.
        kind: `benchmark.created`, `revision.active`, `submission.scored`, ...
        benchmark_id: of the benchmark, if there is one.
        actor: id of the token that made the change; None for a worker.
        team_id: of the team, if it belongs to one.
        subject: id of the resource, if it is not the benchmark.
        data: further members; nothing from gold.
        only: the webhook that it is sent to; None for all that take it.
    """
    now = context.now()
    at = gate.whole_second(now) if actor is None else now  # how long work takes depends on gold
    event = Event(0, new_id("evt", at), benchmark_id, kind, at, actor, team_id, subject, dict(data or {}))
    hooks = events.subscribed(db, event) if only is None else [only]
    seq = events.add(db, event)
    made = [new_id("del", now) for _ in hooks]
    for hook, delivery_id in zip(hooks, made, strict=True):
        events.add_delivery(db, delivery_id, hook.id, seq, now)
    return made


def require_changes_left(db: Connection, context: Context, caller: Caller) -> None:
    """Refuse a change of a caller that has made as many as it may in an hour: each event goes to webhooks.

    Raises:
        TooManyRequests: with the seconds until one is an hour old. Organisers have no limit.
    """
    most = context.config.max_changes
    if not most or caller.organises(caller.benchmark):
        return
    made = events.nth_last_of(db, caller.owner, most)
    left = None if made is None else made + CHANGES_WITHIN - context.now()
    if left is not None and left > timedelta(0):
        raise errors.TooManyRequests(
            f"The limit of {most} changes of one token in an hour is reached. Send fewer, or wait.",
            slug="too-many-changes",
            headers={"Retry-After": str(ceil(left.total_seconds()))},
        )


CHANGES_WITHIN = timedelta(hours=1)
BATCH = 200
"""Rows that are read together; the caller may not know of some."""
MOST_BATCHES = 20


def list_events(context: Context, caller: Caller, query: EventsQuery) -> runs.Page:
    """List events after the one named by `after`, oldest first: organisers see all, teams their own and public ones.

    Other callers see the public ones of the benchmarks that they may know of.

    `next` is set while more may follow; use the last id of a page as `after` for later events.

    Raises:
        NotFound: the event `after` is unknown.
    """
    listed: list[dict[str, object]] = []
    known: dict[str, Benchmark | None] = {}
    with context.store.read() as db:
        seq = 0 if query.after is None else _seq(db, query.after)
        reader = None if caller.organiser else (caller.benchmark, caller.team)
        for _ in range(MOST_BATCHES):
            batch = events.listing(db, seq, BATCH, benchmark_id=query.benchmark, reader=reader)
            for event in batch:
                shown = visible(db, context, caller, event, known)
                if shown is not None:
                    listed.append(shown)
                if len(listed) > query.limit:
                    return runs.Page(listed[: query.limit], str(listed[query.limit - 1]["id"]))
                seq = event.seq
            if len(batch) < BATCH:
                return runs.Page(listed)
    return runs.Page(listed, batch[-1].id)


def visible(
    db: Connection, context: Context, caller: Caller, event: Event, known: dict[str, Benchmark | None] | None = None
) -> dict[str, object] | None:
    """Return an event as a caller may see it now; None if the caller may not know of it.

    `known` holds benchmarks that were read already.
    """
    slug, seen = event.benchmark_id, {} if known is None else known
    if slug is not None and slug not in seen:
        seen[slug] = benchmarks.get(db, slug)
    benchmark = None if slug is None else seen[slug]
    if benchmark is not None and not gate.knows(benchmark, caller):
        return None
    level = None if benchmark is None else release.Release.of(benchmark, caller, context.now()).level
    return gate.event_view(level, caller, _event_document(event))


def visible_to(
    db: Connection, context: Context, caller: Caller, hook: Webhook, event: Event
) -> dict[str, object] | None:
    """Return an event as a webhook may send it on behalf of a caller; None if the caller may not know of it.

    The owner of a webhook may know of its tests.
    """
    if event.kind == requests.WEBHOOK_TEST and event.subject == hook.id:
        return gate.test_view(_event_document(event))
    return visible(db, context, caller, event)


def _seq(db: Connection, event_id: str) -> int:
    known = events.by_id(db, event_id)
    if known is None:
        raise errors.NotFound(f"Unknown event {event_id[:80]!r}. Use the last id of a previous page as `after`.")
    return known.seq


def _event_document(event: Event) -> dict[str, object]:
    about = runs.shown_members(event, "at", "benchmark_id", "team_id", "subject", "actor", "data")
    return {"id": event.id, "type": event.kind, **about}


# webhooks

SECRET_PREFIX = "whsec_"  # noqa: S105 - a prefix, no secret
SECRET_BYTES = 32
MOST_WEBHOOKS = 20
"""Webhooks of one team, and of one organiser token."""


def create_webhook(context: Context, caller: Caller, request: WebhookRequest) -> dict[str, object]:
    """Create a webhook. Only this answer has its secret.

    A team gets its own events and the public ones of its benchmark, an organiser gets all.

    Raises:
        Unprocessable: the service does not send to this URL.
        Conflict: the caller has too many webhooks.
    """
    caller.require("submit")
    now = context.now()
    try:
        outbound.check_url(request.url, private=context.config.webhooks_private)
    except outbound.BadAddress as error:
        raise errors.invalid("bad-webhook-url", "/url", str(error)) from error
    slug = request.benchmark if caller.benchmark is None else caller.benchmark
    if request.benchmark not in (None, slug):
        detail = f"Your token is for the benchmark {slug!r} only. Leave the benchmark out, or name this one."
        raise errors.invalid("bad-value", "/benchmark", detail)
    secret = _new_secret()
    kinds = tuple(dict.fromkeys(request.kinds))
    hook = Webhook(new_id("whk", now), caller.owner, slug, caller.team, request.url, secret, kinds, now)
    with context.store.write() as db:
        require_changes_left(db, context, caller)
        if slug is not None:
            access.benchmark_of(db, slug, caller)
        if events.webhook_count(db, _team(caller), caller.owner) >= MOST_WEBHOOKS:
            raise errors.Conflict(
                f"The limit of {MOST_WEBHOOKS} webhooks is reached. Delete one first.", slug="too-many-webhooks"
            )
        events.add_webhook(db, hook)
        record_event_of(db, context, "webhook.created", hook, caller.owner)
    return {**_webhook_document(hook), "secret": secret}


def list_webhooks(context: Context, caller: Caller, query: PageQuery) -> runs.Page:
    """List the webhooks of the caller or the caller's team, newest first, without secrets; organisers see all."""
    caller.require("submit")
    with context.store.read() as db:
        owner = None if caller.organiser else caller.owner
        rows = events.webhooks_of(db, _team(caller), query.cursor, query.limit + 1, owner)
    return runs.page_of(rows, query.limit, _webhook_document)


def delete_webhook(context: Context, caller: Caller, webhook_id: str) -> None:
    """Delete a webhook; its pending deliveries are not sent.

    Raises:
        NotFound: it does not exist, or belongs to another caller.
    """
    with context.store.write() as db:
        hook = own_webhook(db, caller, webhook_id)
        require_changes_left(db, context, caller)
        events.drop_webhook(db, hook.id)
        record_event_of(db, context, "webhook.deleted", hook, caller.owner)


def own_webhook(db: Connection, caller: Caller, webhook_id: str) -> Webhook:
    """Return a webhook that the caller may change.

    Raises:
        Forbidden: the token lacks the scope.
        NotFound: the webhook does not exist, or belongs to another caller.
    """
    caller.require("submit")
    hook = events.get_webhook(db, webhook_id) if access.storable(webhook_id) else None
    if hook is None or not _may_change(caller, hook):
        raise errors.NotFound(f"Unknown webhook {webhook_id[: errors.LONGEST_SHOWN]!r}.")
    return hook


def record_event_of(
    db: Connection,
    context: Context,
    kind: str,
    about: submissions.Submission | Webhook,
    actor: str | None = None,
    data: Mapping[str, object] | None = None,
    only: Webhook | None = None,
) -> list[str]:
    """Record an event of a resource that a team may have, as `record_event`."""
    slug, team_id, subject = about.benchmark_id, about.team_id, about.id
    return record_event(db, context, kind, slug, actor=actor, team_id=team_id, subject=subject, data=data, only=only)


def _new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def _team(caller: Caller) -> tuple[str, str] | None:
    return (caller.benchmark, caller.team) if caller.benchmark is not None and caller.team is not None else None


def _may_change(caller: Caller, hook: Webhook) -> bool:
    if caller.organiser:
        return True
    if hook.team_id is not None:
        return _team(caller) == (hook.benchmark_id, hook.team_id)
    return hook.owner == caller.token_id


def _webhook_document(hook: Webhook) -> dict[str, object]:
    names = ("id", "url", "kinds", "benchmark_id", "team_id", "created_at", "disabled_at", "failures")
    return runs.shown_members(hook, *names)


MOST_WAITING = 100
"""Waiting deliveries of a webhook beyond which no test is added."""


def send_test(context: Context, caller: Caller, webhook_id: str) -> dict[str, object]:
    """Send an event `webhook.test` to this webhook only, also if it takes other kinds; return its delivery.

    Raises:
        NotFound: the webhook does not exist, or belongs to another caller.
        Conflict: it is disabled, or too many deliveries wait.
    """
    with context.store.write() as db:
        hook = own_webhook(db, caller, webhook_id)
        if hook.disabled_at is not None:
            raise errors.Conflict(f"The webhook {hook.id} was disabled. Create another one.", slug="webhook-disabled")
        if events.waiting_deliveries(db, hook.id) >= MOST_WAITING:
            detail = f"{MOST_WAITING} deliveries of the webhook {hook.id} wait already. Send this once they have ended."
            raise errors.Conflict(detail, slug="too-many-deliveries")
        made = record_event_of(db, context, requests.WEBHOOK_TEST, hook, caller.owner, only=hook)
        return _delivery_document(events.logged_delivery(db, made[0]))


def list_deliveries(context: Context, caller: Caller, webhook_id: str, query: PageQuery) -> runs.Page:
    """List the deliveries of a webhook, newest first, of those events that the caller may know of now.

    Raises:
        NotFound: the webhook does not exist, or belongs to another caller.
    """
    shown: list[LoggedDelivery] = []
    before, more = query.cursor, True
    with context.store.read() as db:
        hook = own_webhook(db, caller, webhook_id)
        while more and len(shown) <= query.limit:
            rows = events.logged_deliveries(db, hook.id, before, query.limit + 1)
            shown += [row for row in rows if visible_to(db, context, caller, hook, row.event) is not None]
            more = len(rows) > query.limit
            before = rows[-1].id if rows else before
    return runs.page_of(shown, query.limit, _delivery_document)


def _delivery_document(delivery: LoggedDelivery) -> dict[str, object]:
    event = {"event": delivery.event.id, "type": delivery.event.kind}
    state = runs.shown_members(delivery, "state", "attempts", "last_status")
    times = runs.shown_members(delivery, "attempted_at", "next_at")
    return {"id": delivery.id, **event, **state, "at": runs.moment(delivery.created_at), **times}


DELIVERY_PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
"""Pauses between the attempts at one delivery: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h; ten attempts in all."""
DELIVERY_ATTEMPTS = len(DELIVERY_PAUSES) + 1
DELIVERY_LEASE = timedelta(seconds=120)
"""Time after which a delivery that was begun and not ended is begun again."""
SHARE_FAILING = 2
"""One of so many places is for webhooks that failed last: a server that does not answer takes ten seconds."""
SHARE_EACH = 8
"""One of so many is for the webhooks of one team, or organiser's token."""
DELIVERIES_IN_A_ROW = 4
"""Deliveries to one webhook in one turn."""
LOOKED_AT = 256
LOGGED = 200
"""Deliveries of one webhook that have ended and stay in its log."""
log = logs.Log("webhooks")
Send = Callable[[str, bytes, Mapping[str, str]], int]


FAILED, DROPPED = "failed", "dropped"
"""How an attempt at a delivery may end, too: it is tried again, or it may not be sent any more."""


class Postman:
    """Delivers to webhooks in turns, to several at once and to each one after the other; none waits for a slow one.

    Args:
        context: of this process.
        send: (URL, body, headers) -> status; over the network by default.
    """

    def __init__(self, context: Context, send: Send | None = None) -> None:
        self._context = context
        self._send = send or partial(outbound.post, private=context.config.webhooks_private)
        self._most = context.config.max_deliveries
        self._pool = ThreadPoolExecutor(self._most)
        self._busy: dict[str, Webhook] = {}

    def begin_turns(self) -> list[Future[int]]:
        """Begin the deliveries that are due to webhooks whose turn it is; each ends with how many were tried."""
        now = self._context.now()
        with self._context.store.read() as db:
            due = events.due_deliveries(db, now, LOOKED_AT, DELIVERIES_IN_A_ROW)
        by_webhook: dict[str, list[Delivery]] = {}
        for delivery in due:
            if delivery.webhook.id in by_webhook or self._admits(delivery.webhook):
                by_webhook.setdefault(delivery.webhook.id, []).append(delivery)
                self._busy[delivery.webhook.id] = delivery.webhook
        if not by_webhook:
            return []
        with self._context.store.write() as db:
            batches = [
                [each for each in batch if events.claim_delivery(db, each, now + DELIVERY_LEASE)]
                for batch in by_webhook.values()
            ]
        return [self._pool.submit(self._turn, *each) for each in zip(by_webhook, batches, strict=True)]

    def _admits(self, hook: Webhook) -> bool:
        busy = list(self._busy.values())
        failing = [each for each in busy if each.failures]
        return (
            hook.id not in self._busy
            and len(busy) < self._most
            and len([each for each in busy if _owner(each) == _owner(hook)]) < max(1, self._most // SHARE_EACH)
            and not (hook.failures and len(failing) >= max(1, self._most // SHARE_FAILING))
        )

    def _turn(self, webhook_id: str, batch: Sequence[Delivery]) -> int:
        try:
            return _deliver(self._context, batch, self._send)
        except DBAPIError as error:
            logs.fault(type(error), error.__traceback__)
            return 0
        finally:
            del self._busy[webhook_id]


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return `v1,...` of Standard Webhooks: HMAC-SHA256 over id, timestamp and body, joined by dots."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def _owner(hook: Webhook) -> tuple[str | None, str]:
    return (hook.benchmark_id, hook.team_id) if hook.team_id is not None else (None, hook.owner)


def _deliver(context: Context, batch: Sequence[Delivery], send: Send) -> int:
    """Send the deliveries of one webhook one after the other; after a failure it rests."""
    tried = 0
    for number, delivery in enumerate(batch, 1):
        with context.store.read() as db:
            caller = _reader(db, context, delivery.webhook)
            message = None if caller is None else _message(db, context, caller, delivery)
        if message is None:
            _drop(context, delivery, end_webhook=caller is None)
            _note(context, delivery, DROPPED, None)
            continue
        tried += 1
        status: int | None
        try:
            status = send(delivery.webhook.url, *message)
        except (outbound.BadAddress, outbound.NoAnswer):
            status = None
        outcome = _settle(context, delivery, status)
        _note(context, delivery, outcome, status)
        if outcome != DELIVERED:
            claimed = [each.id for each in batch[number:]]
            with context.store.write() as db:
                events.postpone(db, delivery.webhook.id, claimed, context.now() + DELIVERY_PAUSES[0])
            break
    return tried


def _note(context: Context, delivery: Delivery, outcome: str, status: int | None) -> None:
    """Count an attempt, and write its line: `run` is the id of what the event is about."""
    context.meters.count(monitoring.DELIVERIES, outcome)
    event = delivery.event
    log.info(
        "delivery", run=event.subject, type=event.kind, event_id=event.id, webhook=delivery.webhook.id,
        outcome=outcome, status=status, attempt=delivery.attempts + 1,
    )  # fmt: skip


def _message(
    db: Connection, context: Context, caller: Caller, delivery: Delivery
) -> tuple[bytes, Mapping[str, str]] | None:
    """Make body and signed headers of type, time and ids: the rest is read with a token. None if it may not be sent."""
    hook = delivery.webhook
    shown = visible_to(db, context, caller, hook, delivery.event)
    if shown is None:
        return None
    data = {"event": shown["id"], **{name: shown[name] for name in ("benchmark", "team", "subject")}}
    body = orjson.dumps({"type": shown["type"], "timestamp": shown["at"], "data": data})
    timestamp, message_id = int(context.now().timestamp()), str(shown["id"])
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Treescore",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(hook.secret, message_id, timestamp, body),
    }
    return body, headers


def _reader(db: Connection, context: Context, hook: Webhook) -> Caller | None:
    """Return the caller on whose behalf it is sent; None if it may not read any more. A team's token may change."""
    if hook.team_id is not None and hook.benchmark_id is not None:
        team = benchmarks.get_team(db, hook.benchmark_id, hook.team_id)
        if team is None or team.erased_at is not None:
            return None
        return Caller(hook.owner, frozenset({"submit"}), hook.team_id, hook.benchmark_id)
    if hook.owner == ADMIN:
        return Caller(ADMIN, frozenset({"organise"})) if context.config.admin_token else None
    row = tokens.by_id(db, hook.owner)
    if row is None or row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= context.now()):
        return None
    return Caller(row.id, frozenset(row.scopes.split()), row.team_id, row.benchmark_id)


def _settle(context: Context, delivery: Delivery, status: int | None) -> str:
    """Record how an attempt ended, and return it."""
    received = status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    now = context.now()
    attempts = delivery.attempts + 1
    with context.store.write() as db:
        failures = events.count_failures(db, delivery.webhook.id, delivered=received)
        if not received and status != HTTPStatus.GONE and attempts < DELIVERY_ATTEMPTS:
            next_at = now + DELIVERY_PAUSES[attempts - 1]
            events.note_attempt(db, delivery, status, now, state=WAITING, next_at=next_at)
            return FAILED
        state = DELIVERED if received else GIVEN_UP
        events.note_attempt(db, delivery, status, now, state=state, next_at=None)
        # where others were received since, only this one is given up
        if status == HTTPStatus.GONE or (not received and failures >= DELIVERY_ATTEMPTS):
            _disable(db, context, delivery.webhook)
        events.trim_log(db, delivery.webhook.id, LOGGED)
    return state


def _drop(context: Context, delivery: Delivery, *, end_webhook: bool) -> None:
    with context.store.write() as db:
        events.drop_delivery(db, delivery.id)
        if end_webhook:
            _disable(db, context, delivery.webhook)


def _disable(db: Connection, context: Context, hook: Webhook) -> None:
    if events.disable_webhook(db, hook.id, context.now()):
        record_event_of(db, context, "webhook.disabled", hook)
