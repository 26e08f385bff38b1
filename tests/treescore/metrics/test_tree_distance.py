"""Tree edit distance: the figures of disco-dop, a slow computation from the definition, limits."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import Outcome
from treescore.core.text import DEFAULT_LIMITS, Limits
from treescore.errors import LimitError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.tree_distance import COUNT_NAMES, TABLE

Tree = tuple[Any, ...]
"""Label, then subtrees."""


def scored(gold: str, system: str, name: str, limits: Limits = DEFAULT_LIMITS, **params: Any) -> Outcome:
    spec = parse_spec({"format": name, "metrics": [{"name": "tree_distance", "params": params}]})
    return Evaluation(spec, gold.encode(), limits=limits).score(system.encode())[0]["tree_distance"]


def counts(outcome: Outcome) -> dict[str, int]:
    return dict(zip(COUNT_NAMES, outcome.totals.tolist(), strict=True))


@pytest.mark.parametrize("form", ["export", "discbracket", "tigerxml"])
def test_every_figure_that_disco_dop_prints(golden: Any, form: str) -> None:
    checked = 0
    for name, case in golden("field_discontinuous")["cases"].items():
        printed = case["reference"]["export_la_ted"].get("tree-dist (Dice micro avg", ["nan"])[0]
        if printed == "nan" or name == "output_lacks_a_sentence":
            continue
        outcome = scored(case["gold"][form], case["system"][form], form)
        assert f"{100 * float(TABLE.values(outcome.totals)['dice']):.2f}" == printed, name
        checked += 1
    assert checked == 12


def test_a_sentence_of_punctuation_alone_is_left_out(golden: Any) -> None:
    case = golden("field_discontinuous")["cases"]["only_punctuation"]
    outcome = scored(case["gold"]["export"], case["system"]["export"], "export")
    assert counts(outcome)["sentences"] == 1
    assert TABLE.values(outcome.totals)["dice"] == 1


def slow(first: tuple[Tree, ...], second: tuple[Tree, ...]) -> int:
    """The distance of two forests by its recursive definition."""

    @cache
    def distance(one: tuple[Tree, ...], other: tuple[Tree, ...]) -> int:
        if not one and not other:
            return 0
        found = []
        if one:
            found.append(distance((*one[:-1], *one[-1][1:]), other) + 1)
        if other:
            found.append(distance(one, (*other[:-1], *other[-1][1:])) + 1)
        if one and other:
            both = distance(one[:-1], other[:-1]) + distance(one[-1][1:], other[-1][1:])
            found.append(both + (one[-1][0] != other[-1][0]))
        return min(found)

    return distance(first, second)


@st.composite
def trees(draw: st.DrawFn, size: int) -> Tree:
    """A tree of constituents over tags T0, T1, ..."""

    def between(first: int, last: int, depth: int) -> Tree:
        label = draw(st.sampled_from("ABC"))
        if last - first == 1 and (depth > 2 or draw(st.booleans())):
            return (f"T{first}",)
        if depth > 4:
            return (label, *((f"T{place}",) for place in range(first, last)))
        cuts = sorted(draw(st.sets(st.integers(first + 1, last - 1), max_size=2)) if last - first > 1 else set())
        bounds = [first, *cuts, last]
        return (label, *(between(a, b, depth + 1) for a, b in pairwise(bounds)))

    return ("S", between(0, size, 0))


def written(tree: Tree) -> str:
    label, *below = tree
    return f"({label} {' '.join(map(written, below))})" if below else f"({label} w)"


@given(st.data())
def test_distances_are_those_of_the_definition(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5))
    gold, system = data.draw(trees(size)), data.draw(trees(size))
    outcome = scored(written(gold) + "\n", written(system) + "\n", "bracketed", preset="plain")
    assert counts(outcome)["distance"] == slow((gold,), (system,))


def test_a_tag_elsewhere_is_another_node_and_a_wrong_tag_costs_one() -> None:
    outcome = scored("(S (A a) (A b))\n", "(S (A a) (B b))\n", "bracketed", preset="plain")
    assert counts(outcome) == {"distance": 1, "nodes": 6, "sentences": 1, "exact": 0, "error": 0, "skip": 0}


def test_deleted_roots_of_other_labels_differ_as_in_disco_dop() -> None:
    """They are no nodes of the sum, and renaming one costs 1."""
    outcome = scored("(ROOT (S (A 0=a)))\n", "(TOP (S (A 0=a)))\n", "discbracket")
    assert counts(outcome) == {"distance": 1, "nodes": 4, "sentences": 1, "exact": 0, "error": 0, "skip": 0}


def test_tags_that_are_equal_labels_are_one() -> None:
    outcome = scored("(ROOT (S (PRT 0=a)))\n", "(ROOT (S (ADVP 0=a)))\n", "discbracket")
    assert counts(outcome)["distance"] == 0


def test_what_is_missing_may_be_charged() -> None:
    gold, system = "(S (A a) (A b))\n(S (A a))\n", "(S (A a) (A c))\n(S (A a))\n"
    left_out = counts(scored(gold, system, "bracketed", preset="plain"))
    assert (left_out["distance"], left_out["nodes"], left_out["error"]) == (0, 4, 1)
    charged = counts(scored(gold, system, "bracketed", preset="plain", errors="zero"))
    assert (charged["distance"], charged["nodes"], charged["sentences"]) == (6, 10, 2)


def test_a_sentence_that_takes_too_many_steps_is_refused() -> None:
    flat = f"(S {' '.join('(A (T w))' for _ in range(20))})\n"  # the root has 41 units, each but one A has 2: 79
    small = f"(S {' '.join('(T w)' for _ in range(20))})\n"
    within = Limits(max_lineage_cells=79 * 79 * 10)
    assert counts(scored(flat, small, "bracketed", within, preset="plain"))["distance"] == 20
    limits = Limits(max_lineage_cells=79 * 79 * 10 - 1)
    for gold, system in ((flat, small), (small, flat), (flat, flat)):
        with pytest.raises(LimitError) as caught:
            scored(gold, system, "bracketed", limits, preset="plain")
        assert (caught.value.problems[0].code, caught.value.problems[0].sentence) == ("tree-distance-limit", 1)
