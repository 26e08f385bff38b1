"""Services that differ in what is hidden alone: ids and keys are equal in all, and clocks go on with the work done."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask.testing import FlaskClient

from service import caller
from tests.contract.stage import Stage, close_stage, open_stage

NOW = datetime(2026, 11, 20, 12, 0, 0, 300_000, tzinfo=UTC)
BETWEEN = timedelta(seconds=10)


class Clock:
    """A clock that each look moves on while work is done. Requests come so long after each other, whatever was done.

    Attributes:
        step: by how much each look moves it.
        working: whether work is done.
    """

    def __init__(self, step: timedelta) -> None:
        self.step = step
        self.working = False
        self._requests = 0
        self._now = NOW

    def __call__(self) -> datetime:
        """Return the time."""
        if self.working:
            self._now += self.step
        return self._now

    def next_request(self) -> None:
        """Let the next request come."""
        self._requests += 1
        self._now = NOW + self._requests * BETWEEN


@contextmanager
def twin(folder: Path, url: str, patch: pytest.MonkeyPatch, step: timedelta, **environment: str) -> Iterator[Stage]:
    """Open a stage whose answers depend on nothing but what it is told, and on how long its work takes."""
    folder.mkdir()
    made: defaultdict[str, int] = defaultdict(int)

    def new_id(prefix: str, now: datetime) -> str:
        made[prefix] += 1
        return f"{prefix}_{round(1000 * now.timestamp()):013d}{made[prefix]:013d}"

    for module in [module for name, module in sys.modules.items() if name.startswith("service.")]:
        if getattr(module, "new_id", None) is caller.new_id and module is not caller:
            patch.setattr(module, "new_id", new_id)
    # keyed digests differ where gold does, and nobody without the key can tell why
    patch.setattr("service.usecases.benchmarks.work.keyed_digest", lambda _key, _digest: "hmac-sha256:" + "0" * 64)
    # seeds, and what is published of them, come from a key of each store
    patch.setattr("service.store.texts.random", SimpleNamespace(token_bytes=bytes))
    clock = Clock(step)
    stage = open_stage(folder, url, **environment)
    context = replace(stage.context, now=clock)
    stage.queue.context = context
    stage.app.extensions["treescore"] = context
    stage.app.test_client_class = FlaskClient
    put = stage.queue.put

    def work(run_id: str, queue: str) -> bool:
        working, clock.working = clock.working, True
        try:
            return put(run_id, queue)
        finally:
            clock.working = working

    patch.setattr(stage.queue, "put", work)
    stage.app.before_request(clock.next_request)
    try:
        yield stage
    finally:
        close_stage(stage)
