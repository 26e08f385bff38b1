"""What a process works with, opened once for every use-case; bounds of what its threads remember and wait for."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Generic, TypeVar

from service.config import Config
from service.monitoring import Meters
from service.queue import Queue
from service.store.database import Store

_V = TypeVar("_V")
_STRIPES = 16
"""Locks under which values are made: as many different ones can be at the same time."""


class LruCache(Generic[_V]):
    """Values by name. The least recently used are dropped first, once all together have more than `most_bytes`."""

    def __init__(self, most_bytes: int, size_of: Callable[[_V], int]) -> None:
        self._most_bytes = most_bytes
        self._size_of = size_of
        self._values: OrderedDict[str, _V] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._making = [Lock() for _ in range(_STRIPES)]

    def get(self, name: str) -> _V | None:
        """Return the value of a name, or None."""
        with self._lock:
            if name in self._values:
                self._values.move_to_end(name)
            return self._values.get(name)

    def get_or_make(self, name: str, make: Callable[[], _V]) -> _V:
        """Return the value of a name, made where it is not kept. Other threads that need the same one wait for it."""
        value = self.get(name)
        if value is not None:
            return value
        with self._making[hash(name) % _STRIPES]:
            value = self.get(name)
            if value is None:
                value = make()
                self.put(name, value)
            return value

    def put(self, name: str, value: _V) -> None:
        """Keep a value in place of the one that the name has."""
        with self._lock:
            if name in self._values:
                self._bytes -= self._size_of(self._values.pop(name))
            self._values[name] = value
            self._bytes += self._size_of(value)
            while self._bytes > self._most_bytes:
                self._bytes -= self._size_of(self._values.popitem(last=False)[1])


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
