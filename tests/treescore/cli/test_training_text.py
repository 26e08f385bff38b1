"""A training text of `mwe` on the command line: as the path of a file among the parameters."""

from __future__ import annotations

import json

from tests.conftest import ROOT
from tests.treescore.cli.test_options import run

CASE = json.loads((ROOT / "tests/golden/field_mwe.json").read_bytes())["cases"]["seen_and_variants"]


def test_a_path_among_the_parameters_stands_for_the_text(tmp_path):
    paths = {name: tmp_path / f"{name}.cupt" for name in ("gold", "system", "train")}
    for name, path in paths.items():
        path.write_text(CASE[name], encoding="utf-8")
    gold, system = str(paths["gold"]), str(paths["system"])
    metric = json.dumps({"name": "mwe", "params": {"train": f"@{paths['train']}"}})
    assert run("score", gold, system, "--style", "parseme", "--metric", metric).stdout == CASE["stdout"]
    document = json.loads(run("score", gold, system, "--json", "--metric", metric).stdout)
    assert CASE["train"] not in json.dumps(document)
    assert run("errors", gold, system, "--metric", metric, "--csv").stdout.count("\n") == 2
    missing = run("score", gold, system, "--metric", metric.replace("train.cupt", "none.cupt"), status=2)
    assert "none.cupt cannot be read" in missing.output
    path = run("score", gold, system, "--metric", metric.replace("@", ""), status=2)
    assert "cupt-no-columns" in path.output
