"""Quotes put back: one pass finds what EVALB finds by moving all later quotes each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import interpreted
from treescore.evaluation.evaluate import Evaluation
from treescore.evaluation.spec import parse_spec
from treescore.metrics.parseval.kernel import _repair

TAGS = 4
DELETED = np.array([True, False, True, False])
OTHER_WORD = TAGS
"""A kept word that is no quote."""

KINDS = st.lists(st.integers(0, OTHER_WORD), max_size=30)


def as_evalb_does(gold: IntArray, system: IntArray, deleted: BoolArray, copies: IntArray) -> None:
    """Compare every quote with every other, and move all later ones where one is put back."""
    for index in range(len(system)):
        tag, words_before = system[index, 0], int(system[index, 1])
        for other in range(len(gold)):
            gold_tag = gold[other, 0]
            if gold[other, 1] == words_before and gold_tag != tag and deleted[gold_tag] != deleted[tag]:
                if deleted[gold_tag]:
                    copies[0, gold[other, 2]] += 1
                    gold[other:, 1] += 1
                else:
                    copies[1, system[index, 2]] += 1
                    system[index:, 1] += 1


def quotes(kinds: list[int]) -> IntArray:
    """The quotes among words of these kinds: tag, kept words before, place in the sentence."""
    kept = np.array([kind == OTHER_WORD or not DELETED[kind] for kind in kinds], np.int64)
    before = np.cumsum(kept) - kept
    rows = [(kind, before[place], place) for place, kind in enumerate(kinds) if kind != OTHER_WORD]
    return np.array(rows, np.int64).reshape(-1, 3)


@given(KINDS, KINDS)
def test_one_pass_puts_back_what_evalb_puts_back(gold: list[int], system: list[int]) -> None:
    found, expected = np.zeros((2, 30), np.int64), np.zeros((2, 30), np.int64)
    sides = quotes(gold), quotes(system)
    interpreted(_repair)(sides[0].copy(), len(sides[0]), sides[1].copy(), len(sides[1]), DELETED, found)
    as_evalb_does(*sides, DELETED, expected)
    assert found.tolist() == expected.tolist()


def test_a_sentence_of_100_000_quotes_is_repaired_in_one_pass() -> None:
    """Moving all later quotes each time takes 5e9 steps for each of these."""
    size = 99_999
    params = {"delete_labels": ["''"], "quote_labels": ["''", "POS"]}
    spec = parse_spec({"format": "bracketed", "metrics": [{"name": "parseval", "params": params}]})
    deleted, kept = ("(S " + f"({tag} ') " * size + "(X x))\n" for tag in ("''", "POS"))
    for gold, system in ((deleted, kept), (kept, deleted)):
        outcome = Evaluation(spec, gold.encode()).score(system.encode())[0]["parseval"]
        totals = dict(zip(spec.entries[0].metric.table.count_names, outcome.totals.tolist(), strict=True))
        assert totals["valid"] == 1
        assert totals["words"] == size + 1


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
        interpreted(_repair)(gold, len(gold), system, len(system), DELETED.view(Counted), copies)
        reads.append(Counted.reads)
    assert reads[1] <= 8.5 * reads[0]
    assert reads[1] <= 20 * 400 * max(map(len, pattern))
