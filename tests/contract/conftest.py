"""One stage for all contract tests: they leave it usable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The service, everyone allowed to post jobs."""
    folder: Path = tmp_path_factory.mktemp("stage")
    opened = open_stage(folder, valkey.url, TREESCORE_MAX_BODY_BYTES="200000", TREESCORE_MAX_SYSTEMS="5")
    yield opened
    close_stage(opened)


@pytest.fixture(scope="session")
def locked_stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The service, nobody allowed anything without a token."""
    folder: Path = tmp_path_factory.mktemp("locked")
    opened = open_stage(folder, valkey.url, TREESCORE_ANONYMOUS_JOBS="false")
    yield opened
    close_stage(opened)
