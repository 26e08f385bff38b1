"""Leaf-ancestor over trees with gaps: the figures of disco-dop, markers at gaps, and combined costs."""

from __future__ import annotations

from typing import Any

import pytest

from treescore.core.registry import Outcome
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

PRESET = {"preset": "discodop"}


def scored(gold: str, system: str, name: str, **params: Any) -> tuple[dict[str, float], Outcome]:
    spec = parse_spec({"format": name, "metrics": [{"name": "leaf_ancestor", "params": params}]})
    outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["leaf_ancestor"]
    table = spec.entries[0].metric.table
    return {name: float(value) for name, value in table.values(outcome.totals).items()}, outcome


@pytest.mark.parametrize("form", ["export", "discbracket", "tigerxml"])
def test_every_figure_that_disco_dop_prints(golden: Any, form: str) -> None:
    checked = 0
    for name, case in golden("field_discontinuous")["cases"].items():
        printed = case["reference"]["export_la_ted"].get("leaf-ancestor", ["nan"])[0]
        if printed == "nan" or name == "output_lacks_a_sentence":
            continue
        values, _ = scored(case["gold"][form], case["system"][form], form, **PRESET)
        assert f"{100 * values['sentence_mean']:.2f}" == printed, name
        checked += 1
    assert checked == 12


def test_a_sentence_of_punctuation_alone_is_left_out(golden: Any) -> None:
    """disco-dop prints nan for the whole text."""
    case = golden("field_discontinuous")["cases"]["only_punctuation"]
    values, outcome = scored(case["gold"]["export"], case["system"]["export"], "export", **PRESET)
    assert values["sentence_mean"] == 1
    assert outcome.totals[2] == 1


def test_gaps_are_marked_where_a_constituent_breaks_off_and_goes_on() -> None:
    tree = "(S (VP (A 0=a) (C 2=c)) (B 1=b))\n"
    _, outcome = scored(tree, tree, "discbracket")
    lineages = [word["gold_lineage"] for word in outcome.item(0)["words"]]
    assert lineages == ["VP > [ S", "S", "< VP S ]"]


def test_trees_without_gaps_have_the_lineages_of_bracketed_ones() -> None:
    gold, system = "(S (NP (D a) (N b)) (VP (V c)))\n", "(S (NP (D a)) (VP (N b) (V c)))\n"
    plain = scored(gold, system, "bracketed")[0]
    numbered = [text.replace(" a)", " 0=a)").replace(" b)", " 1=b)").replace(" c)", " 2=c)") for text in (gold, system)]
    assert scored(*numbered, "discbracket")[0] == plain


def test_combined_costs_take_pairs_first_and_then_first_characters() -> None:
    gold, system = "(S (NP (N a)) (VP (V b)))\n", "(S (NX (N a)) (PP (V b)))\n"
    cost = {"pairs": [["VP", "PP", 0.25]], "default": "first-character"}
    _, outcome = scored(gold, system, "bracketed", cost=cost, boundaries=False)
    assert [word["score"] for word in outcome.item(0)["words"]] == [1 - 0.5 / 4, 1 - 0.25 / 4]
    dearer = {"pairs": [["NP", "NX", 1.5]], "default": "first-character"}
    _, outcome = scored(gold, system, "bracketed", cost=dearer, boundaries=False)
    assert [word["score"] for word in outcome.item(0)["words"]] == [1 - 1.5 / 4, 0.5]
