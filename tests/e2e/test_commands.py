"""The command line in processes of its own: it scores what it scored before, and `make run` shows the service."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import PATIENCE, ROOT, free_port, gone, until

pytestmark = pytest.mark.e2e

TREESCORE = [sys.executable, "-m", "treescore.cli.main"]
SMALL_DEMO = (
    "import pathlib, sys; from service.commands import demo; demo.EXAMPLES = pathlib.Path(sys.argv.pop(1)); demo.demo()"
)
ONE_OF_EACH = {f"TREESCORE_{name}": "1" for name in ("WORKERS", "API_PROCESSES")}
BOARD = """
[[benchmark]]
id = "small"
title = "Small"
folder = "trees"
ending = ".mrg"
format = "bracketed"
metrics = ["parseval"]
baselines = []
parts = { all = [[1, 4]] }
"""


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=given, check=False)


def test_the_command_in_a_signature_makes_the_number_again(tmp_path: Path) -> None:
    for name, text in (("gold", GOLD_CONLLU), ("wrong", ONE_WRONG)):
        (tmp_path / f"{name}.conllu").write_text(text, encoding="utf-8")
    command = "treescore score --format conllu --metric attachment GOLD OUTPUT"
    metrics = []
    for _ in range(2):
        words = command.replace("GOLD", "gold.conllu").replace("OUTPUT", "wrong.conllu")
        printed = run(*TREESCORE, *shlex.split(words)[1:], "--json", cwd=tmp_path)
        metrics.append(json.loads(printed.stdout)["results"]["systems"][0]["metrics"]["attachment"])
        command = metrics[0]["signature"]["command"]
    assert metrics[0] == metrics[1]
    assert metrics[0]["scores"]["las"] == 5 / 6


def small_examples(folder: Path) -> Path:
    """The beginnings of the example benchmarks, with two systems each and one board."""
    (folder / "benchmarks.toml").parent.mkdir()
    (folder / "benchmarks.toml").write_text(BOARD)
    for name, ending, block in (("trees", ".mrg", "\n"), ("dependencies", ".conllu", "\n\n")):
        of = ROOT / "examples" / name
        for path in (of / f"gold{ending}", *sorted((of / "systems").glob(f"*{ending}"))[-2:]):
            copied = folder / path.relative_to(of.parent)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_text("".join(each + block for each in path.read_text().split(block)[:4]))
    return folder


@pytest.mark.slow
def test_the_demo_prints_scores_and_cross_tables_and_ends(tmp_path: Path) -> None:
    where = ("--bind", f"127.0.0.1:{free_port()}", "--data-dir", tmp_path / "data")
    examples = small_examples(tmp_path / "examples")
    printed = run(sys.executable, "-c", SMALL_DEMO, examples, "--once", *where, cwd=ROOT, **ONE_OF_EACH)
    assert printed.stderr.splitlines() == []
    assert printed.returncode == 0
    tables = ("parseval, scores in percent", "attachment, scores in percent", "LAS", "transition")
    tables += ("F1 (percent, higher is better)", "LAS (percent, higher is better)")
    links = ("examples/trees", "examples/dependencies", "Open in a browser: http://127.0.0.1:", "/b/small ")
    for words in (*tables, *links, "Organise token:    ts_"):
        assert words in printed.stdout


@pytest.mark.slow
def test_the_demo_goes_on_until_it_is_interrupted_and_leaves_nothing_behind(tmp_path: Path) -> None:
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
