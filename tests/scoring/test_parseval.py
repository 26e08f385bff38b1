"""The parseval metric on trees small enough to count by hand."""

from __future__ import annotations

from typing import Any

from scoring.evaluate import Evaluation
from scoring.spec import parse_spec


def score(gold: str, system: str, **params: Any) -> dict[str, int]:
    spec = parse_spec({"format": "bracketed", "metrics": [{"name": "parseval", "params": params}]})
    outcomes, _ = Evaluation(spec, gold.encode()).score(system.encode())
    outcome = outcomes["parseval"]
    names = spec.entries[0].metric.table.count_names
    return dict(zip(names, outcome.totals.tolist(), strict=True))


def test_the_example_of_the_contract() -> None:
    gold = "(TOP (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it)))))\n"
    counts = score(gold, "(TOP (S (NP (DT the)) (VP (NN dog) (VBD saw) (NP (PRP it)))))\n")
    assert (counts["matched"], counts["gold"], counts["system"], counts["crossing"]) == (2, 4, 4, 1)
