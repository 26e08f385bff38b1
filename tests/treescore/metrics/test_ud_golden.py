"""ud against conll18_ud_eval.py 1.2: small cases and shared-task outputs."""

from __future__ import annotations

import base64
import math
from typing import Any

import pytest

from treescore.core.registry import Outcome
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import Spec, parse_spec
from treescore.metrics.ud import ROWS

SPEC = parse_spec({"format": "conllu", "metrics": ["ud"]})

# Scored there though nonsense; here an error that says where.
REFUSED = {37: "conllu-wrong-id", 51: "empty-text", 78: "conllu-bad-head", 79: "conllu-bad-head"}

# Refused there though nothing can be misunderstood; here scored, with a warning where a line was left out.
ACCEPTED = {54, 57, 59, 65, 66, 67, 68}


def evaluate(gold: bytes, system: bytes, spec: Spec = SPEC) -> Outcome:
    return Evaluation(spec, gold).score(system)[0]["ud"]


def counts_of(outcome: Outcome) -> dict[str, list[int | None]]:
    names = SPEC.entries[0].metric.table.count_names
    totals = dict(zip(names, outcome.totals.tolist(), strict=True))
    return {row: [totals.get(f"{row}.{name}") for name in ("correct", "gold", "system", "aligned")] for row in ROWS}


def text_of(side: dict[str, str]) -> bytes:
    return base64.b64decode(side["base64"]) if "base64" in side else side["text"].encode()


def test_small_cases_have_the_scripts_counts(golden: Any) -> None:
    for case in golden("ud_cases")["cases"]:
        gold, system = text_of(case["gold"]), text_of(case["system"])
        expected = case["conll18"]
        if case["id"] in ACCEPTED:
            assert evaluate(gold, system).rows.shape[1] == 49
        elif not expected["ok"] or case["id"] in REFUSED:
            with pytest.raises(InputError) as caught:
                evaluate(gold, system)
            assert case["id"] not in REFUSED or caught.value.problems[0].code == REFUSED[case["id"]], case["name"]
            assert caught.value.problems[0].line or caught.value.problems[0].code == "empty-text", case["name"]
        else:
            outcome = evaluate(gold, system)
            assert counts_of(outcome) == {row.lower(): figures[:4] for row, figures in expected["scores"].items()}
            scores = SPEC.entries[0].metric.table.values(outcome.totals)
            for row, figures in expected["scores"].items():
                value = float(scores[f"{row.lower()}_f1"])
                assert (0.0 if math.isnan(value) else value) == pytest.approx(figures[4], abs=1e-10), case["name"]


@pytest.mark.real
def test_shared_task_outputs_have_the_scripts_figures(golden: Any, real_data: Any) -> None:
    folder = real_data / "ud_en_ewt" / "conll2018"
    evaluation = Evaluation(SPEC, (folder / "gold.conllu").read_bytes())
    table = SPEC.entries[0].metric.table
    for name, figures in golden("ud_en_ewt")["systems"].items():
        outcome = evaluation.score((folder / f"{name}.conllu").read_bytes())[0]["ud"]
        found = counts_of(outcome)
        scores = table.values(outcome.totals)
        head, rule, *report = SPEC.entries[0].metric.report("conll18", outcome).splitlines()
        assert head == "Metric     | Precision |    Recall |  F1 Score | AligndAcc"
        assert rule == "-----------+-----------+-----------+-----------+-----------"
        for row, expected in figures.items():
            totals = [expected[key] for key in ("correct", "gold_total", "system_total", "aligned_total")]
            assert found[row.lower()] == totals, (name, row)
            for score in ("precision", "recall", "f1", "aligned_accuracy"):
                value = float(scores[f"{row.lower()}_{score}"])
                assert value == pytest.approx(expected[score] if expected[score] is not None else value, nan_ok=True)
            shares = [expected[score] for score in ("precision", "recall", "f1", "aligned_accuracy")]
            cells = " |".join("" if share is None else f"{100 * share:10.2f}" for share in shares)
            assert f"{row:11}|{cells.rstrip(' ')}" in report, (name, row)
