"""Quotes put back: one pass finds what EVALB finds by moving all later quotes each time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
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


@settings(max_examples=400)
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
