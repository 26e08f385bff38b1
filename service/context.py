"""What a process works with, opened once for every use-case; bounds of what its threads wait for."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from service.config import Config
from service.monitoring import Meters
from service.queue import Queue
from service.store.database import Store


class Waits:
    """Requests that wait: each holds a thread, so they are limited by principal and in all.

    Args:
        each: of one principal.
        most: of all together.
    """

    def __init__(self, each: int, most: int) -> None:
        self._each = each
        self._most = most
        self._lock = Lock()
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many there are."""
        with self._lock:
            return self._counts.total()

    def take(self, principal: str) -> bool:
        """Count one more and return True; False where a limit is reached."""
        with self._lock:
            if self._counts[principal] >= self._each or self._counts.total() >= self._most:
                return False
            self._counts[principal] += 1
            return True

    def give(self, principal: str) -> None:
        """Count one less."""
        with self._lock:
            self._counts[principal] -= 1
            self._counts += Counter()  # drops those at zero


WAITING_SHARE = 4
"""One thread of so many may be held by waits of a kind."""


def waits_of(config: Config) -> Waits:
    """Return the bounds of waits of a kind in an API process: long polls, and what is made for its readers."""
    return Waits(config.max_waits_each, max(1, config.threads // WAITING_SHARE))


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
