"""Open the parts a process works with once, for every use-case."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from service.config import Config
from service.meters import Meters
from service.queue import Queue
from service.store.database import Store

REPORT_SECONDS = 5.0
"""Seconds between two reports of what a process has counted: a third of the time between two scrapes, as is usual."""


@dataclass(frozen=True, slots=True)
class Context:
    """Configuration, store, queue and clock, and what this process counts."""

    config: Config
    store: Store
    queue: Queue
    now: Callable[[], datetime]
    meters: Meters = field(default_factory=Meters)


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def report_counts(context: Context) -> Callable[[], None]:
    """Begin to hand on what this process counts, in a thread of its own. Return what ends that, after the rest."""
    stop = threading.Event()

    def report() -> None:
        while not stop.wait(REPORT_SECONDS):
            context.queue.add_counts()

    threading.Thread(target=report, daemon=True, name="counts").start()

    def end() -> None:
        stop.set()
        context.queue.add_counts()

    return end


def open_context(config: Config) -> Context:
    """Make a context. Store and queue connect when first used, so forking is safe."""
    meters = Meters()
    store = Store(config.database_url, meters.database_trip)
    return Context(config, store, Queue(config.redis_url, config.max_job_seconds, meters), utc_now, meters)
