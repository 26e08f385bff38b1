"""Events are written here, in the transaction that makes them true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from service.context import Context
from service.ids import new_id
from service.store import events, webhooks
from service.store.events import Event


def record_event(
    db: Connection,
    context: Context,
    kind: str,
    benchmark_id: str | None,
    *,
    actor: str | None = None,
    team_id: str | None = None,
    subject: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> None:
    """Note that something has happened, and put it on its way to the webhooks.

    Args:
        db: the transaction in which it happens.
        context: for the clock.
        kind: `benchmark.created`, `revision.active`, `submission.scored`, ...
        benchmark_id: where, if it is in one.
        actor: token that did it; None for a worker.
        team_id: whose it is, where it is a team's.
        subject: the resource, where it is not the benchmark itself.
        data: more, and nothing that comes from gold.
    """
    now = context.now()
    event = Event(0, new_id("evt", now), benchmark_id, kind, now, actor, team_id, subject, dict(data or {}))
    hooks = webhooks.interested(db, event)
    seq = events.add(db, event)
    for hook in hooks:
        webhooks.add_delivery(db, new_id("del", now), hook.id, seq, now)
