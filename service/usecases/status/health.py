"""Report whether the service works, and its load."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from service.context import Context
from service.queue import REDIS_ERRORS
from service.store import runs
from service.usecases.jobs import jobs
from treescore.core.version import __version__

_SHOWN = ("submission", "validation", "revision")
"""Kinds of runs that are shown beside jobs, only by whether they are finished."""


def ready(context: Context) -> tuple[bool, dict[str, str]]:
    """Return whether work can be accepted. It can without Redis: stored runs are queued once Redis is back."""
    parts = {"store": context.store.alive(), "queue": context.queue.alive()}
    return parts["store"], {name: "ok" if alive else "away" for name, alive in parts.items()}


def metrics_text(context: Context) -> bytes:
    """Return counts of stored and queued runs as Prometheus text. They come from the store, so any process may answer.

    The text is public, so it does not tell how submissions ended: where teams may not know that, a count would tell
    them, and so would the comparisons that follow each success.
    """
    registry = CollectorRegistry()
    Gauge("treescore_info", "Version of the service", ["version"], registry=registry).labels(__version__).set(1)
    by_state = Gauge("treescore_runs", "Runs in the store", ["kind", "state"], registry=registry)
    with context.store.read() as db:
        for (kind, state), number in runs.counts_by_state(db).items():
            if kind == jobs.KIND:
                by_state.labels(kind, state).set(number)
            elif kind in _SHOWN:
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
