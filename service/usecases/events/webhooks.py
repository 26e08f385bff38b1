"""Create, list and delete webhooks, and replace their secrets."""

from __future__ import annotations

import base64
import secrets
from datetime import timedelta

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import LONGEST_SHOWN, Conflict, NotFound, invalid
from service.ids import new_id
from service.outbound import BadAddress, check_url
from service.requests import PageQuery, WebhookRequest
from service.store import webhooks
from service.store.webhooks import Webhook
from service.usecases.access.access import benchmark_of, storable
from service.usecases.events.record import record_event
from service.usecases.runs.views import Page, moment, page_of

SECRET_PREFIX = "whsec_"  # noqa: S105 - a prefix, no secret
SECRET_BYTES = 32
OVERLAP = timedelta(hours=24)
"""How long a replaced secret signs beside the new one."""
MOST = 20
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
        check_url(request.url, private=context.config.webhooks_private)
    except BadAddress as error:
        raise invalid("bad-webhook-url", "/url", str(error)) from error
    slug = caller.benchmark if caller.team is not None else request.benchmark
    secret = _new_secret()
    kinds = tuple(dict.fromkeys(request.kinds))
    hook = Webhook(new_id("whk", now), caller.owner, slug, caller.team, request.url, secret, kinds, now)
    with context.store.write() as db:
        if slug is not None:
            benchmark_of(db, slug, caller)
        if webhooks.count(db, _team(caller), caller.owner) >= MOST:
            raise Conflict(f"The limit of {MOST} webhooks is reached. Delete one first.", slug="too-many-webhooks")
        webhooks.add(db, hook)
        record_event(
            db, context, "webhook.created", slug, actor=caller.owner, team_id=caller.team, subject=hook.id
        )  # fmt: skip
    return {**_webhook_document(hook), "secret": secret}


def list_webhooks(context: Context, caller: Caller, query: PageQuery) -> Page:
    """List the webhooks of the caller or the caller's team, newest first, without secrets; organisers see all."""
    caller.require("submit")
    with context.store.read() as db:
        owner = None if caller.organiser else caller.owner
        rows = webhooks.listing(db, _team(caller), query.cursor, query.limit + 1, owner)
    return page_of(rows, query.limit, _webhook_document)


def delete_webhook(context: Context, caller: Caller, webhook_id: str) -> None:
    """Delete a webhook; its pending deliveries are not sent.

    Raises:
        NotFound: it does not exist, or belongs to another caller.
    """
    with context.store.write() as db:
        hook = own_webhook(db, caller, webhook_id)
        webhooks.drop(db, hook.id)
        record_event(
            db, context, "webhook.deleted", hook.benchmark_id, actor=caller.owner, team_id=hook.team_id, subject=hook.id
        )  # fmt: skip


def rotate_secret(context: Context, caller: Caller, webhook_id: str) -> dict[str, object]:
    """Replace the secret of a webhook. Only this answer has the new one; the old one signs beside it for a day.

    Raises:
        NotFound: the webhook does not exist, or belongs to another caller.
    """
    secret = _new_secret()
    with context.store.write() as db:
        hook = own_webhook(db, caller, webhook_id)
        webhooks.rotate(db, hook, secret, context.now() + OVERLAP)
        record_event(
            db, context, "webhook.rotated", hook.benchmark_id, actor=caller.owner, team_id=hook.team_id, subject=hook.id
        )  # fmt: skip
        return {**_webhook_document(own_webhook(db, caller, webhook_id)), "secret": secret}


def own_webhook(db: Connection, caller: Caller, webhook_id: str) -> Webhook:
    """Return a webhook that the caller may change.

    Raises:
        Forbidden: the token lacks the scope.
        NotFound: the webhook does not exist, or belongs to another caller.
    """
    caller.require("submit")
    hook = webhooks.get(db, webhook_id) if storable(webhook_id) else None
    if hook is None or not _may_change(caller, hook):
        raise NotFound(f"Unknown webhook {webhook_id[:LONGEST_SHOWN]!r}.")
    return hook


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
    return {
        "id": hook.id,
        "url": hook.url,
        "kinds": list(hook.kinds),
        "benchmark": hook.benchmark_id,
        "team": hook.team_id,
        "created_at": moment(hook.created_at),
        "disabled_at": moment(hook.disabled_at),
        "failures": hook.failures,
        "old_secret_until": moment(hook.old_secret_until),
    }
