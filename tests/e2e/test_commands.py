"""The command line does what the service does, and `make run` shows it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys

import psutil
import pytest

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import PATIENCE, ROOT, ServiceProcess, free_port, gone, until

pytestmark = pytest.mark.e2e

TREESCORE = [sys.executable, "-m", "treescore.cli.main"]


@pytest.fixture
def files(tmp_path):
    for name, text in (("gold", GOLD_CONLLU), ("right", GOLD_CONLLU), ("wrong", ONE_WRONG)):
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
    return tmp_path


def run(*arguments, cwd):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*TREESCORE, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )


def test_score_prints_the_document_of_a_job(served: ServiceProcess, files):
    request = {
        "format": "conllu",
        "gold": GOLD_CONLLU,
        "systems": [{"name": "right", "output": GOLD_CONLLU}, {"name": "wrong", "output": ONE_WRONG}],
        "metrics": [{"name": "attachment", "params": {"punctuation": False}}],
    }
    with served.client() as client:
        online = client.post("/v1/jobs", json=request, headers={"Prefer": "wait=60"}).json()["results"]
    metric = '{"name": "attachment", "params": {"punctuation": false}}'
    offline = run("score", "--format", "conllu", "--metric", metric, "gold.conllu", "right.conllu", "wrong.conllu",
                  cwd=files)  # fmt: skip
    assert json.loads(offline.stdout)["results"] == online


def test_the_command_in_a_signature_makes_the_number_again(files):
    first = run("score", "--format", "conllu", "--metric", "attachment", "gold.conllu", "wrong.conllu", cwd=files)
    metric = json.loads(first.stdout)["results"]["systems"][0]["metrics"]["attachment"]
    command = metric["signature"]["command"].replace("GOLD", "gold.conllu").replace("OUTPUT", "wrong.conllu")
    again = run(*shlex.split(command)[1:], cwd=files)
    assert json.loads(again.stdout)["results"]["systems"][0]["metrics"]["attachment"] == metric


def test_compare_prints_a_cross_table(files):
    printed = run("compare", "--format", "conllu", "--metric", "attachment", "gold.conllu", "right.conllu",
                  "wrong.conllu", cwd=files)  # fmt: skip
    assert printed.returncode == 0
    assert "attachment.las" in printed.stdout
    assert "wrong" in printed.stdout


def test_score_tells_the_place_of_a_fault(files):
    (files / "wrong.conllu").write_text("1\tShe\n\n", encoding="utf-8")
    printed = run("score", "--format", "conllu", "--metric", "attachment", "gold.conllu", "wrong.conllu", cwd=files)
    assert printed.returncode == 2
    assert printed.stderr.startswith("wrong.conllu, line 1")


def test_the_demo_prints_scores_and_cross_tables_and_ends(tmp_path):
    printed = run("demo", "--once", "--bind", f"127.0.0.1:{free_port()}", "--data-dir", tmp_path / "data", cwd=ROOT)
    assert (printed.returncode, printed.stderr) == (0, "")
    tables = ("parseval, scores in percent", "attachment, scores in percent", "LAS", "neural-a")
    tables += ("parseval.labelled_f1 (percent, higher is better)", "attachment.las (percent, higher is better)")
    for words in (
        "examples/trees",
        "examples/dependencies",
        *tables,
        "Open in a browser: http://127.0.0.1:",
        "Organise token:    ts_",
    ):
        assert words in printed.stdout


@pytest.mark.slow
def test_the_demo_goes_on_until_it_is_interrupted_and_leaves_nothing_behind(tmp_path):
    command = [*TREESCORE, "demo", "--bind", f"127.0.0.1:{free_port()}", "--data-dir", str(tmp_path / "data")]
    ours, terminal = os.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True, cwd=ROOT) as demo:
        assert demo.stdout is not None
        assert any("Ctrl-C stops it" in line for line in demo.stdout)
        family = psutil.Process(demo.pid).children(recursive=True)
        assert len(family) > 5
        demo.send_signal(signal.SIGINT)
        assert demo.wait(PATIENCE) == 0
    until(lambda: gone(family), "all processes of the demo have ended")
    said = os.read(ours, 65536).decode()
    assert said.startswith("The API answers for these hosts: ")
    assert "{" not in said
    assert "info" not in said.lower()
    os.close(ours)
    os.close(terminal)
