"""A service of each test's own, whose pages are looked at without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey


@pytest.fixture
def stage(tmp_path: Path, valkey: Valkey) -> Iterator[Stage]:
    """The service on an empty store; small bodies, so that large ones are quickly sent."""
    opened = open_stage(tmp_path, valkey.url, TREESCORE_MAX_BODY_BYTES="100000", TREESCORE_MAX_UPLOAD_BYTES="300000")
    yield opened
    close_stage(opened)


@pytest.fixture(scope="module")
def kept_stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The service on a store of one file of tests, for tests that leave nothing in each other's way."""
    folder: Path = tmp_path_factory.mktemp("pages")
    opened = open_stage(folder, valkey.url)
    yield opened
    close_stage(opened)
