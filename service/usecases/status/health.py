"""Report whether the service works, and its load."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from sqlalchemy.exc import DBAPIError

from service.context import Context
from service.queue import LIVE, REDIS_ERRORS
from service.store import runs
from service.store.disk import DiskState, disk_of
from service.store.schema import State, schema_of
from service.usecases.jobs import jobs
from treescore.core.version import __version__

_SHOWN = ("submission", "validation", "revision")
"""Kinds of runs that are shown beside jobs, only by whether they are finished."""


def ready(context: Context) -> tuple[bool, dict[str, str]]:
    """Return whether work can be accepted, and the state of each part.

    It can be without Redis and without workers: what is stored is queued and done once they are back.
    """
    schema = schema_state(context)
    queue = context.queue.alive()
    checks = {
        "store": "ok" if context.store.alive() else "away",
        "queue": "ok" if queue else "away",
        "workers": worker_state(context) if queue else "unknown",
        "disk": disk_of(context.store).state,
        "schema": schema,
    }
    return checks["store"] == "ok" and schema == State.CURRENT and checks["disk"] != DiskState.FULL, checks


def schema_state(context: Context) -> str:
    """Return how the store's tables compare with this code; `unknown` while the store does not answer."""
    try:
        with context.store.read() as db:
            return schema_of(db).state
    except DBAPIError:
        return "unknown"


def worker_state(context: Context) -> str:
    """Return whether a worker takes live work."""
    try:
        return "ok" if context.queue.workers(LIVE) else "none"
    except REDIS_ERRORS:
        return "unknown"


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
