"""The fixture `assert_not_worse` for pytest, found by its entry point: `pip install treescore` is enough.

    def test_the_parser(assert_not_worse):
        assert_not_worse("gold.conllu", "released.conllu", "out.conllu", score="ud.las_f1", margin=0.002)

`pytest -p no:treescore` runs without it. Nothing else of the library is loaded before a test asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

TYPE_CHECKING = False  # as in treescore/__init__.py: typing is not needed to collect tests
if TYPE_CHECKING:
    from treescore.testing import NotWorse


@pytest.fixture(scope="session")
def assert_not_worse() -> Callable[..., NotWorse]:
    """Fail unless an output is shown not to be worse than another: `treescore.testing.assert_not_worse`."""
    from treescore.testing import assert_not_worse as check  # noqa: PLC0415 - scoring is loaded by tests that score

    return check
