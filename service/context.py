"""Open the parts a process works with once, for every use-case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from service.config import Config
from service.queue import Queue
from service.store.database import Store


@dataclass(frozen=True, slots=True)
class Context:
    """Configuration, store, queue and clock."""

    config: Config
    store: Store
    queue: Queue
    now: Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def open_context(config: Config) -> Context:
    """Make a context. Store and queue connect when first used, so forking is safe."""
    return Context(config, Store(config.database_url), Queue(config.redis_url, config.max_job_seconds), utc_now)
