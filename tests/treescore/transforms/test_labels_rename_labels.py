"""Renaming of labels: chains are followed, circles refused, both sides change alike."""

from __future__ import annotations

from typing import Any

import pytest

from tests.treescore.building import brackets, treebank
from treescore.core.registry import make_transform
from treescore.errors import InputError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec

TREE = "(S (ADVP (RB up)) (PRT (RP up)) (ADVP-TMP (ADVP now)))"


def applied(tree: str, labels: dict[str, str], **params: Any) -> str:
    given = treebank(tree)
    return brackets(make_transform("rename-labels", {"labels": labels, **params}).apply(given, given))[0]


def test_labels_and_tags_are_renamed_as_they_stand_in_the_tree() -> None:
    labels = {"ADVP": "PRT"}
    assert applied(TREE, labels) == "(S (PRT (RB up)) (PRT (RP up)) (ADVP-TMP (PRT now)))"
    constituents = "(S (PRT (RB up)) (PRT (RP up)) (ADVP-TMP (ADVP now)))"
    assert applied(TREE, labels, apply_to="constituents") == constituents
    assert applied(TREE, labels, apply_to="tags") == "(S (ADVP (RB up)) (PRT (RP up)) (ADVP-TMP (PRT now)))"
    assert applied("( (S (NN a)))", {"": "ROOT"}) == "(ROOT (S (NN a)))"
    assert applied(TREE, {}) == TREE


def test_chains_are_followed_to_their_end() -> None:
    assert applied("(A (B (C (D d))))", {"A": "B", "B": "C", "C": "X", "D": "D"}) == "(X (X (X (D d))))"
    chain = {f"L{n}": f"L{n + 1}" for n in range(9_999)}
    assert applied("(L0 (L5000 (X x)))", chain) == "(L9999 (L9999 (X x)))"


@pytest.mark.parametrize(
    ("labels", "pointer", "shown"),
    [
        ({"A": "B", "B": "A"}, "/labels/A", "'A' to 'B' to 'A'"),
        ({"Q": "A/x", "A/x": "B", "B": "C", "C": "A/x"}, "/labels/A~1x", "'A/x' to 'B' to 'C' to 'A/x'"),
        ({f"L{n}": f"L{(n + 1) % 9_999}" for n in range(9_999)}, "/labels/L0", "'L4' to ... to 'L0'"),
    ],
)
def test_a_circle_is_refused(labels: dict[str, str], pointer: str, shown: str) -> None:
    transform = {"name": "rename-labels", "params": {"labels": labels}}
    with pytest.raises(InputError) as caught:
        parse_spec({"format": "bracketed", "transforms": [transform], "metrics": ["parseval"]})
    [problem] = caught.value.problems
    assert problem.code == "renaming-cycle"
    assert problem.pointer == f"/transforms/0/params{pointer}"
    assert shown in problem.detail


def test_what_is_no_list_of_names_is_refused() -> None:
    for labels in ([["A", "B"]], {"A": 1}, {f"L{n}": "X" for n in range(10_001)}):
        with pytest.raises(InputError) as caught:
            make_transform("rename-labels", {"labels": labels})
        assert caught.value.problems[0].code == "bad-parameter"


def test_metrics_without_equal_labels_see_one_label() -> None:
    gold, system = b"(S (ADVP (RB up)) (X x))\n", b"(S (PRT (RB up)) (X x))\n"

    def score(*transforms: Any) -> float:
        spec = parse_spec({"format": "bracketed", "transforms": list(transforms), "metrics": ["leaf_ancestor"]})
        outcome = Evaluation(spec, gold).score(system)[0]["leaf_ancestor"]
        return float(next(iter(spec.entries[0].metric.table.values(outcome.totals).values())))

    assert score() < 1.0
    assert score({"name": "rename-labels", "params": {"labels": {"ADVP": "PRT"}}}) == 1.0
