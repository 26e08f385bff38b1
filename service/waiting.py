"""Wait for a store or a queue that is unavailable: one line of the log says which host and why, and the pauses grow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import ClassVar, TypeVar
from urllib.parse import urlsplit

from redis.backoff import AbstractBackoff
from redis.retry import Retry
from sqlalchemy.exc import DBAPIError, OperationalError

from service.config import Config
from service.logs import Log
from service.process import ended_by_sigterm
from service.store.database import Store, error_line, file_of_url

_T = TypeVar("_T")
LONGEST_PAUSE = 2.0
SAID_EVERY = 60.0
"""Seconds between two lines of the log on one part."""

log = Log("waiting")


def beat(config: Config) -> None:
    """Touch the file by which a probe sees that this process lives."""
    if config.heartbeat_file:
        Path(config.heartbeat_file).touch()


def host_of(url: str) -> str:
    """Return host and port of a URL, or its path; never a password."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or parts.path


class Patience(AbstractBackoff):
    """The pauses between attempts to reach what is unavailable; called while its error is handled.

    Args:
        part: `store` or `queue`.
        config: of this process.
    """

    over: ClassVar[bool] = False
    """Whether this process ends, and waits for nothing."""
    _said: ClassVar[dict[str, float]] = {}

    def __init__(self, part: str, config: Config) -> None:
        self._part = part
        self._config = config

    def compute(self, failures: int) -> float:
        """Return the seconds until the next attempt, after so many failures; raise their error where there is none."""
        if self.over and (error := sys.exception()):
            raise error
        beat(self._config)
        if monotonic() > self._said.get(self._part, -SAID_EVERY) + SAID_EVERY:
            self._said[self._part] = monotonic()
            error = sys.exception()
            said = error_line(error) if isinstance(error, DBAPIError) else str(error)
            url = self._config.database_url if self._part == "store" else self._config.redis_url
            log.warning("waiting", part=self._part, host=host_of(url), reason=said)
        return float(min(0.1 * 2 ** min(failures, 10), LONGEST_PAUSE))


def wait_for(part: str, config: Config, look: Callable[[], _T], errors: tuple[type[Exception], ...]) -> _T:
    """Return what `look` does, called again and again until it raises none of these errors; SIGTERM ends the process.

    Raises:
        SystemExit: there was one.
    """
    with ended_by_sigterm():
        return Retry(Patience(part, config), -1, errors).call_with_retry(look, lambda _: None)


def wait_for_store(config: Config, store: Store, look: Callable[[Store], _T]) -> _T:
    """Return what `look` sees in a store, once its server answers. A file answers at once, or not at all.

    Raises:
        DBAPIError: the store is a file that cannot be read.
    """
    return wait_for("store", config, lambda: look(store), () if file_of_url(store.url) else (OperationalError,))
