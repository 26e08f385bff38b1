"""The example benchmark can be scored, and tells its systems apart as it promises."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from treescore.core.registry import ERROR, Outcome
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Spec, parse_spec
from treescore.significance import Candidate, compare
from treescore.significance.settings import Settings

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
BENCHMARKS = {
    "trees": ("bracketed", "parseval", "labelled_f1", "gold.mrg"),
    "dependencies": ("conllu", "attachment", "las", "gold.conllu"),
    "alignments": ("pharaoh", "alignment", "aer", "gold.pharaoh"),
}
SENTENCES = {"trees": 60, "dependencies": 60, "alignments": 20}


def chosen(folder: str) -> Spec:
    """Format and metric of a benchmark."""
    text_format, metric, _, _ = BENCHMARKS[folder]
    return parse_spec({"format": text_format, "metrics": [metric]})


@cache
def outcomes(folder: str) -> dict[str, tuple[float, Outcome]]:
    """Main score and outcome of gold against itself and of every system."""
    _, metric, score, gold = BENCHMARKS[folder]
    spec = chosen(folder)
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
        assert len(outcome.rows) == SENTENCES[folder]
        assert not (outcome.status == ERROR).any(), name
        goodness = 1 - value if folder == "alignments" else value
        assert (goodness == 1.0) is (name == "gold")
        assert goodness > 0.25


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


def test_the_readme_tells_these_figures() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"\| ([a-z0-9-]+) \| (\d\.\d{3}) (?=\|)", readme)
    computed = [
        (name, f"{value:.3f}")
        for folder in BENCHMARKS
        for name, (value, _) in outcomes(folder).items()
        if name != "gold"
    ]
    assert sorted(told) == sorted(computed)


@pytest.mark.parametrize(
    ("folder", "close"),
    [
        ("trees", {("chart", "shift-reduce"), ("neural-a", "neural-b")}),
        ("dependencies", {("neural-a", "neural-b")}),
        ("alignments", {("hmm", "ibm1-intersection")}),
    ],
)
def test_some_systems_differ_significantly_and_some_do_not(folder: str, close: set[tuple[str, str]]) -> None:
    """Paired permutation over sentences, Holm over all pairs, 5 %."""
    _, metric, score, _ = BENCHMARKS[folder]
    table = chosen(folder).entry(metric).metric.table
    candidates = [Candidate(name, (found.rows,)) for name, (_, found) in outcomes(folder).items() if name != "gold"]
    document = compare(f"{metric}.{score}", table.by_name[score], table.count_names, candidates, Settings())
    found = {tuple(sorted((pair["a"], pair["b"]))) for pair in document["pairs"] if not pair["significant"]}
    assert found == close
    assert len(document["pairs"]) > 3 * len(close)
