"""Record events in the transaction of the change they report."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from service.context import Context
from service.ids import new_id
from service.store import events, webhooks
from service.store.events import Event
from service.store.webhooks import Webhook


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
    event = Event(0, new_id("evt", now), benchmark_id, kind, now, actor, team_id, subject, dict(data or {}))
    hooks = webhooks.subscribed(db, event) if only is None else [only]
    seq = events.add(db, event)
    made = [new_id("del", now) for _ in hooks]
    for hook, delivery_id in zip(hooks, made, strict=True):
        webhooks.add_delivery(db, delivery_id, hook.id, seq, now)
    return made
