"""One service for all tests of the documentation, which changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stage import Stage, close_stage, open_stage
from tests.fixtures.servers import Valkey


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[Stage]:
    """The service; its clients hold each page against the policy of pages."""
    folder: Path = tmp_path_factory.mktemp("docs")
    opened = open_stage(folder, valkey.url)
    yield opened
    close_stage(opened)
