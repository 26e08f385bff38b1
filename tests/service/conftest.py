"""A service of each test's own or of a file of tests, and a watch on memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey

SMALL = {"TREESCORE_MAX_BODY_BYTES": "100000", "TREESCORE_MAX_UPLOAD_BYTES": "300000"}
"""So that large bodies are quickly sent."""


@pytest.fixture
def stage(tmp_path: Path, valkey: Valkey) -> Iterator[Stage]:
    """The service on an empty store; its clients hold every answer against openapi.yaml."""
    opened = open_stage(tmp_path, valkey.url, **SMALL)
    yield opened
    close_stage(opened)


@pytest.fixture(scope="module")
def kept_stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The same on a store of one file of tests, for tests that leave nothing in each other's way."""
    folder: Path = tmp_path_factory.mktemp("kept")
    opened = open_stage(folder, valkey.url, **SMALL)
    yield opened
    close_stage(opened)


@pytest.fixture
def bounded_memory() -> Any:
    """A block that may not hold more than so many bytes of Python's memory at once."""

    @contextmanager
    def watch(limit: int) -> Iterator[None]:
        tracemalloc.start()
        try:
            yield
            assert tracemalloc.get_traced_memory()[1] < limit
        finally:
            tracemalloc.stop()

    return watch
