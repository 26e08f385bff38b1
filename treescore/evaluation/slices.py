"""Slices that every metric has: by sentence attribute, block and sentence length, from the counts of its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.arrays import Counts, IntArray, sums_of_rows
from treescore.core.columns import Documents, Numbers
from treescore.core.params import Json
from treescore.core.registry import ItemInfo, Outcome
from treescore.core.scores import ScoreTable
from treescore.core.slice_rows import column_of, counts_and_scores, rows_of
from treescore.core.trees import Alignments, ParallelTreebank, Treebank

MAX_VALUES = 200
"""Limit of values of an attribute in comments; one with more (`text`) names sentences and is not a grouping."""

_BIN = 10


def with_sentence_slices(outcome: Outcome, table: ScoreTable, gold: Treebank, items: ItemInfo) -> dict[str, Documents]:
    """Return all groupings of an outcome: grouping -> its rows. A metric's own grouping of a name comes first."""
    groupings = _groupings(gold, items)
    own = dict(outcome.slices())
    return {
        **{name: _rows(table, outcome.rows, values) for name, values in groupings.items() if name not in own},
        **own,
    }


def _groupings(gold: Treebank, items: ItemInfo) -> Mapping[str, Sequence[Json]]:
    groupings: dict[str, Sequence[Json]] = {
        name: values for name, values in gold.sentences.attributes.items() if len(set(values)) <= MAX_VALUES
    }
    groupings |= items.attributes
    if items.blocks is not None:
        groupings["block"] = items.blocks
    lengths = _lengths(gold, items)
    if lengths is not None:
        groupings["sentence_length"] = [_bin(length) for length in lengths.tolist()]
    return groupings


def _lengths(gold: Treebank, items: ItemInfo) -> IntArray | None:
    """Count the words of each sentence of gold, of its source side if parallel; None where they are unknown."""
    if isinstance(gold, ParallelTreebank):
        return np.diff(gold.source.word_offsets)
    if isinstance(gold, Alignments):
        return None if items.lengths is None else np.array([pair[0] for pair in items.lengths], np.int64)
    return np.diff(gold.word_offsets)


def _bin(length: int) -> str:
    number = (length - 1) // _BIN
    return f"{number * _BIN + 1}-{(number + 1) * _BIN}" if length else "0"


def _rows(table: ScoreTable, counts: Counts, values: Sequence[Json]) -> Documents:
    """Make a row for each value, in order; sentences without a value are in no row."""
    used = sorted({value for value in values if value is not None}, key=_in_order)
    group_of = {value: number for number, value in enumerate(used)}
    groups = np.array([group_of.get(value, len(used)) for value in values], np.int64)
    totals = sums_of_rows(groups, len(used) + 1, counts)[:-1]
    sentences = Numbers(np.bincount(groups, minlength=len(used) + 1)[:-1])
    return rows_of(column_of(used), *counts_and_scores(table, totals), sentences=sentences)


def _in_order(value: str) -> tuple[int, str]:
    """Order ranges of lengths by number, other values by letters."""
    first = value.partition("-")[0]
    return (int(first) if first.isascii() and first.isdigit() and len(first) < len("1000000") else -1, value)
