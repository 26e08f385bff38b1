"""Events: what has happened, as far as each caller may know of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import NotFound
from service.policy import gate
from service.store import benchmarks, events
from service.store.benchmarks import Benchmark
from service.store.events import Event
from service.usecases.runs.views import Page, moment

KINDS = (
    *("benchmark.created", "benchmark.changed", "benchmark.deleted"),
    *("revision.created", "revision.active", "revision.ready", "revision.failed"),
    *("team.created", "team.token_rotated", "team.erased"),
    *("submission.created", "submission.scored", "submission.failed", "submission.changed"),
    *("submission.cancelled", "submission.retried", "submission.deleted"),
    *("comparison.created", "comparison.done", "comparison.failed"),
    *("token.created", "token.revoked"),
    *("webhook.created", "webhook.deleted", "webhook.disabled"),
)
BATCH = 200
"""Rows that are looked at together; of some the caller may not know."""
MOST_BATCHES = 20


def list_events(context: Context, caller: Caller, after: str | None, limit: int, benchmark: str | None = None) -> Page:
    """Events behind the one named by `after`, oldest first: organisers' all, a team's own and those that are public.

    `next` is there while more may follow; the last id of a page is the `after` of whatever happens later.

    Raises:
        NotFound: there is no such event.
    """
    caller.require("submit", "read")
    found: list[dict[str, Any]] = []
    known: dict[str, Benchmark | None] = {}
    with context.store.read() as db:
        place = 0 if after is None else _place(db, after)
        reader = None if caller.organiser else (caller.benchmark, caller.team)
        for _ in range(MOST_BATCHES):
            batch = events.listing(db, place, BATCH, benchmark_id=benchmark, reader=reader)
            for event in batch:
                shown = visible(db, context, caller, event, known)
                if shown is not None:
                    found.append(shown)
                if len(found) > limit:
                    return Page(found[:limit], found[limit - 1]["id"])
                place = event.seq
            if len(batch) < BATCH:
                return Page(found)
    return Page(found, batch[-1].id)


def visible(
    db: Connection, context: Context, caller: Caller, event: Event, known: dict[str, Benchmark | None] | None = None
) -> dict[str, Any] | None:
    """An event as a caller may see it at this moment; None where it is not theirs to know of.

    `known` are benchmarks that were read already.
    """
    slug, seen = event.benchmark_id, {} if known is None else known
    if slug is not None and slug not in seen:
        seen[slug] = benchmarks.get(db, slug)
    benchmark = None if slug is None else seen[slug]
    level = None if benchmark is None else gate.level_of(benchmark, caller, context.now())
    return gate.event_view(level, caller, _document(event))


def _place(db: Connection, event_id: str) -> int:
    known = events.by_id(db, event_id)
    if known is None:
        raise NotFound(f"There is no event {event_id[:80]!r}. Take `after` from the page before.")
    return known.seq


def _document(event: Event) -> dict[str, Any]:
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
