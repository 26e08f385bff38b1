"""What the server and the application of one API process tell each other, and what gunicorn may log.

State: load, long polls, tokens of organisers. gunicorn's log has no text of requests: a line, a header or a query
may hold a token.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sys
import threading
from collections import Counter

import structlog

from service.config import Config
from service.monitoring import LIBRARIES, configure_logs, fault

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


GUNICORN = "gunicorn.error"
_REFUSED = re.compile(r"Invalid request from ip=(\S*): ")
_FAILED = "Error handling request"

log = structlog.get_logger("treescore.server")


def quotes_nothing(record: logging.LogRecord) -> bool:
    """Return whether gunicorn may log this; what quotes a request is logged here, by its kind.

    gunicorn logs both in the handler of the exception, so that it is known here.
    """
    text = str(record.msg)
    refused = _REFUSED.match(text)
    if refused is None and not text.startswith(_FAILED):
        return True
    kind, _, trace = sys.exc_info()
    if refused is None:
        fault(kind or Exception, trace)
    else:
        log.warning("invalid-request", client=refused[1], kind=None if kind is None else kind.__name__)
    return False


def gunicorn_log(config: Config) -> dict[str, object]:
    """Return gunicorn's setting `logconfig_dict`, with which its lines go to the service's log."""

    def service_log() -> logging.Handler:
        configure_logs(config)
        return LIBRARIES

    return {
        "filters": {"quotes-nothing": {"()": lambda: quotes_nothing}},
        "formatters": {},
        "handlers": {"service": {"()": service_log}},
        "loggers": {GUNICORN: {"level": "INFO", "filters": ["quotes-nothing"], "propagate": True}},
        "root": {"level": "WARNING", "handlers": ["service"]},
    }
