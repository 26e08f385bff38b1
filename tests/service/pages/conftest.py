"""A service of each test's own, whose pages are looked at without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey

SMALL = {"TREESCORE_MAX_BODY_BYTES": "100000", "TREESCORE_MAX_UPLOAD_BYTES": "300000"}
"""So that large bodies are quickly sent."""


@pytest.fixture
def stage(tmp_path: Path, valkey: Valkey) -> Iterator[Stage]:
    """The service on an empty store."""
    opened = open_stage(tmp_path, valkey.url, **SMALL)
    yield opened
    close_stage(opened)


@pytest.fixture(scope="module")
def kept_stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The service on a store of one file of tests, for tests that leave nothing in each other's way."""
    folder: Path = tmp_path_factory.mktemp("pages")
    opened = open_stage(folder, valkey.url, **SMALL)
    yield opened
    close_stage(opened)
