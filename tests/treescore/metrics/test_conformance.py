"""Conformance: the published table, selection, categories, multisets, crossings, reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treescore.metrics
import treescore.transforms  # noqa: F401 - importing the packages fills the registry
from tests.treescore.building import tree_strings, treebank
from treescore.core.registry import ERROR, OK, SKIP, ItemInfo, Metric, Outcome, make_metric, make_transform
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import ConstituentTreebank
from treescore.errors import InputError


def metric_of(**params: Any) -> Metric:
    return make_metric("conformance", params)


def compare(gold: str | list[str], system: str | list[str], **params: Any) -> Outcome:
    first = treebank(*([gold] if isinstance(gold, str) else gold))
    second = treebank(*([system] if isinstance(system, str) else system), vocabulary=first.vocabulary)
    return metric_of(**params).evaluate(first, second, ItemInfo(), DEFAULT_LIMITS)


def counts(outcome: Outcome, **params: Any) -> dict[str, int]:
    return dict(zip(metric_of(**params).table.count_names, outcome.totals.tolist(), strict=True))


def scores(outcome: Outcome, **params: Any) -> dict[str, float]:
    return {name: float(value) for name, value in metric_of(**params).table.values(outcome.totals).items()}


@pytest.mark.parametrize("number", range(4))
def test_the_published_table_holds(golden: Any, number: int) -> None:
    """Gaizauskas, Hepple & Huyck 1998, table 1; percentages are rounded there."""
    table = golden("conformance")
    row = table["rows"][number]
    outcome = compare(table["trees"][row["key"]], table["trees"][row["response"]])
    names = ("key_constituents", "response_constituents", "matched", "key_constituents_violated")
    assert {name: counts(outcome)[name] for name in names} == {name: row[name] for name in names}
    found = {f"{name}_pct": round(100 * value) for name, value in scores(outcome).items()}
    assert found == {name: row[name] for name in found}
    assert len(found) == 3


def test_flattening_the_penn_tree_makes_it_the_flat_key(golden: Any) -> None:
    trees = golden("conformance")["trees"]
    penn = treebank(trees["PTB"])
    flat = make_transform("flatten", {}).apply(penn, penn)
    outcome = metric_of().evaluate(
        flat, treebank(trees["ALT-bad"], vocabulary=penn.vocabulary), ItemInfo(), DEFAULT_LIMITS
    )
    assert outcome.totals[:4].tolist() == [5, 11, 3, 1]


def test_constituents_are_multisets() -> None:
    """The published trees have no two phrases over the same words; counts of nodes say what one would expect."""
    gold, system = "(S (NP (NP (NP (NN a)))) (NN b))", "(S (X (NP (NN a))) (NN b))"
    outcome = compare(gold, system)
    assert outcome.totals[:4].tolist() == [4, 3, 3, 0]


def test_outer_bracket_and_preterminals() -> None:
    tree = "( (S (NN a) (NN b)))"
    assert compare(tree, "(S (NN a) (NN b))").totals[:4].tolist() == [1, 1, 1, 0]
    assert compare(tree, "(S (NN a) (NN b))", outer_bracket=True).totals[:4].tolist() == [2, 1, 1, 0]
    assert compare(tree, "(S (NN a) (NN b))", preterminals=True).totals[:4].tolist() == [3, 3, 3, 0]
    assert compare("( (S (NN a) (NP (NN b))))", "(S (NN a) (NN b))", preterminals=True).totals[:4].tolist() == [
        4,
        3,
        3,
        0,
    ]


def test_keys_by_category_and_depth() -> None:
    gold = "( (S (NP-SBJ (NN a) (NN b)) (VP (VB c) (NP (NN d) (NN e)))))"
    system = "(S (NN a) (X (NN b) (VB c)) (NP (NN d) (NN e)))"
    assert compare(gold, system).totals[:4].tolist() == [4, 3, 2, 2]
    assert compare(gold, system, select={"categories": ["NP"]}).totals[:4].tolist() == [2, 3, 1, 1]
    assert compare(gold, system, select={"categories": ["NP-SBJ"]}).totals[:4].tolist() == [1, 3, 0, 1]
    assert compare(gold, system, select={"max_depth": 1}).totals[:4].tolist() == [1, 3, 1, 0]
    assert compare(gold, system, select={"min_depth": 2, "max_depth": 2}).totals[:4].tolist() == [2, 3, 0, 2]
    assert np.isnan(scores(compare(gold, system, select={"categories": ["QP"]}))["conformance"])


def test_labelled_recall_through_a_map() -> None:
    gold, system = "(S (NP (NN a) (NN b)) (VP (VB c) (NN d)))", "(S (N1 (NN a) (NN b)) (VBAR (VB c) (NN d)))"
    for categories, recall in (
        ({}, 1 / 3),
        ({"N1": "NP"}, 2 / 3),
        ({"NP": ["N1"], "VBAR": "VP"}, 1),
        ({"NP": "N1"}, 2 / 3),
    ):
        assert scores(compare(gold, system, categories=categories), categories=categories)[
            "labelled_recall"
        ] == pytest.approx(recall)
    assert "labelled_recall" not in scores(compare(gold, system))
    with pytest.raises(InputError):
        metric_of(categories={"NP": ["N1"], "N1": "VP"})


def test_sentences_that_cannot_be_compared() -> None:
    gold = ["(S (NP (NN a)) (NN b))"] * 3
    system = [gold[0], "(S (NN a))", ""]
    outcome = compare(gold, system)
    assert outcome.status.tolist() == [OK, ERROR, SKIP]
    assert outcome.totals.tolist() == [2, 2, 2, 0, 0, 1, 1]
    assert outcome.item(1) == {}
    assert compare(gold, system, errors="zero").totals.tolist() == [6, 6, 2, 4, 0, 1, 1]


def test_reports_say_what_is_missed_and_violated() -> None:
    gold = ["(S (NP (DT the) (NN dog)) (VP (VBD saw) (PP (IN in) (NN town))))"] * 3 + ["(S (NP (DT a) (NN b)))"]
    system = ["(S (NP (DT the) (NN dog)) (X (VBD saw) (IN in)) (NN town))"] * 3 + ["(S (NP (DT a) (NN b)))"]
    outcome = compare(gold, system)
    tables = outcome.extra()
    missed = [(row["label"], row["parent"], row["children"], row["count"], row["of"]) for row in tables["missed"]]
    assert sorted(missed) == [("PP", "VP", ["IN", "NN"], 3, 3), ("VP", "S", ["VBD", "PP"], 3, 3)]
    violated = [(row["label"], row["count"]) for row in tables["violated"]]
    assert violated == [("PP", 3)]
    assert tables["violated"][0]["examples"][0] == {"item": 1, "label": "PP", "start": 3, "end": 5, "text": "in town"}
    assert [row["label"] for row in outcome.item(0)["missed"]] == ["VP", "PP"]
    labels = {row["value"]: row["counts"] for row in outcome.slices()["label"]}
    assert labels["NP"] == {"key_constituents": 4, "matched": 4, "key_constituents_violated": 0}


def test_children_are_listed_in_the_order_of_the_tree_also_without_words() -> None:
    outcome = compare("(S (NP (X a)) (VP (Q) (NP (X b) (X c))))", "(S (NP (X a)) (X b) (X c))")
    children = {row["label"]: row["children"] for row in outcome.extra()["missed"]}
    assert children == {"VP": ["Q", "NP"], "NP": ["X", "X"]}


def test_long_and_deep_sentences_are_quick() -> None:
    long = " ".join(f"(NP (NN w{i}) (NN v))" for i in range(3000))
    shifted = "(NN w0) " + " ".join(f"(NP (NN v) (NN w{i}))" for i in range(1, 3000)) + " (NN v)"
    outcome = compare(f"(S {long})", f"(S {shifted})")
    assert outcome.totals[:4].tolist() == [3001, 3000, 1, 3000]
    deep = "(X (NN a) " * 5000 + "(NN b)" + ")" * 5000
    assert compare(deep, deep).totals[:4].tolist() == [5000, 5000, 5000, 0]


def spans(trees: ConstituentTreebank) -> list[tuple[int, int]]:
    return [(a, b) for a, b in zip(trees.starts.tolist(), trees.ends.tolist(), strict=True) if a < b]


@given(tree_strings(), st.integers(0, 2**32 - 1))
def test_crossings_and_matches_are_those_of_all_pairs(tree: str, seed: int) -> None:
    """Against another tree over the same words."""
    gold = treebank(tree)
    size = len(gold.words)
    system = treebank(random_tree(np.random.default_rng(seed), gold), vocabulary=gold.vocabulary)
    outcome = metric_of(outer_bracket=True).evaluate(gold, system, ItemInfo(), DEFAULT_LIMITS)
    key, response = spans(gold), spans(system)
    left = list(response)
    matched = sum(1 for span in key if span in left and left.remove(span) is None)
    violated = sum(any(a < c < b < d or c < a < d < b for c, d in response) for a, b in key)
    if size:
        assert outcome.totals[:4].tolist() == [len(key), len(response), matched, violated]


def random_tree(rng: np.random.Generator, like: ConstituentTreebank) -> str:
    """A random binary tree over the same words."""
    parts = [f"({tag} {word})" for tag, word in words_of(like)]
    while len(parts) > 1:
        place = int(rng.integers(0, len(parts) - 1))
        parts[place : place + 2] = [f"(X {parts[place]} {parts[place + 1]})"]
    return "".join(parts)


def words_of(trees: ConstituentTreebank) -> list[tuple[str, str]]:
    strings = trees.vocabulary.strings
    return [(strings[tag], strings[word]) for tag, word in zip(trees.tags.tolist(), trees.words.tolist(), strict=True)]
