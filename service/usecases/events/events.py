"""Record events in the transaction of the change they report, and list them, as far as each caller may know of them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from service.caller import Caller, new_id
from service.context import Context
from service.errors import NotFound
from service.policy import gate
from service.requests import WEBHOOK_TEST, EventsQuery
from service.store import benchmarks, events
from service.store.benchmarks import Benchmark
from service.store.events import Event, Webhook
from service.usecases.runs.views import Page, moment


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
    hooks = events.subscribed(db, event) if only is None else [only]
    seq = events.add(db, event)
    made = [new_id("del", now) for _ in hooks]
    for hook, delivery_id in zip(hooks, made, strict=True):
        events.add_delivery(db, delivery_id, hook.id, seq, now)
    return made


BATCH = 200
"""Rows that are read together; the caller may not know of some."""
MOST_BATCHES = 20


def list_events(context: Context, caller: Caller, query: EventsQuery) -> Page:
    """List events after the one named by `after`, oldest first: organisers see all, teams their own and public ones.

    `next` is set while more may follow; use the last id of a page as `after` for later events.

    Raises:
        NotFound: the event `after` is unknown.
    """
    caller.require("submit", "read")
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
                    return Page(listed[: query.limit], str(listed[query.limit - 1]["id"]))
                seq = event.seq
            if len(batch) < BATCH:
                return Page(listed)
    return Page(listed, batch[-1].id)


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
    level = None if benchmark is None else gate.level_of(benchmark, caller, context.now())
    return gate.event_view(level, caller, _event_document(event))


def visible_to(
    db: Connection, context: Context, caller: Caller, hook: Webhook, event: Event
) -> dict[str, object] | None:
    """Return an event as a webhook may send it on behalf of a caller; None if the caller may not know of it.

    The owner of a webhook may know of its tests.
    """
    if event.kind == WEBHOOK_TEST and event.subject == hook.id:
        return gate.test_view(_event_document(event))
    return visible(db, context, caller, event)


def _seq(db: Connection, event_id: str) -> int:
    known = events.by_id(db, event_id)
    if known is None:
        raise NotFound(f"Unknown event {event_id[:80]!r}. Use the last id of a previous page as `after`.")
    return known.seq


def _event_document(event: Event) -> dict[str, object]:
    return {
        "id": event.id,
        "type": event.kind,
        "at": moment(event.at),
        "benchmark": event.benchmark_id,
        "team": event.team_id,
        "subject": event.subject,
        "actor": event.actor,
        "data": dict(event.data),
    }
