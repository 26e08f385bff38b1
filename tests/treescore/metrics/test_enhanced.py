"""Enhanced dependencies: multisets, the original's cross product, empty nodes, unreadable DEPS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.registry import Outcome
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import Vocabulary
from treescore.errors import InputError, LimitError
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_format, parse_spec
from treescore.metrics.enhanced.edges import _Reader, edges_of


def sentence(*rows: tuple[str, str]) -> bytes:
    """Words and empty nodes from (ID, DEPS)."""
    lines = []
    for number, deps in rows:
        basic = ("_", "_") if "." in number else (str(int(number) - 1), "root" if number == "1" else "dep")
        lines.append("\t".join((number, f"w{number}", "_", "X", "_", "_", *basic, deps, "_")))
    return ("\n".join(lines) + "\n\n").encode()


def enhanced(gold: bytes, system: bytes, **params: Any) -> Outcome:
    spec = parse_spec({"format": "conllu", "metrics": [{"name": "enhanced", "params": params}]})
    return Evaluation(spec, gold).score(system)[0]["enhanced"]


def totals(gold: bytes, system: bytes, **params: Any) -> tuple[list[int], list[int]]:
    found = enhanced(gold, system, **params).totals.tolist()
    row = len(found) // 2
    return found[:3], found[row : row + 3]


def test_a_repeated_edge_is_one_edge() -> None:
    # The original finds 3 right edges of 2 in gold where the text is not collapsed before: 120 % F1.
    gold, system = sentence(("1", "2:nsubj"), ("2", "0:root")), sentence(("1", "2:nsubj|2:nsubj"), ("2", "0:root"))
    for counting in ("multiset", "cross-product"):
        assert totals(gold, system, counting=counting) == ([2, 2, 2], [2, 2, 2])


def test_subtypes_cut_away_leave_a_multiset() -> None:
    # Without subtypes both edges of word 1 are 2:nsubj; the cross product makes 4 + 1 of 3.
    gold = sentence(("1", "2:nsubj|2:nsubj:xsubj"), ("2", "0:root"))
    assert totals(gold, gold) == ([3, 3, 3], [3, 3, 3])
    assert totals(gold, gold, counting="cross-product") == ([3, 3, 3], [5, 3, 3])
    system = sentence(("1", "2:nsubj:pass"), ("2", "0:root"))
    assert totals(gold, system) == ([1, 3, 2], [2, 3, 2])


def test_empty_nodes_collapse_to_paths() -> None:
    gold = sentence(("1", "0:root"), ("1.1", "1:conj:and"), ("2", "1.1:obj"))
    collapsed = sentence(("1", "0:root"), ("2", "1:conj:and>obj"))
    assert totals(gold, collapsed) == ([2, 2, 2], [2, 2, 2])
    assert totals(gold, collapsed, empty_nodes="skip") == ([1, 1, 2], [1, 1, 2])


def test_paths_that_look_the_same_once_collapsed_are_one_edge() -> None:
    # Two conjuncts elided, one shared dependent: the treebank tools' collapsing writes 1:conj>obj once.
    gold = sentence(("1", "0:root"), ("1.1", "1:conj"), ("1.2", "1:conj"), ("2", "1.1:obj|1.2:obj|1.2:nsubj"))
    collapsed = sentence(("1", "0:root"), ("2", "1:conj>obj|1:conj>nsubj"))
    for counting in ("multiset", "cross-product"):
        assert totals(gold, collapsed, counting=counting) == ([3, 3, 3], [3, 3, 3])
        assert totals(collapsed, gold, counting=counting) == ([3, 3, 3], [3, 3, 3])


@pytest.mark.parametrize(
    ("rows", "collapsed"),
    [
        # No word leads into the circle.
        ((("1", "0:root|1.1:dep"), ("1.1", "1.2:a"), ("1.2", "1.1:b"), ("2", "1.2:obj")), ("0:root", "_")),
        (
            (("1", "0:root"), ("1.1", "1:conj|1.2:dep"), ("1.2", "1.1:obj"), ("2", "1.1:nsubj")),
            ("0:root", "1:conj>nsubj|1:conj>obj>dep>nsubj"),
        ),
        # The word stands before the circle: the way from word 2 is not made when it is needed.
        ((("1", "1.2:a"), ("1.2", "1.3:b"), ("1.3", "1.2:c|2:d"), ("2", "0:root")), ("2:d>b>a", "0:root")),
        # A node that heads itself is not walked round; lines of empty nodes may stand in any order.
        (
            (("1", "0:root"), ("1.2", "1.1:y|1.2:z"), ("1.1", "1:conj|1.2:x"), ("2", "1.1:obj|1.2:obl")),
            ("0:root", "1:conj>obj|1:conj>y>obl|1:conj>y>x>obj"),
        ),
    ],
)
def test_circles_of_empty_nodes_collapse_as_by_the_treebank_tools(
    rows: tuple[tuple[str, str], ...], collapsed: tuple[str, ...]
) -> None:
    """The right column is what enhanced_collapse_empty_nodes.pl writes."""
    gold, system = sentence(*rows), sentence(*((str(number), deps) for number, deps in enumerate(collapsed, 1)))
    count = sum(deps.count("|") + 1 for deps in collapsed if deps != "_")
    assert totals(gold, system) == totals(system, gold) == ([count] * 3, [count] * 3)


def test_paths_that_double_with_every_empty_node_are_a_limit() -> None:
    nodes = [("1", "0:root"), ("1.1", "1:a|1:b")]
    nodes += [(f"1.{n}", f"1.{n - 1}:a|1.{n - 1}:b") for n in range(2, 60)]
    gold = sentence(*nodes, ("2", "1.59:obj"))
    with pytest.raises(LimitError):
        enhanced(gold, gold)


@pytest.mark.parametrize(
    ("deps", "code"),
    [
        ("2nsubj", "enhanced-bad-deps"),
        ("-1:nsubj", "enhanced-bad-deps"),
        ("2:nsubj||0:root", "enhanced-bad-deps"),
        ("9:nsubj", "enhanced-head-out-of-range"),
        ("1.1:nsubj", "enhanced-unknown-empty-node"),
    ],
)
def test_unreadable_deps_are_named_with_their_place(deps: str, code: str) -> None:
    gold = sentence(("1", "2:nsubj"), ("2", "0:root"))
    with pytest.raises(InputError) as caught:
        enhanced(gold, sentence(("1", deps), ("2", "0:root")))
    problem = caught.value.problems[0]
    assert (problem.code, problem.line, problem.column, problem.sentence) == (code, 1, 9, 1)


def test_gold_that_cannot_be_read_is_golds_problem() -> None:
    with pytest.raises(InputError) as caught:
        enhanced(sentence(("1", "x")), sentence(("1", "0:root")))
    assert caught.value.problems[0].pointer == "/gold"


PARTS = st.builds("{}:{}".format, st.sampled_from(["0", "1", "02", "3", "1.1", "4", "x"]), st.sampled_from("abc:"))
DEPS = st.one_of(st.just("_"), st.just("1"), st.lists(PARTS, min_size=1, max_size=3).map("|".join))


@given(st.lists(DEPS, min_size=4, max_size=4), st.booleans())
def test_edges_read_at_once_are_those_read_word_by_word(deps: list[str], collapse: bool) -> None:  # noqa: FBT001
    rows = zip(("1", "1.1", "2", "3"), deps, strict=True)
    treebank = parse_format("conllu").format.read(sentence(*rows), Vocabulary(), DEFAULT_LIMITS)

    def found() -> list[Any]:
        try:
            edges = edges_of(treebank, 9, collapse=collapse)
        except InputError as error:
            return list(error.problems)
        columns = edges.words, edges.heads, edges.labels, edges.plain_labels
        return sorted(zip(*(column.tolist() for column in columns), strict=True))

    at_once = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Reader, "_direct", lambda _self: (np.zeros((3, 0), np.int64), np.arange(3)))
        assert at_once == found()


def test_nothing_to_compare_has_no_score() -> None:
    gold = sentence(("1", "_"))
    spec = parse_spec({"format": "conllu", "metrics": ["enhanced"]})
    values = spec.entries[0].metric.table.values(enhanced(gold, gold).totals)
    assert all(value != value for value in values.values())  # noqa: PLR0124 - NaN
