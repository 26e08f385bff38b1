"""Webhooks: make, list, delete."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from typing import Any

from service.caller import Caller
from service.context import Context
from service.errors import Conflict, NotFound, refuse
from service.ids import new_id
from service.outbound import BadAddress, check_url
from service.store import webhooks
from service.store.webhooks import Webhook
from service.usecases.access.access import benchmark_of
from service.usecases.events.listing import KINDS
from service.usecases.events.record import record_event
from service.usecases.runs.views import Page, moment
from treescore.errors import Problem, ProblemList

SECRET_PREFIX = "whsec_"  # noqa: S105 - a prefix, no secret
SECRET_BYTES = 32
MOST = 20
"""Webhooks of one team, and of one token of organisers."""


def create_webhook(context: Context, caller: Caller, request: Mapping[str, Any]) -> dict[str, Any]:
    """Make a webhook; its secret is in the answer, this once.

    Args:
        context: the parts to work with.
        caller: a team, which gets its own and public events of its benchmark, or an organiser, who gets all.
        request: `url`; `kinds` of events (all where there are none); `benchmark` (all where there is none).

    Raises:
        Unprocessable: a kind is unknown, or the URL is none to which the service sends.
        Conflict: there are enough already.
    """
    caller.require("submit")
    now = context.now()
    _check(context, request)
    slug = caller.benchmark if caller.team is not None else request.get("benchmark")
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    kinds = tuple(dict.fromkeys(request.get("kinds") or ()))
    hook = Webhook(new_id("whk", now), caller.owner, slug, caller.team, request["url"], secret, kinds, now)
    with context.store.write() as db:
        if slug is not None:
            benchmark_of(db, slug)
        if webhooks.count(db, _team(caller), caller.owner) >= MOST:
            raise Conflict(f"There are {MOST} webhooks already. Delete one first.", slug="too-many-webhooks")
        webhooks.add(db, hook)
        record_event(
            db, context, "webhook.created", slug, actor=caller.owner, team_id=caller.team, subject=hook.id
        )  # fmt: skip
    return {**_document(hook), "secret": secret}


def list_webhooks(context: Context, caller: Caller, cursor: str | None, limit: int) -> Page:
    """The caller's team's webhooks, or all of the organisers', newest first, without their secrets."""
    caller.require("submit")
    with context.store.read() as db:
        owner = None if caller.organiser else caller.owner
        rows = webhooks.listing(db, _team(caller), cursor, limit + 1, owner)
    return Page([_document(row) for row in rows[:limit]], rows[limit - 1].id if len(rows) > limit else None)


def delete_webhook(context: Context, caller: Caller, webhook_id: str) -> None:
    """Forget a webhook; what was on its way to it is not sent any more.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    caller.require("submit")
    with context.store.write() as db:
        hook = webhooks.get(db, webhook_id)
        if hook is None or not _may_change(caller, hook):
            raise NotFound(f"There is no webhook {webhook_id[:80]!r}.")
        webhooks.drop(db, webhook_id)
        record_event(
            db, context, "webhook.deleted", hook.benchmark_id, actor=caller.owner, team_id=hook.team_id, subject=hook.id
        )  # fmt: skip


def _check(context: Context, request: Mapping[str, Any]) -> None:
    problems = ProblemList()
    try:
        check_url(str(request["url"]), private=context.config.webhooks_private)
    except BadAddress as error:
        problems.add(Problem(code="bad-webhook-url", pointer="/url", detail=str(error)))
    for place, kind in enumerate(request.get("kinds") or ()):
        if kind not in KINDS:
            detail = f"There is no kind of event {str(kind)[:80]!r}. There are: {', '.join(KINDS)}."
            problems.add(Problem(code="unknown-event-kind", pointer=f"/kinds/{place}", detail=detail))
    refuse(problems)


def _team(caller: Caller) -> tuple[str, str] | None:
    return (caller.benchmark, caller.team) if caller.benchmark is not None and caller.team is not None else None


def _may_change(caller: Caller, hook: Webhook) -> bool:
    if caller.organiser:
        return True
    if hook.team_id is not None:
        return _team(caller) == (hook.benchmark_id, hook.team_id)
    return hook.owner == caller.token_id


def _document(hook: Webhook) -> dict[str, Any]:
    return {
        "id": hook.id,
        "url": hook.url,
        "kinds": list(hook.kinds),
        "benchmark": hook.benchmark_id,
        "team": hook.team_id,
        "created_at": moment(hook.created_at),
        "disabled_at": moment(hook.disabled_at),
        "failures": hook.failures,
    }
