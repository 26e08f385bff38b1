"""Spans of words: which ones cross, and how high each stands, found for all at once."""

from __future__ import annotations

import random

import numpy as np

from treescore.core.structure import crossing_spans, heights_of_spans


def drawn(numbers: random.Random, words: int) -> list[tuple[int, int]]:
    """Some spans of a sentence, empty ones too."""
    ends = ([numbers.randint(0, words) for _ in range(2)] for _ in range(numbers.randint(0, 6)))
    return [(min(each), max(each)) for each in ends]


def test_a_span_crosses_what_begins_or_ends_inside_it_and_reaches_out() -> None:
    numbers = random.Random(0)  # noqa: S311 - no secret
    for _ in range(300):
        spans, others = drawn(numbers, 9), drawn(numbers, 9)
        starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
        expected = [any(a < start < b < end or start < a < end < b for a, b in others) for start, end in spans]
        assert crossing_spans(starts, ends, np.array(others, np.int64).reshape(-1, 2)).tolist() == expected


def test_a_span_stands_above_the_highest_one_inside_it() -> None:
    for spans, heights in (
        ([], []),
        ([(0, 1)] * 3, [3, 2, 1]),
        ([(0, 5), (0, 2), (0, 1), (2, 5), (3, 4), (3, 4), (4, 5), (5, 6)], [4, 2, 1, 3, 2, 1, 1, 1]),
    ):
        starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
        assert heights_of_spans(starts, ends).tolist() == heights
