"""What the threads of one API process are doing: how many answer, and what may hold only some of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from service.config import Config

EXTENSION = "treescore.load"
"""Where the application keeps it: `app.extensions[EXTENSION]`."""
WAITING_SHARE = 4
"""One thread of so many may be held by long polls."""
READING_SHARE = 2
"""One thread of so many may receive a large body, or wait to read it: they are read one after the other."""


class Load:
    """The numbers of one API process.

    Attributes:
        threads: that answer requests.
        waits: the long polls.
        large_bodies: places of requests whose large body is received and read.
    """

    def __init__(self, config: Config) -> None:
        self.threads = config.threads
        self.waits = Waits(config.max_waits_each, max(1, config.threads // WAITING_SHARE))
        self.large_bodies = threading.BoundedSemaphore(max(1, config.threads // READING_SHARE))
        self._lock = threading.Lock()
        self._busy = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Count a request that a thread has taken."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._lock:
            self._busy += more

    def document(self) -> dict[str, int]:
        """Return the load as `/readyz` shows it."""
        return {"threads": self.threads, "busy": self._busy, "waiting": self.waits.total}


class Waits:
    """Long polls under way: each holds a thread, so they are limited by principal and in all.

    Args:
        each: long polls of one principal.
        most: long polls of all together.
    """

    def __init__(self, each: int, most: int) -> None:
        self._each = each
        self._most = most
        self._lock = threading.Lock()
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
