"""The hooks of `.pre-commit-hooks.yaml`, installed and run by pre-commit itself."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import yaml

from tests.conftest import ROOT
from tests.fixtures.checkouts import committed, copy_checkout
from treescore.cli.main import COMMANDS

pytestmark = [pytest.mark.libraries, pytest.mark.timeout(600)]

HOOKS = ROOT / ".pre-commit-hooks.yaml"
EXAMPLES = ROOT / "examples" / "dependencies"
CONFIG = """
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: treescore-score
        args: [--format, conllu, --metric, ud, gold.conllu]
        files: ^outputs/.*\\.conllu$
      - id: treescore-not-worse
        args: [--format, conllu, --metric, ud, --significance, '{{"unit": "sentence"}}', --not-worse-than, old,
               --margin, "0.002", gold.conllu, old=outputs/graph.conllu, new=outputs/neural-a.conllu]
        stages: [pre-push]
      - id: treescore-submit
        args: [--url, "http://127.0.0.1:1", --benchmark, x, outputs/graph.conllu]
        stages: [manual]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory):
    """A repository of a parser with outputs, gold and the hooks; runs pre-commit in it."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed (make libraries)")
    hooks = copy_checkout(tmp_path_factory.mktemp("hooks") / "treescore")
    revision = committed(hooks)
    folder = tmp_path_factory.mktemp("project")
    (folder / "outputs").mkdir()
    (folder / "gold.conllu").write_bytes((EXAMPLES / "gold.conllu").read_bytes())
    for name in ("graph", "neural-a"):
        text = (EXAMPLES / "systems" / f"{name}.conllu").read_bytes()
        (folder / "outputs" / f"{name}.conllu").write_bytes(text)
    config = CONFIG.format(repository=hooks, revision=revision)
    (folder / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    committed(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TREESCORE"))}
    environment |= {
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("installed")),
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
    }

    def run(*arguments: str, status: int) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", *arguments], cwd=folder, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, (done.stdout[-3000:], done.stderr[-3000:])
        return done.stdout

    run.folder = folder
    return run


def test_outputs_that_read_and_fit_pass_and_others_fail_with_their_line(project) -> None:
    assert "Passed" in project("treescore-score", "--all-files", status=0)
    output = project.folder / "outputs" / "graph.conllu"
    text = output.read_text(encoding="utf-8")
    output.write_text(text.replace("\t2\t", "\t99\t", 1), encoding="utf-8")
    try:
        said = project("treescore-score", "--all-files", status=1)
        assert "outputs/graph.conllu" in said
        assert "HEAD is 99" in said
    finally:
        output.write_text(text, encoding="utf-8")


def test_a_better_output_may_be_pushed(project) -> None:
    said = project("treescore-not-worse", "--all-files", "--hook-stage", "pre-push", "--verbose", status=0)
    assert "ud.las_f1: new not worse than old by more than 0.002" in said


def test_submitting_says_what_it_needs(project) -> None:
    assert "Set TREESCORE_TOKEN" in project("treescore-submit", "--all-files", "--hook-stage", "manual", status=1)


def test_hooks_call_commands_that_are_there() -> None:
    hooks = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert {hook["entry"].partition(" ")[2] for hook in hooks} <= set(COMMANDS)
