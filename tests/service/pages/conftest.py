"""A stage for each file of tests that change something; what only reads shares `site`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The service on an empty store; its clients hold every answer against openapi.yaml."""
    folder: Path = tmp_path_factory.mktemp("pages")
    opened = open_stage(folder, valkey.url)
    yield opened
    close_stage(opened)
