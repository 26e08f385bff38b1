"""The steps of `action.yml`, run as they are written there, submit outputs and let the job pass or fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.fixtures.checkouts import copy_checkout
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.treescore.cli.test_submit import BENCHMARK, POST, Task
from tests.treescore.cli.test_submit_margin import BOARD, SCORED
from tests.treescore.stand_in import stand_in

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
NAMED, KEPT, INSTALL, SUBMIT = ACTION["runs"]["steps"]
SCRIPTS = (NAMED, INSTALL, SUBMIT)
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
READ_BENCHMARK = ("GET", "/v1/benchmarks/x")
READ_BOARD = ("GET", "/v1/benchmarks/x/leaderboard")
SCORERS = ("GET", "/v1/scorers/attachment")
CATALOGUE = {"scores": [{"name": "las", "higher_is_better": True, "range": [0.0, 1.0]}]}
SCRIPT = {
    READ_BENCHMARK: [(200, {}, BENCHMARK)],
    READ_BOARD: [(200, {}, BOARD)],
    POST: [(201, {}, SCORED)],
    SCORERS: [(200, {}, CATALOGUE)],
    ("GET", "/v1/submissions/sub_1"): [(200, {}, SCORED)],
}


@dataclass
class Job:
    """What a step left behind."""

    status: int
    log: str
    outputs: dict[str, str]
    summary: str


class Runner:
    """Runs steps of the action as the runner of a CI does: inputs become variables, and bash reads a script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = ROOT
        self.path = ""
        self.temp = folder / "runner"
        self.temp.mkdir()

    def with_command(self) -> Runner:
        """Put the command of these sources where the first step installs it."""
        programs = self.temp / "treescore" / "bin"
        programs.mkdir(parents=True)
        (programs / "python").symlink_to(sys.executable)
        command = programs / "treescore"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m treescore.cli.main "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        self.path = str(ROOT)
        return self

    def run(self, step: dict, token: str = "ts_x", **inputs: str) -> Job:  # noqa: S107 - nobody's
        names = {name.replace("-", "_"): name for name in ACTION["inputs"]}
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
        given |= {names[name]: str(value) for name, value in inputs.items()}
        known = {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": str(self.checkout)}
        files = {name: self.temp / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("", encoding="utf-8")
        script = self.temp / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": self.path,
            "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
            "TREESCORE_TOKEN": token,
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_SHA": "4f2a91c",
            "GITHUB_REF_NAME": "main",
            **{name: str(path) for name, path in files.items()},
            **{name: EXPRESSION.sub(lambda found: known[found[1]], value) for name, value in step["env"].items()},
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.folder, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        written = files["GITHUB_OUTPUT"].read_text(encoding="utf-8")
        outputs = dict(line.partition("=")[::2] for line in written.splitlines())
        return Job(done.returncode, done.stdout, outputs, files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"))


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    folder = tmp_path / "a checkout"
    folder.mkdir()
    (folder / "my output.conllu").write_text(ONE_WRONG, encoding="utf-8")
    (folder / "bad.conllu").write_text(GOLD_CONLLU.replace("2\tobj", "9\tobj"), encoding="utf-8")
    return Runner(folder)


def test_no_input_is_pasted_into_a_script() -> None:
    """A value that holds shell syntax would run otherwise."""
    for step in SCRIPTS:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    used = {name for step in SCRIPTS for value in step["env"].values() for name in EXPRESSION.findall(value)}
    assert used == {f"inputs.{name}" for name in ACTION["inputs"]} | {"github.action_path"}
    assert {each["value"] for each in ACTION["outputs"].values()} == {
        f"${{{{ steps.submit.outputs.{name} }}}}" for name in ACTION["outputs"]
    }


def test_the_environment_is_kept_until_what_is_installed_differs(runner: Runner, tmp_path: Path) -> None:
    """The step that keeps it has a folder and a name; the step that installs is left out where it was found."""
    assert KEPT["with"]["path"] == "${{ runner.temp }}/treescore"
    assert KEPT["with"]["key"].endswith("${{ steps.environment.outputs.digest }}")
    assert INSTALL["if"] == f"steps.{KEPT['id']}.outputs.cache-hit != 'true'"
    package, wheel = tmp_path / "package", tmp_path / "treescore.whl"
    package.mkdir()
    (package / "pyproject.toml").write_text("[project]", encoding="utf-8")

    def names(**inputs: str) -> str:
        job = runner.run(NAMED, **inputs)
        assert job.status == 0, job.log
        return job.outputs["digest"]

    own, of_folder = names(), names(package=str(package))
    assert len({own, names(), names(package="treescore==0.1.0"), names(package="treescore==0.1.1"), of_folder}) == 4
    (package / "a.py").write_text("pass", encoding="utf-8")
    assert names(package=str(package)) != of_folder
    wheel.write_bytes(b"one")
    of_wheel = names(package=str(wheel))
    wheel.write_bytes(b"two")
    assert names(package=str(wheel)) != of_wheel


def test_a_kept_threshold_passes_and_gives_id_score_and_rank(runner: Runner) -> None:
    sent = {}
    with stand_in(SCRIPT, sent) as (url, seen):
        job = runner.with_command().run(
            SUBMIT, url=url, benchmark="x", outputs="my output.conllu\n", fail_below="attachment.las=0.5\n"
        )
    assert job.status == 0, job.log
    assert job.outputs == {"status": "0", "id": "sub_1", "score": "0.8", "rank": "1"}
    assert "attachment.las 0.8000" in job.summary
    assert "attachment.las keeps the threshold 0.5" in job.log
    assert seen.count(POST) == 2
    assert sent[POST]["Authorization"] == "Bearer ts_x"
    assert sent[POST]["Idempotency-Key"].startswith("submit-")


def test_values_with_shell_syntax_are_values(runner: Runner) -> None:
    with stand_in(SCRIPT) as (url, _):
        job = runner.with_command().run(
            SUBMIT, url=url, benchmark="x", outputs="my output.conllu", name="$(touch owned); `touch owned`",
            notes='"; touch owned; "', fail_below="attachment.las=0.9\nattachment.las=0.5",
        )  # fmt: skip
    assert job.status == 1
    assert "::error::attachment.las >= 0.9: missed, it is 0.8000." in job.log
    assert job.outputs == {"status": "1", "id": "sub_1", "score": "0.8", "rank": "1"}
    assert not (runner.folder / "owned").exists()


def test_a_problem_stands_at_its_line_of_the_file(runner: Runner) -> None:
    error = {"line": 4, "column": 7, "detail": "HEAD is 9, 100 % wrong", "code": "conllu-head-out-of-range"}
    failure = {"kind": "input", "errors": [{"part": "en", "pointer": "/en", **error}], "errors_total": 1}
    failed = {**SCORED, "state": "failed", "scores": None, "failure": failure}
    with stand_in({**SCRIPT, POST: [(201, {}, failed)]}) as (url, _):
        job = runner.with_command().run(SUBMIT, url=url, benchmark="x", outputs="en=bad.conllu")
    assert job.status == 2
    assert "::error file=bad.conllu,line=4,col=7::HEAD is 9, 100 %25 wrong [conllu-head-out-of-range]" in job.log
    assert "bad.conllu:4:7: HEAD is 9" in job.summary
    assert job.outputs == {"status": "2"}


def test_without_a_token_it_says_where_to_put_it(runner: Runner) -> None:
    job = runner.with_command().run(SUBMIT, token="", url="http://127.0.0.1:1", benchmark="x", outputs="bad.conllu")
    assert (job.status, job.outputs) == (3, {"status": "3"})
    assert "::error::Set TREESCORE_TOKEN" in job.log


@pytest.mark.libraries
@pytest.mark.e2e
def test_installed_from_its_own_checkout_it_submits_to_the_service(served, runner: Runner, tmp_path: Path) -> None:
    runner.checkout = copy_checkout(tmp_path / "action")
    installed = runner.run(INSTALL, url="", benchmark="", outputs="")
    assert installed.status == 0, installed.log
    tiny = Task(served, GOLD_CONLLU, feedback="items")
    given = {"token": tiny.token, "url": served.address, "benchmark": tiny.slug}
    checked = runner.run(SUBMIT, **given, outputs="my output.conllu", validate_only="true")
    assert (checked.status, checked.outputs) == (0, {"status": "0"}), checked.log
    assert tiny.submissions() == []
    kept = runner.run(SUBMIT, **given, outputs="my output.conllu", fail_below="attachment.las=0.83")
    assert kept.status == 0, kept.log
    [submission] = tiny.submissions()
    assert (submission["name"], submission["notes"]) == ("4f2a91c", "main")
    assert kept.outputs["id"] == submission["id"]
    assert float(kept.outputs["score"]) == pytest.approx(5 / 6)
    assert runner.run(SUBMIT, **given, outputs="my output.conllu", fail_below="attachment.las=0.84").status == 1
    assert len(tiny.submissions()) == 1
    wrong = runner.run(SUBMIT, **given, outputs="bad.conllu", name="a bad one")
    assert wrong.status == 2
    assert "::error file=bad.conllu,line=4,col=7::HEAD is 9" in wrong.log


def test_the_job_of_the_guide_fails_at_a_threshold_and_at_a_margin(runner: Runner) -> None:
    """Its steps are run as they are written; both leave their tables for the comment."""
    text = (ROOT / "docs" / "guide" / "ci.md").read_text(encoding="utf-8")
    jobs = [yaml.safe_load(block.partition("```")[0]) for block in text.split("```yaml\n")[1:] if "\njobs:" in block]
    steps = next(job["jobs"]["scores"]["steps"] for job in jobs if job["name"] == "parser")
    scripts = {step["name"]: step["run"] for step in steps if "name" in step}
    programs = runner.with_command().temp / "treescore" / "bin"
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": runner.path, "COLUMNS": "80"}
    for name, content in (("gold", GOLD_CONLLU), ("released", GOLD_CONLLU), ("new", ONE_WRONG)):
        (runner.folder / f"{name}.conllu").write_text(content, encoding="utf-8")

    def run(name: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-e", "-c", scripts[name]], cwd=runner.folder, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        return done.returncode, done.stderr

    status, said = run("Threshold")
    assert (status, "new: ud.las_f1 >= 0.85: missed" in said) == (1, True), said
    status, said = run("Margin")
    assert (status, "new not worse than released by more than 0.005" in said) == (1, True), said
    written = (runner.folder / "scores.md").read_text(encoding="utf-8")
    assert [name in written for name in ("| new ", "| released ")] == [True, True], written
    (runner.folder / "new.conllu").write_text(GOLD_CONLLU, encoding="utf-8")
    assert run("Threshold")[0] == 0
