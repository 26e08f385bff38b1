"""The example benchmark can be scored, and tells its systems apart as it promises."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from scoring.evaluate import Evaluation
from scoring.registry import ERROR, Outcome
from scoring.spec import parse_spec

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BENCHMARKS = {
    "trees": ("bracketed", "parseval", "labelled_f1", "gold.mrg"),
    "dependencies": ("conllu", "attachment", "las", "gold.conllu"),
}


def outcomes(folder: str) -> dict[str, tuple[float, Outcome]]:
    """Main score and outcome of gold against itself and of every system."""
    text_format, metric, score, gold = BENCHMARKS[folder]
    spec = parse_spec({"format": text_format, "metrics": [metric]})
    path = EXAMPLES / folder / gold
    evaluation = Evaluation(spec, path.read_bytes())
    scored = {}
    for output in (path, *sorted((EXAMPLES / folder / "systems").iterdir())):
        found, warnings = evaluation.score(output.read_bytes(), name=output.stem)
        assert not warnings, output
        outcome = found[metric]
        scored[output.stem] = float(spec.entry(metric).metric.table.values(outcome.totals)[score]), outcome
    return scored


@pytest.mark.parametrize("folder", BENCHMARKS)
def test_every_sentence_of_every_file_is_scored(folder: str) -> None:
    for name, (value, outcome) in outcomes(folder).items():
        assert len(outcome.rows) == 60
        assert not (outcome.status == ERROR).any(), name
        assert (value == 1.0) is (name == "gold")
        assert value > 0.25


@pytest.mark.parametrize(
    ("folder", "order"),
    [
        ("trees", ["baseline-right-branching", "baseline-chunks", "pcfg", "shift-reduce", "neural-a"]),
        ("dependencies", ["baseline-neighbours", "rules", "transition", "graph", "neural-a"]),
    ],
)
def test_systems_are_as_good_as_their_names_promise(folder: str, order: list[str]) -> None:
    scored = outcomes(folder)
    values = [scored[name][0] for name in order]
    assert values == sorted(values)
    assert all(better - worse > 0.02 for worse, better in pairwise(values))
