"""A stage for each file of contract tests: what one file makes on it, another may want to make too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The service, everyone allowed to post jobs."""
    folder: Path = tmp_path_factory.mktemp("stage")
    opened = open_stage(folder, valkey.url, TREESCORE_MAX_BODY_BYTES="200000", TREESCORE_MAX_SYSTEMS="5")
    yield opened
    close_stage(opened)
