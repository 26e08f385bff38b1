"""Figures say by name what the stored bytes hold by position."""

from __future__ import annotations

import math

import numpy as np
import pytest

from service.requests import MACRO, POOLED
from service.store.score_records import Figures, Interval, Layout, interval_of, numbers
from treescore.evaluation.benchmark import PartScores

LAYOUT = Layout(("en", "de"), ("a.x", "a.y", "b.z"))


def scores(first: int, columns: int) -> PartScores:
    """Numbers that tell where they belong: 10 x row + column."""
    rows = np.array([[10.0 * row + first + column for column in range(columns)] for row in range(8)])
    return PartScores(rows[:2], rows[2], rows[3], rows[4:6], rows[6:8])


@pytest.fixture
def figures():
    return Figures.of_scores(LAYOUT, [scores(0, 2), scores(2, 1)])


@pytest.mark.parametrize(("part", "value"), [("en", 1.0), ("de", 11.0), (POOLED, 21.0), (MACRO, 31.0)])
def test_a_value_is_found_by_part_and_address_in_memory_and_in_bytes(figures, part, value):
    assert figures.value(part, "a.y") == value
    start, length = LAYOUT.span(part, "a.y")
    assert numbers(figures.to_bytes()[start - 1 : start - 1 + length]).tolist() == [value]
    start, length = LAYOUT.span(part)
    assert numbers(figures.to_bytes()[start - 1 : start - 1 + length]).tolist() == [value - 1, value, value + 1]


@pytest.mark.parametrize(
    ("part", "interval"), [("en", None), (POOLED, Interval(42.0, 52.0)), (MACRO, Interval(62.0, 72.0))]
)
def test_an_interval_is_found_by_part_and_address(figures, part, interval):
    spans = LAYOUT.interval_spans(part, "b.z")
    cut = [numbers(figures.to_bytes()[span.start - 1 :][: span.length]) for span in spans or ()]
    assert (interval_of(np.concatenate(cut)) if cut else None) == interval


def test_an_interval_without_a_bound_is_none():
    assert interval_of(np.array([0.5, math.nan])) is None


def test_bytes_are_those_of_the_rows_one_after_the_other(figures):
    body = figures.to_bytes()
    assert body == np.array([[10 * row + column for column in range(3)] for row in range(8)], "<f8").tobytes()
    assert Figures.from_bytes(body, LAYOUT).values.tolist() == figures.values.tolist()


def test_what_is_undefined_is_none(figures):
    figures.values[:] = math.nan
    assert figures.value(MACRO, "a.x") is None
    assert figures.parts_without_scores() == ["en", "de"]
    figures.values[0, 2] = 0.0
    assert figures.parts_without_scores() == ["de"]
