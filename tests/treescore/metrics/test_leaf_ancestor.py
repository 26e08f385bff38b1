"""Leaf-ancestor: the published examples, cost functions, statuses, dependency chains, bounds, diagnosis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.treescore.building import treebank
from treescore.core.registry import ERROR, OK, SKIP, ItemInfo, Outcome, make_metric
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.errors import InputError, LimitError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.leaf_ancestor.metric import TABLE


def compare(gold: list[str], system: list[str], limits: Limits = DEFAULT_LIMITS, **params: Any) -> Outcome:
    metric = make_metric("leaf_ancestor", params)
    first = treebank(*gold)
    return metric.evaluate(first, treebank(*system, vocabulary=first.vocabulary), ItemInfo(), limits)


def scores(outcome: Outcome) -> dict[str, float]:
    return {name: float(value) for name, value in TABLE.values(outcome.totals).items()}


@pytest.mark.parametrize("number", range(5))
def test_published_examples_hold(golden: Any, number: int) -> None:
    """Sampson & Babarczy 2003: sentence scores to three decimals, per-word tables with lineages as printed."""
    example = golden("leaf_ancestor")["examples"][number]
    outcome = compare([example["gold"]], [example["system"]], cost="first-character")
    assert round(scores(outcome)["word_mean"], 3) == example["leaf_ancestor"]
    assert round(scores(outcome)["sentence_mean"], 3) == example["leaf_ancestor"]
    if "words" in example:
        found = [{**word, "score": round(word["score"], 3)} for word in outcome.item(0)["words"]]
        assert found == example["words"]


def test_a_one_word_constituent_has_both_boundaries() -> None:
    outcome = compare(["(S (NP (PRP it)) (VP (VBZ is)))"], ["(S (NP (PRP it)) (VBZ is))"])
    words = outcome.item(0)["words"]
    assert words[0]["gold_lineage"] == "NP ] [ S"
    assert words[1]["gold_lineage"] == "[ VP S ]"
    assert words[1]["system_lineage"] == "S ]"
    # VP [ S ] against S ]: two symbols deleted of 4 + 2.
    assert words[1]["score"] == pytest.approx(1 - 2 / 6)


def test_costs() -> None:
    gold, system = ["[S [NP a] b]"], ["[S [N1 a] b]"]
    # NP ] [ S against N1 ] [ S: one replacement among eight symbols, the second word is right.
    assert scores(compare(gold, system))["word_mean"] == pytest.approx((1 - 2 / 8 + 1) / 2)
    assert scores(compare(gold, system, cost="first-character"))["word_mean"] == pytest.approx((1 - 0.5 / 8 + 1) / 2)
    for pair in (["NP", "N1", 0.25], ["N1", "NP", 0.25]):
        table = {"pairs": [pair]}
        assert scores(compare(gold, system, cost=table))["word_mean"] == pytest.approx((1 - 0.25 / 8 + 1) / 2)
    assert scores(compare(gold, system, cost={"pairs": [], "default": 1}))["word_mean"] == pytest.approx(
        (1 - 1 / 8 + 1) / 2
    )
    assert scores(compare(gold, system, boundaries=False))["word_mean"] == pytest.approx((1 - 2 / 4 + 1) / 2)


@pytest.mark.parametrize(
    "cost",
    [
        "whatever",
        {"pairs": [["NP", "N1"]]},
        {"pairs": [["NP", "N1", -1]]},
        {"pairs": [["NP", "NP", 1]]},
        {"pairs": [["NP", "N1", 1], ["N1", "NP", 2]]},
    ],
)
def test_wrong_cost_tables_are_refused(cost: Any) -> None:
    with pytest.raises(InputError) as error:
        make_metric("leaf_ancestor", {"cost": cost})
    assert error.value.problems[0].pointer.startswith("/cost")


def test_words_must_agree() -> None:
    gold = ["(S a b)", "(S a b)", "(S a b)", "(S a b)"]
    outcome = compare(gold, ["(S a b)", "(S a)", "", "(S a secret)"])
    assert outcome.status.tolist() == [OK, ERROR, SKIP, ERROR]
    assert outcome.totals.tolist() == [2, 2, 1, 1, 2, 1]
    assert sorted(outcome.problems) == [1, 3]
    assert outcome.problems[1].code == "word-count-mismatch"
    problem = outcome.problems[3]
    assert problem.code == "word-mismatch"
    assert "'secret'" in problem.detail
    assert "'b'" not in problem.detail
    assert "'b'" in str(problem.gold_detail)
    assert 0 not in outcome.problems
    assert outcome.item(1) == {}
    assert compare(gold, ["(S a b)", "(S a)", "", "(S a c)"], errors="zero").totals.tolist() == [8, 2, 4, 1, 2, 1]


def test_nothing_to_score_is_undefined() -> None:
    outcome = compare(["(S a)"], [""])
    assert np.isnan(scores(outcome)["word_mean"])
    assert np.isnan(scores(outcome)["sentence_mean"])


def test_trees_without_constituents() -> None:
    """Two empty lineages are alike; an empty one shares nothing with any other."""
    assert scores(compare(["(NN a)"], ["(NN a)"]))["word_mean"] == 1.0
    assert scores(compare(["(NN a)"], ["(S (NN a))"]))["word_mean"] == 0.0


def test_the_bound_on_depth_times_words() -> None:
    words = " ".join("(NN a)" for _ in range(40))
    gold, system = "(X " * 30 + words + ")" * 30, "(Y " * 30 + words + ")" * 30
    assert compare([gold], [system]).totals[0] == 40
    with pytest.raises(LimitError) as error:
        compare(["(S b)", gold], ["(S b)", system], Limits(max_lineage_cells=1199))
    assert error.value.problems[0].code == "lineage-limit"
    assert error.value.problems[0].sentence == 2
    with pytest.raises(LimitError):
        # A whole text may have 50 times as much as a sentence.
        compare([gold] * 51, [gold] * 51, Limits(max_lineage_cells=1200))
    # 1,200 cells fit, but the squares of the lineages, of 30 labels and 4 marks, sum to 40 * 34 * 34.
    within, beyond = (Limits(max_lineage_cells=40 * 34 * 34 // 10 - less) for less in (0, 1))
    assert compare([gold], ["(S " + words + ")"], within).totals[0] == 40
    for sides in ((gold, system), ("(S " + words + ")", gold), (gold, gold)):
        with pytest.raises(LimitError):
            compare(*([side] for side in sides), beyond)


@pytest.mark.slow
def test_items_of_hostile_trees_stay_small() -> None:
    size, depth = 1500, 1100
    tree = "(X " * depth + " ".join(["(NN a)"] * size) + ")" * depth
    words = compare([tree], [tree]).item(0)["words"]
    assert len(words) == size
    assert len(words[1]["gold_lineage"].split()) < 700
    assert words[0]["gold_lineage"].startswith("X X X")
    assert " ... X" in words[0]["gold_lineage"]


def test_deep_and_long_sentences_are_quick() -> None:
    deep = "(X " * 5000 + "(NN a)" + ")" * 5000
    assert scores(compare([deep], [deep]))["word_mean"] == 1.0
    long = "(S " + " ".join(f"(NP (NN w{i}))" for i in range(5000)) + ")"
    assert scores(compare([long], ["(S " + " ".join(f"(NN w{i})" for i in range(5000)) + ")"]))["word_mean"] < 1.0


def test_diagnosis_puts_regular_errors_before_one_offs() -> None:
    gold = ["(S (NP (DT the) (NN dog)) (VP (VBD ran) (PP (IN in) (NP (NN town)))))"] * 12 + ["(S (X (UH oh)))"]
    system = ["(S (NP (DT the) (NN dog)) (VP (VBD ran)) (PP (IN in) (NP (NN town))))"] * 12 + ["(Y (Z (UH oh)))"]
    outcome = compare(gold, system)
    diagnosis = outcome.extra()["diagnosis"]
    leaders = {kind: [row["value"] for row in rows[:2]] for kind, rows in diagnosis.items()}
    assert leaders == {
        "word": ["ran", "in"],
        "tag": ["VBD", "IN"],
        "label": ["VP", "PP"],
        "parent_child": [["S", "VP"], ["VP", "PP"]],
        "lineage": leaders["lineage"],
    }
    assert set(leaders["lineage"]) == {"[ PP VP S", "[ VP S"}
    leading = diagnosis["word"][0]
    assert leading["count"] == 12
    assert leading["mean"] == pytest.approx(1 - 1 / 7)
    assert leading["mean"] < leading["upper_bound"] <= 1
    assert len(leading["examples"]) == 3
    assert leading["examples"][0]["item"] == 1
    assert leading["examples"][0]["position"] == 3
    assert all(row["value"] != "oh" for row in diagnosis["word"])
    once = compare(gold, system, diagnosis={"min_count": 1}).extra()["diagnosis"]["word"]
    assert [row["upper_bound"] for row in once] == sorted(row["upper_bound"] for row in once)
    assert "oh" in [row["value"] for row in once]


def test_slices_sum_to_the_whole() -> None:
    gold, system = ["(S (NP (DT the) (NN dog)) (VBD ran))"] * 2, ["(S (DT the) (NN dog) (VP (VBD ran)))", "(S the)"]
    outcome = compare(gold, system)
    for rows in outcome.slices().values():
        assert sum(row["counts"]["words"] for row in rows) == outcome.totals[0]
        assert sum(row["counts"]["word_score_sum"] for row in rows) == pytest.approx(outcome.totals[1])


def reference_distance(a: list[str], b: list[str], related: float) -> float:
    table = [[float(i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            change = 0.0 if x == y else related if x[0] == y[0] else 2.0
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + change)
    return table[-1][-1]


@given(
    st.lists(st.sampled_from("SNVA"), min_size=1, max_size=9), st.lists(st.sampled_from("SNVA"), min_size=1, max_size=9)
)
def test_distances_are_those_of_the_plain_table(gold: list[str], system: list[str]) -> None:
    """The short cuts (equal ends cut off) change nothing."""
    first = [label + str(place % 2) for place, label in enumerate(gold)]
    second = [label + str(place % 3) for place, label in enumerate(system)]
    trees = ["".join(f"[{label} " for label in reversed(chain)) + "w" + "]" * len(chain) for chain in (first, second)]
    for cost, related in (("first-character", 0.5), ("exact", 2.0)):
        outcome = compare(trees[:1], trees[1:], cost=cost, boundaries=False)
        expected = 1 - reference_distance(first, second, related) / (len(first) + len(second))
        assert outcome.totals[1] == pytest.approx(expected, abs=1e-12)


def test_without_boundaries_different_trees_may_have_the_same_lineages() -> None:
    assert scores(compare(["[S [X a] [X b]]"], ["[S [X a b]]"], boundaries=False))["word_mean"] == 1.0
    assert scores(compare(["[S [X a] [X b]]"], ["[S [X a b]]"]))["word_mean"] < 1.0


def conllu(*rows: tuple[str, int, str]) -> bytes:
    lines = [
        f"{place}\t{form}\t_\tX\t_\t_\t{head}\t{deprel}\t_\t_\n" for place, (form, head, deprel) in enumerate(rows, 1)
    ]
    return ("".join(lines) + "\n").encode()


def test_dependency_lineages_are_chains_of_relations() -> None:
    gold = conllu(("the", 2, "det"), ("dog", 3, "nsubj"), ("ran", 0, "root"))
    system = conllu(("the", 3, "det"), ("dog", 3, "nsubj"), ("ran", 0, "root"))
    spec = parse_spec({"format": "conllu", "metrics": ["leaf_ancestor"]})
    outcome = Evaluation(spec, gold).score(system)[0]["leaf_ancestor"]
    assert outcome.item(0)["words"] == [
        {"word": "the", "score": 0.8, "gold_lineage": "det nsubj root", "system_lineage": "det root"},
        {"word": "dog", "score": 1.0, "gold_lineage": "nsubj root", "system_lineage": "nsubj root"},
        {"word": "ran", "score": 1.0, "gold_lineage": "root", "system_lineage": "root"},
    ]
    assert outcome.extra()["diagnosis"]["label"] == []


def test_a_head_with_leading_zeros_is_the_number_it_writes() -> None:
    gold = conllu(("the", 2, "det"), ("dog", 0, "root"))
    spec = parse_spec({"format": "conllu", "metrics": ["leaf_ancestor"]})
    found = Evaluation(spec, gold).score(gold.replace(b"\t2\tdet", b"\t02\tdet"))[0]["leaf_ancestor"]
    assert found.totals[:2].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("heads", "chains"),
    [
        ([2, 1, 0], ["a b", "b a", "c"]),
        ([1, 1, 2], ["a", "b a", "c b a"]),
        ([2, 3, 2], ["a b c", "b c", "c b"]),
        ([2, 3, 1], ["a b c", "b c a", "c a b"]),
    ],
)
def test_cycles_are_walked_once(heads: list[int], chains: list[str]) -> None:
    text = "".join(
        f"{i}\tw\t_\tX\tX\t_\t{head}\t{name}\t_\t_\n" for i, head, name in zip("123", heads, "abc", strict=True)
    )
    spec = parse_spec({"format": "conllx", "metrics": ["leaf_ancestor"]})
    outcome = Evaluation(spec, f"{text}\n".encode()).score(f"{text}\n".encode())[0]["leaf_ancestor"]
    assert [word["gold_lineage"] for word in outcome.item(0)["words"]] == chains
    assert outcome.totals[0] == outcome.totals[1] == 3


def test_a_long_chain_of_heads_meets_the_bound() -> None:
    size = 300
    text = conllu(*[("w", place, "dep") for place in range(size)])
    spec = parse_spec({"format": "conllu", "metrics": ["leaf_ancestor"]})
    with pytest.raises(LimitError):
        Evaluation(spec, text, limits=Limits(max_lineage_cells=size * size - 1)).score(text)
    assert Evaluation(spec, text).score(text)[0]["leaf_ancestor"].totals[1] == size


@pytest.mark.slow
def test_real_trees(real_data: Path) -> None:
    spec = parse_spec({"format": "bracketed", "metrics": ["leaf_ancestor", "conformance", "parseval"]})
    gold, system = ((real_data / "gum" / f"{name}.mrg").read_bytes() for name in ("gold", "corenlp"))
    outcomes = Evaluation(spec, gold).score(system)[0]
    leaf = outcomes["leaf_ancestor"]
    assert (leaf.status == ERROR).sum() == (outcomes["conformance"].status == ERROR).sum() > 0
    assert 0.8 < leaf.totals[1] / leaf.totals[0] < 0.9
    itself = Evaluation(spec, gold).score(gold)[0]
    assert itself["leaf_ancestor"].totals[0] == itself["leaf_ancestor"].totals[1]
    for diagnosed in leaf.extra()["diagnosis"].values():
        assert all(row["count"] >= 5 and row["mean"] < 1 for row in diagnosed)
