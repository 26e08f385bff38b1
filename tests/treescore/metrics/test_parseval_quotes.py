"""Quotes put back: one pass finds what EVALB finds by moving all later quotes each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from treescore.core.arrays import IntArray
from treescore.metrics.parseval.comparison import _repair

TAGS = 4
DELETED = np.array([True, False, True, False])
OTHER_WORD = TAGS
"""A kept word that is no quote."""

KINDS = st.lists(st.integers(0, OTHER_WORD), max_size=30)


def quotes(kinds: list[int]) -> IntArray:
    """The quotes among words of these kinds: tag, kept words before, place in the sentence."""
    kept = np.array([kind == OTHER_WORD or not DELETED[kind] for kind in kinds], np.int64)
    before = np.cumsum(kept) - kept
    rows = [(kind, before[place], place) for place, kind in enumerate(kinds) if kind != OTHER_WORD]
    return np.array(rows, np.int64).reshape(-1, 3)


class Counted(np.ndarray):
    """An array that counts how often it is read."""

    reads = 0

    def __getitem__(self, key: object) -> Any:
        Counted.reads += 1
        return super().__getitem__(key)  # type: ignore[call-overload]


PATTERNS = {
    "deleted against kept": ([0], [1]),
    "kept against deleted": ([1], [0]),
    "deleted against deleted": ([0], [2]),
    "in turns": ([0, 1], [1, 0]),
    "with other words": ([0, OTHER_WORD], [1, OTHER_WORD]),
    "many at one place": ([0, 0, 2, 2, 0, 1, OTHER_WORD], [1, OTHER_WORD]),
    "kept ones that nothing meets": ([0, 1, 1, 1], [OTHER_WORD, 0, 0, 0]),
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=list(PATTERNS))
def test_the_steps_grow_with_the_quotes(pattern: tuple[list[int], list[int]]) -> None:
    """Eight times the quotes take about eight times the reads of an array, in whatever order they stand."""
    reads = []
    for repeats in (50, 400):
        gold, system = (quotes(kinds * repeats).view(Counted) for kinds in pattern)
        Counted.reads = 0
        copies = np.zeros((2, 7 * repeats), np.int64)
        _repair(gold, len(gold), system, len(system), DELETED.view(Counted), copies)
        reads.append(Counted.reads)
    assert reads[1] <= 8.5 * reads[0]
    assert reads[1] <= 20 * 400 * max(map(len, pattern))
