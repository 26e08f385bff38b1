"""Fixtures of the edge."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


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
