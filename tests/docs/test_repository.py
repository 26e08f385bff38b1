"""What a host of repositories reads: who to cite, workflows, forms."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.conftest import ROOT
from treescore.core.version import __version__

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_package_and_citation_have_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"] == __version__
    assert citation["license"] == PROJECT["license"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_that_make_has(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    called = re.findall(
        r"\bmake ([a-z-]+)", " ".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    )
    assert called
    assert set(called) <= targets


def test_all_versions_of_python_that_the_package_allows_are_tested():
    matrix = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    tested = matrix["strategy"]["matrix"]["python"]
    assert f">={tested[0]}" == PROJECT["requires-python"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_ask_for_input_command_and_version(path):
    asked = {each["id"] for each in yaml.safe_load(path.read_text(encoding="utf-8"))["body"]}
    assert asked >= {"input", "command", "version"}
