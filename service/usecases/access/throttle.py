"""Slow down those who try out tokens: failed authentications are counted by address and minute."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import redis

from service.caller import network_of
from service.context import Context
from service.errors import TooManyRequests

ALLOWED = 20
"""Failed authentications of one address in one minute that are answered as such."""
WINDOW = 60
"""Seconds."""
MAX_COUNTED = 10_000
"""Addresses that a process counts in memory, while Redis does not answer."""


class FailureCounts:
    """Failures by address in the current window, in Redis for all processes; in memory while Redis does not answer."""

    def __init__(self) -> None:
        self._window = 0
        self._counts: Counter[str] = Counter()

    def add(self, context: Context, network: str, window: int) -> int:
        """Count a failure; return how many this network has had in this window."""
        key = f"treescore:failed:{window}:{network}"
        try:
            with context.queue.redis.pipeline() as pipe:
                pipe.incr(key)
                pipe.expire(key, 2 * WINDOW)
                counted, _ = pipe.execute()
        except redis.RedisError:
            return self._count_here(network, window)
        return int(counted)

    def _count_here(self, network: str, window: int) -> int:
        if window != self._window or len(self._counts) >= MAX_COUNTED:
            self._window, self._counts = window, Counter()
        self._counts[network] += 1
        return self._counts[network]


_COUNTS = FailureCounts()


def count_failure(context: Context, address: str) -> None:
    """Count a failed authentication.

    Raises:
        TooManyRequests: it is one too many.
    """
    now: datetime = context.now()
    window, passed = divmod(int(now.timestamp()), WINDOW)
    if _COUNTS.add(context, network_of(address), window) <= ALLOWED:
        return
    raise TooManyRequests(
        f"More than {ALLOWED} failed authentications within a minute came from your address. Retry with a valid token.",
        slug="too-many-failures",
        headers={"Retry-After": str(WINDOW - passed)},
    )
