"""The figures of the IWPT 2020 script, after collapsing, for every choice of what is left out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT
from treescore.core.registry import ERROR, OK
from treescore.core.trees import DependencyTreebank, Sentences
from treescore.errors import InputError, Problem
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.enhanced.edges import KINDS

CASES: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "field_enhanced.json").read_bytes())["cases"]
SWITCHES = [
    pytest.param(name, switch, id=f"{name}-{switch}")
    for name, case in CASES.items()
    for switch in case["reference_after_collapsing"]
]
COUNTS = ("correct", "gold", "system")


def scored(gold: str, system: str, **params: Any) -> tuple[dict[str, int], str]:
    spec = parse_spec({"format": "conllu", "metrics": [{"name": "enhanced", "params": params}]})
    metric = spec.entries[0].metric
    outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["enhanced"]
    return dict(zip(metric.table.count_names, outcome.totals.tolist(), strict=True)), metric.report("iwpt20", outcome)


def kinds(switch: str) -> list[str]:
    """The kinds of enhancement that a value of --enhancements leaves out."""
    return [kind for number, kind in enumerate(KINDS, 1) if str(number) in switch]


@pytest.mark.parametrize(("name", "switch"), SWITCHES)
def test_the_script_prints_the_same(name: str, switch: str) -> None:
    case, reference = CASES[name], CASES[name]["reference_after_collapsing"][switch]
    counts, report = scored(case["gold"], case["system"], counting="cross-product", leave_out=kinds(switch))
    if not reference["ok"]:
        # The script ends with an error at `_` in DEPS; here it is a word without edges.
        assert name == "no_deps_in_system"
        assert (counts["elas.correct"], counts["elas.system"]) == (0, 0)
        return
    for row in ("elas", "eulas"):
        assert [counts[f"{row}.{count}"] for count in (*COUNTS, "aligned")] == reference[row]
    assert report.splitlines()[2:] == reference["rows"]


@pytest.mark.parametrize(("name", "switch"), SWITCHES)
def test_collapsed_texts_give_the_same_and_one_to_one_matching_never_exceeds_one(name: str, switch: str) -> None:
    case = CASES[name]
    one, _ = scored(case["gold"], case["system"], leave_out=kinds(switch))
    other, _ = scored(case["collapsed_gold"], case["collapsed_system"], leave_out=kinds(switch)[::-1])
    assert one == other
    for row in ("elas", "eulas"):
        assert one[f"{row}.correct"] <= min(one[f"{row}.gold"], one[f"{row}.system"])


def test_the_basic_edge_of_a_root_never_matches() -> None:
    text = "1\ta\t_\tX\t_\t_\t0\troot\t1.1:conj>x\t_\n1.1\t_\t_\t_\t_\t_\t_\t_\t0:root\t_\n\n"
    counts, _ = scored(text, text, leave_out=["gapping"])
    assert [counts[f"elas.{count}"] for count in COUNTS] == [0, 1, 1]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="leave_out"):
        scored(CASES["gapping"]["gold"], CASES["gapping"]["gold"], leave_out=["gaping"])


def test_a_sentence_that_could_not_be_read_scores_zero_and_the_others_as_before() -> None:
    lines = ("1-2\tdu" + 8 * "\t_", "1\tde\t_\tX\t_\t_\t0\troot\t0:root\t_", "2\tle\t_\tX\t_\t_\t1\tdep\t1:dep\t_")
    du = "\n".join(lines) + "\n\n"
    word = "1\tx\t_\tX\t_\t_\t0\troot\t0:root\t_\n\n"
    spec = parse_spec({"format": "conllu", "metrics": ["enhanced"]})
    evaluation = Evaluation(spec, (word + du + du + word).encode())
    system = evaluation.read((word + du + du + word).encode(), spec.format)
    assert isinstance(system, DependencyTreebank)
    cut = DependencyTreebank.of_columns(
        system.vocabulary, np.array([0, 1, 1, 3, 4]), forms=system.forms[[0, 3, 4, 5]],
        heads=system.heads[[0, 3, 4, 5]], deprels=system.deprels[[0, 3, 4, 5]],
    )  # fmt: skip
    problem = Problem("conllu-column-count", "The line has 9 columns.", line=4, sentence=2)
    cut = replace(
        cut, deps=system.deps[[0, 3, 4, 5]], mwt_starts=np.array([1]), mwt_ends=np.array([3]),
        mwt_forms=system.mwt_forms[:1], mwt_misc=system.mwt_misc[:1],
        sentences=Sentences(unreadable={1: problem}),
    )  # fmt: skip
    outcome = evaluation.compare(cut, spec.format)["enhanced"]
    assert outcome.rows[:, :3].tolist() == [[1, 1, 1], [0, 2, 0], [2, 2, 2], [1, 1, 1]]
    assert outcome.status.tolist() == [OK, ERROR, OK, OK]
    assert outcome.problems == {1: problem}
    kept = replace(system, sentences=Sentences(unreadable={1: problem}))
    assert evaluation.compare(kept, spec.format)["enhanced"].rows.tolist() == outcome.rows.tolist()


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_kind_takes_a_text_of_one_word_whose_only_edge_is_that_of_the_root(kind: str) -> None:
    """The head of that edge is no word."""
    text = "1\tGo\t_\tX\t_\t_\t0\troot\t0:root\t_\n\n"
    counts, _ = scored(text, text, leave_out=[kind])
    assert [counts[f"elas.{count}"] for count in COUNTS] == [1, 1, 1]
