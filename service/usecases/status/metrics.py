"""The metrics that only the monitoring may read.

Boards are compared and webhooks called after a success, and latency has a sum: read often, each of these numbers tells
how a submission ended. So they need a token of the scope `metrics`, which opens nothing else.
"""

from __future__ import annotations

from itertools import product

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from sqlalchemy import Connection

from service.context import Context
from service.meters import Summed
from service.queue import REDIS_ERRORS, RUN_QUEUES
from service.store import runs
from service.usecases.kinds import KINDS


def private_text(context: Context) -> bytes:
    """Return the metrics as Prometheus text, beside the public ones. Without Redis only those of the store."""
    registry = CollectorRegistry()
    with context.store.read() as db:
        _show_runs(registry, db, context)
    workers = Gauge("treescore_workers", "Workers that send heartbeats", ["queue", "state"], registry=registry)
    context.queue.add_counts()
    try:
        load = context.queue.load()
        registry.register(Summed(context.queue.counts()))
    except REDIS_ERRORS:
        registry.unregister(workers)
        return generate_latest(registry)
    for queue in RUN_QUEUES:
        for state in ("busy", "idle"):
            workers.labels(queue, state).set(load[queue, state])
    return generate_latest(registry)


def _show_runs(registry: CollectorRegistry, db: Connection, context: Context) -> None:
    waiting = Gauge("treescore_waiting", "Runs that wait for a worker", ["queue", "kind"], registry=registry)
    running = Gauge("treescore_running", "Runs that a worker has begun", ["queue", "kind"], registry=registry)
    oldest = Gauge(
        "treescore_oldest_waiting_seconds", "Age of the run that waits longest; 0 without one", ["queue"],
        registry=registry,
    )  # fmt: skip
    now = context.now()
    begin = dict.fromkeys(RUN_QUEUES, now)
    for queue, kind in product(RUN_QUEUES, KINDS):
        waiting.labels(queue, kind).set(0)
        running.labels(queue, kind).set(0)
    for each in runs.open_counts(db):
        (waiting if each.state == runs.QUEUED else running).labels(each.queue, each.kind).set(each.number)
        if each.state == runs.QUEUED:
            begin[each.queue] = min(begin.get(each.queue, now), each.oldest)
    for queue, since in begin.items():
        oldest.labels(queue).set((now - since).total_seconds())
