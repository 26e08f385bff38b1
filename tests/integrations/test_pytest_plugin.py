"""The fixture `assert_not_worse` works in another project's tests, and costs nothing where it is not used."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from tests.integrations.test_testing import GOLD, GRAPH, RULES

pytest_plugins = ["pytester"]

INSTALLED = bool(entry_points(group="pytest11", name="treescore"))
PLUGIN = [] if INSTALLED else ["-p", "treescore.pytest_plugin"]

TESTS = f"""
GOLD, OLD, NEW = {str(GOLD)!r}, {str(RULES)!r}, {str(GRAPH)!r}
BY_SENTENCE = {{"unit": "sentence", "resamples": 200}}

def test_better(assert_not_worse):
    assert assert_not_worse(GOLD, OLD, NEW, score="ud.las_f1", margin=0.002, significance=BY_SENTENCE).established

def test_worse(assert_not_worse):
    assert_not_worse(GOLD, NEW, OLD, significance=BY_SENTENCE)

def test_missing(assert_not_worse):
    assert_not_worse(GOLD, OLD, "absent.conllu")
"""

COST = """
import json, sys
import pytest
before = set(sys.modules)
import treescore.pytest_plugin
print(json.dumps(sorted(set(sys.modules) - before)))
"""


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Runs pytest in a folder and process of its own: the tests of this project have other settings and modules."""
    pytester.makepyfile(TESTS)
    return lambda *arguments: pytester.runpytest_subprocess(
        "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", *PLUGIN, *arguments
    )


def test_the_fixture_judges_outputs_and_shows_why(run) -> None:
    done = run()
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        [
            "*assert_not_worse(GOLD, NEW, OLD, significance=BY_SENTENCE)",
            "E*new is not shown not to be worse than old by more than 0.2 points of percent on ud.las_f1",
            "E*difference  -14.29, 95% interval *",
            "E*sentence *->*",
            "E*absent.conllu*",
        ]
    )
    done.stdout.no_fnmatch_line("*raise AssertionError(str(found))*")


@pytest.mark.slow
def test_the_fixture_is_listed_with_its_purpose(run) -> None:
    run("--fixtures", "-q").stdout.fnmatch_lines(
        ["assert_not_worse*", "*Fail unless an output is shown not to be worse than another*"]
    )


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="this environment was installed before the plugin was declared")
def test_the_plugin_can_be_left_out(run) -> None:
    run("-p", "no:treescore").stdout.fnmatch_lines(["*fixture 'assert_not_worse' not found*"])


def test_a_project_that_does_not_use_it_loads_three_small_modules() -> None:
    done = subprocess.run([sys.executable, "-c", COST], capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) <= {
        "treescore", "treescore.core", "treescore.core.version", "treescore.pytest_plugin",
    }  # fmt: skip
