"""The threads that requests get, so that some are left for probes and for organisers."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from service.server.state import PROBES, ServerState

QUEUED = 512
"""Requests that may await a thread; more are refused."""
PROBES_QUEUED = 64
_BEARER = re.compile(r"Bearer +(\S+)", re.IGNORECASE)


class Lane:
    """Some threads and a short queue before them. Only the loop of the server changes `requests`.

    Attributes:
        requests: in the threads and in the queue.
        full: how many there may be.
    """

    def __init__(self, pool: ThreadPoolExecutor, threads: int, queued: int) -> None:
        self.pool = pool
        self.threads = threads
        self.full = threads + queued
        self.requests = 0

    @property
    def free(self) -> bool:
        """Whether a thread has nothing to do."""
        return self.requests < self.threads


class Lanes:
    """The threads for all, those for organisers, and one for each probe."""

    def __init__(self, general: ThreadPoolExecutor, state: ServerState, organisers: int) -> None:
        self._state = state
        self.general = Lane(general, state.threads, QUEUED)
        self.reserved = Lane(ThreadPoolExecutor(max(1, organisers)), organisers, 0)
        self.probes = {path: Lane(ThreadPoolExecutor(1), 1, PROBES_QUEUED) for path in PROBES}

    def of(self, request: Any) -> Lane:
        """Return the threads for a request. The reserved ones serve organisers while the others are all taken."""
        probe = self.probes.get(request.path)
        if probe is not None:
            return probe
        if not self.general.free and self.reserved.free and self._of_organiser(request):
            return self.reserved
        return self.general

    def shutdown(self) -> None:
        """Take no more requests. The general threads are gunicorn's to end."""
        for lane in (self.reserved, *self.probes.values()):
            lane.pool.shutdown(wait=False)

    def _of_organiser(self, request: Any) -> bool:
        given = next((value for name, value in request.headers if name == "AUTHORIZATION"), "")
        match = _BEARER.fullmatch(given.strip())
        return match is not None and self._state.organisers.knows(match[1])
