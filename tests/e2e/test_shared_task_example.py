"""A shared task from two folders to a ranking, as an organiser would run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.fixtures.service_process import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

EXAMPLE = ROOT / "examples" / "dependencies"
LINE = "-" * 40


def run(*arguments, served=None):
    """The script, on a running service or on one of its own; what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    more = []
    if served is not None:
        more = ["--url", served.address]
        environment["TREESCORE_TOKEN"] = served.token
    command = [sys.executable, str(ROOT / "examples" / "shared_task.py"), *map(str, arguments), *more]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_example_is_ranked_with_clusters_by_a_service_of_its_own(tmp_path):
    rows = tmp_path / "rows.json"
    printed = run(
        EXAMPLE / "gold.conllu", EXAMPLE / "systems", "--metric", "attachment", "--baseline", "baseline-neighbours",
        "--json", rows,
    )  # fmt: skip
    found = json.loads(rows.read_text())
    assert {name: round(row["score"], 3) for name, row in found.items()} == {
        "neural-b": 0.936, "neural-a": 0.923, "graph": 0.850, "transition": 0.789, "rules": 0.712,
        "baseline-neighbours": 0.429,
    }  # fmt: skip
    assert found["neural-a"]["cluster"] == found["neural-b"]["cluster"] == 1
    assert found["graph"]["cluster"] == 2
    assert found["baseline-neighbours"]["rank"] is None
    lines = printed.splitlines()
    (second,) = (place for place, line in enumerate(lines) if "neural-a" in line)
    assert lines[second + 1].startswith(LINE)
    assert not lines[second - 1].startswith(LINE)
    assert "6 systems, 1 part," in printed


def test_folders_of_parts_are_ranked_by_the_mean_and_a_missing_part_counts_as_nothing(served, tmp_path):
    gold, systems = tmp_path / "gold", tmp_path / "systems"
    for folder in (gold, systems / "whole", systems / "half"):
        folder.mkdir(parents=True)
    for part in ("en_a", "en_b"):
        shutil.copy(EXAMPLE / "gold.conllu", gold / f"{part}.conllu")
        shutil.copy(EXAMPLE / "systems" / "graph.conllu", systems / "whole" / f"{part}.conllu")
    shutil.copy(EXAMPLE / "gold.conllu", systems / "half" / "en_b.conllu")
    rows = tmp_path / "rows.json"
    printed = run(gold, systems, "--metric", "attachment", "--id", "two-parts", "--json", rows, served=served)
    found = json.loads(rows.read_text())
    assert found["half"]["score"] == 0.5
    assert round(found["whole"]["score"], 3) == 0.850
    assert found["whole"]["rank"] == 1
    assert "half: counted as the worst value, because missing or failed: en_a" in printed
    assert "2 systems, 2 parts," in printed
