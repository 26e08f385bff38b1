"""What scoring loads: a command that scores one file starts at once and stays small; a worker loads before it forks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from treescore.core import jit
from treescore.core.registry import load_all

ROOT = Path(__file__).parents[2]
HEAVY = {"jsonschema", "llvmlite", "numba", "pandas", "polars", "scipy", "sqlalchemy", "flask", "redis", "rq"}
GOLD = "1\ta\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
OUTPUT = GOLD.replace("det", "obj")
MULTIWORD = "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"

ONE_SYSTEM = """
import json, sys
from treescore.evaluation.report import System, evaluate_systems
from treescore.evaluation.spec import parse_spec
spec = parse_spec({"format": sys.argv[1], "metrics": [sys.argv[2]]})
systems = [System("a", sys.argv[4].encode(), "digest", spec.format, "/systems/0")]
evaluate_systems(spec, sys.argv[3].encode(), "digest", systems)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""

AFTER_WARMING = """
import gc, json, sys
from treescore.core.jit import _Compiled
from treescore.core.registry import METRICS, ItemInfo
from treescore.evaluation.benchmark import part_scores
from treescore.evaluation.report import System, evaluate_systems
from treescore.evaluation.spec import parse_spec
from treescore.warm import warm

def run(request, gold, outputs, **asked):
    spec = parse_spec(request)
    systems = [System(str(n), text, str(n), spec.format, f"/systems/{n}") for n, text in enumerate(outputs)]
    report = evaluate_systems(spec, gold, "digest", systems, **asked)
    for outcomes in report.outcomes:
        for entry in spec.entries:
            outcome = outcomes[entry.key]
            outcome.extra(), dict(outcome.slices()), outcome.item(0)
            part_scores(entry.metric.table, [outcome.rows] * 2)

def reached():
    compiled = [one for one in gc.get_objects() if isinstance(one, _Compiled) and "_dispatcher" in vars(one)]
    types = {f"{one.plain.__name__}{each}" for one in compiled for each in one._dispatcher.signatures}
    return types | set(sys.modules)

warm()
before = reached()
for format, metrics, gold, output in json.loads(sys.argv[1]):
    run({"format": format, "metrics": metrics}, gold.encode(), [output.encode()] * 2, significance={})
for metric in METRICS.values():
    for example in metric.examples:
        request = example.request(metric.name)
        scores = [f"{metric.name}.{one.name}" for one in parse_spec(request).entries[0].metric.table.scores]
        for times in (1, 12):
            chosen = [*range(len(example.sentences))] * times
            gold, output = example.gold(chosen), example.output(chosen)
            items = ItemInfo(blocks=[str(number // 2) for number in chosen])
            run(request, gold, [output])
            run(request, gold, [output, gold], significance={})
            run(request, gold, [output, gold], significance={"scores": scores}, items=items)
print(json.dumps(sorted(reached() - before)))
"""

NOT_WARMED = """
import gc, json
from treescore.core.jit import _Compiled
from treescore.warm import warm
warm()
compiled = [one for one in gc.get_objects() if isinstance(one, _Compiled)]
print(json.dumps([str(one.plain) for one in compiled if "_dispatcher" not in vars(one)] if compiled else ["none"]))
"""


def said(program: str, *arguments: str, setting: str = "auto") -> list[str]:
    """What a fresh process prints as JSON, which compiles as the setting says."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env={**os.environ, "TREESCORE_COMPILE": setting},
        capture_output=True,
        text=True,
        check=True,
    )
    names: list[str] = json.loads(done.stdout)
    return names


@pytest.mark.parametrize(("name", "metric", "first"), [("conllx", "attachment", ""), ("conllu", "ud", MULTIWORD)])
def test_one_system_is_scored_without_compiler_and_libraries_of_tests(name: str, metric: str, first: str) -> None:
    loaded = set(said(ONE_SYSTEM, name, metric, first + GOLD, first + OUTPUT))
    assert {"numpy", "treescore"} <= loaded
    assert not loaded & HEAVY


MOST_COMPILED = 20
"""Each takes a second to compile, where nothing is kept."""


def test_few_functions_are_compiled() -> None:
    load_all()
    own = {one.plain for one in jit._ALL if one.plain.__module__.startswith("treescore.")}
    assert 0 < len(own) <= MOST_COMPILED


all_compiled = pytest.mark.skipif(
    os.environ.get("TREESCORE_COMPILE") != "always", reason="compiles everything: make test-compiled"
)


@all_compiled
def test_warming_reaches_every_compiled_function() -> None:
    assert said(NOT_WARMED, setting="always") == []


@all_compiled
def test_after_warming_no_job_loads_a_module_or_compiles_a_function_for_other_types() -> None:
    trees = "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n"
    jobs = [
        ("conllu", ["attachment", "ud", "enhanced", "dependency_relations"], GOLD, OUTPUT),
        ("conllu", [{"name": "attachment", "params": {"punctuation": False}}], GOLD, OUTPUT),
        ("bracketed", ["parseval", "leaf_ancestor", "conformance"], trees, trees.replace("NP", "NX")),
        ("pharaoh", ["alignment"], "0-0 1-1\n", "0-0 1-0\n"),
    ]
    assert said(AFTER_WARMING, json.dumps(jobs), setting="always") == []
