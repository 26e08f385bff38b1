"""Brackets merged in the order of trees: what comparing every bracket with every other finds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.jit import interpreted
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.parseval.inputs import Brackets, Equal, Open, _first_left, alike, merged

Spans = list[tuple[int, int, int]]

EQUAL = Equal(np.array([True, True, False]), np.array([[0, 1]]))
"""Labels 0 and 1 count as equal."""


@st.composite
def trees(draw: st.DrawFn) -> tuple[Spans, Spans]:
    """Brackets of two trees over the same words in pre-order, with labels 0 to 2; often several of one span."""
    words = draw(st.integers(1, 8))

    def below(start: int, end: int) -> Spans:
        found = [(start, end, draw(st.integers(0, 2))) for _ in range(draw(st.sampled_from([0, 1, 1, 1, 3])))]
        if end - start > 1:
            middle = draw(st.integers(start + 1, end - 1))
            found += below(start, middle) + below(middle, end)
        return found

    return below(0, words), below(0, words)


def partners_of(golds: Spans, systems: Spans, *, labelled: bool) -> list[int]:
    """Give each gold bracket the first bracket left that has its span and an equal label."""
    left, partners = dict(enumerate(systems)), []
    for start, end, label in golds:
        labels = ({0, 1} if label < 2 else {2}) if labelled else {0, 1, 2}
        partners.append(
            next((n for n, (a, b, other) in left.items() if (a, b) == (start, end) and other in labels), -1)
        )
        left.pop(partners[-1], None)
    return partners


def brackets(spans: Spans) -> Brackets:
    return Brackets(np.array([*spans, (0, 0, 0)], np.int64), len(spans))


@given(sides=trees(), labelled=st.booleans())
def test_two_trees_are_merged(sides: tuple[Spans, Spans], *, labelled: bool) -> None:
    golds, systems = sides
    same, other_same = (Counter((start, end) for start, end, _ in side) for side in sides)
    crossed = sum(any(a < s < b < e or s < a < e < b for a, b, _ in golds) for s, e, _ in systems)
    partners = partners_of(golds, systems, labelled=labelled)

    room = len(golds) + len(systems) + 1
    memory = Open(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.bool_))
    found = np.empty(room, np.int64)
    plain = interpreted(merged, _first_left=interpreted(_first_left, alike=interpreted(alike)))
    figures = plain(brackets(golds), brackets(systems), EQUAL, memory, found, int(labelled))

    assert figures == ((same & other_same).total(), len(golds) - partners.count(-1), crossed)
    assert found[: len(golds)].tolist() == partners


@pytest.mark.parametrize("depth", [3, 70])
def test_any_number_of_brackets_may_have_one_span(depth: int) -> None:
    labels = (["A", "B"] * depth)[:depth], (["B", "C"] * depth)[:depth]
    gold, system = ("".join(f"({each} " for each in side) + "(N a)" + ")" * depth for side in labels)
    spec = parse_spec({"format": "bracketed", "metrics": [{"name": "parseval", "params": {"preset": "evalb"}}]})
    outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["parseval"]
    assert outcome.rows[0, :4].tolist() == [(Counter(labels[0]) & Counter(labels[1])).total(), depth, depth, 0]
