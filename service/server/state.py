"""What the server and the application of one API process tell each other: load, long polls, tokens of organisers."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter

from service.config import Config

EXTENSION = "treescore.server"
"""Where the application keeps the state: `app.extensions[EXTENSION]`."""
PROBES = ("/livez", "/readyz")
"""Paths that answer for all hosts, because probes ask addresses, and in threads of their own."""
WAITING_SHARE = 4
"""One thread of so many may be held by long polls."""
MAX_ORGANISERS = 1_000


class ServerState:
    """The numbers of one API process. The server writes them, `/readyz` reads them.

    Attributes:
        threads: request threads, without the reserved ones.
        requests: requests that hold or await one of these threads.
        unfinished: connections whose request is arriving, or whose answer is being sent.
        waits: the long polls.
        organisers: the tokens that may use the reserved threads.
    """

    def __init__(self, config: Config) -> None:
        self.threads = config.threads
        self.requests = 0
        self.unfinished = 0
        self.waits = Waits(config.max_waits_each, max(1, config.threads // WAITING_SHARE))
        self.organisers = Organisers()
        if config.admin_token:
            self.organisers.note(config.admin_token, organiser=True)

    def document(self) -> dict[str, int]:
        """Return the load as `/readyz` shows it."""
        return {
            "threads": self.threads,
            "busy": min(self.requests, self.threads),
            "queued": max(0, self.requests - self.threads),
            "unfinished": self.unfinished,
            "waiting": self.waits.total,
        }


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


class Organisers:
    """Tokens that were organise tokens when they were last used in this process, as digests.

    It decides only about a place in the queue: each request is authenticated.
    """

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def note(self, bearer: str, *, organiser: bool) -> None:
        """Remember whether this is an organise token."""
        digest = _digest(bearer)
        if not organiser:
            self._digests.discard(digest)
        elif len(self._digests) < MAX_ORGANISERS:
            self._digests.add(digest)

    def knows(self, bearer: str) -> bool:
        """Return whether this was an organise token."""
        return _digest(bearer) in self._digests


def _digest(bearer: str) -> bytes:
    return hashlib.sha256(bearer.encode()).digest()
