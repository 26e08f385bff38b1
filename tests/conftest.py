"""What all tests share: where the golden figures and, if they are there, the real data are."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.fixtures.servers",
    "tests.fixtures.contexts",
    "tests.fixtures.processes",
    "tests.fixtures.service_process",
    "tests.fixtures.tasks",
    "tests.fixtures.site",
    "tests.fixtures.gap_metric",
]

# few examples, the same each time; `make test-all` asks for more by `suite`, and `search` looks for others
settings.register_profile(
    "search", max_examples=200, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("suite", settings.get_profile("search"), derandomize=True)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=20)
settings.load_profile("quick")

# to look for garbage is to look at all that thousands of tests hold: rarely, it costs a tenth less of the whole
gc.set_threshold(100_000, 20, 50)

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def golden() -> Any:
    """Reads a file of tests/golden by name: `golden("evalb_cases")`."""
    return lambda name: json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real treebanks; skips where it is absent, as it is on a user's machine."""
    if not DATA.is_dir():
        pytest.skip("real treebanks (../shared/data) are not on this machine")
    return DATA
