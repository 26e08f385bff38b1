"""Whether the service can work, and how much it has to do."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from service.context import Context
from service.queue import REDIS_ERRORS
from service.store import runs
from service.usecases.jobs import jobs
from treescore.core.version import __version__

_TOLD = ("submission", "validation", "revision")
"""Kinds of runs that are told besides jobs, by whether they are finished."""


def ready(context: Context) -> tuple[bool, dict[str, Any]]:
    """Whether work can be accepted. Without Redis it can: what is stored is queued once Redis is back."""
    parts = {"store": context.store.alive(), "queue": context.queue.alive()}
    return parts["store"], {name: "ok" if alive else "away" for name, alive in parts.items()}


def metrics_text(context: Context) -> bytes:
    """Prometheus text: what is stored, and what waits. Counted where the truth is, so any process may answer.

    Anybody may read it, so of a submission it does not tell how it ended: where teams may not know that, a count that
    moves would tell them, and so would the comparisons that follow what succeeds.
    """
    registry = CollectorRegistry()
    Gauge("treescore_info", "Version of the service", ["version"], registry=registry).labels(__version__).set(1)
    by_state = Gauge("treescore_runs", "Runs in the store", ["kind", "state"], registry=registry)
    with context.store.read() as db:
        for (kind, state), number in runs.counts_by_state(db).items():
            if kind == jobs.KIND:
                by_state.labels(kind, state).set(number)
            elif kind in _TOLD:
                by_state.labels(kind, state if state in runs.UNFINISHED else "finished").inc(number)
    waiting = Gauge("treescore_queue_length", "Runs that wait in Redis", ["queue"], registry=registry)
    up = Gauge("treescore_redis_up", "Whether Redis answers", registry=registry)
    try:
        for name, length in context.queue.lengths().items():
            waiting.labels(name).set(length)
        up.set(1)
    except REDIS_ERRORS:
        up.set(0)
    return generate_latest(registry)
