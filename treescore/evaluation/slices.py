"""Slices that every metric has: by sentence attribute, block and sentence length, from the counts of its sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import Counts, IntArray, sums_of_rows
from treescore.core.columns import Column, Documents, Numbers
from treescore.core.params import Json
from treescore.core.registry import ItemInfo, Outcome
from treescore.core.scores import ScoreTable
from treescore.core.slice_rows import column_of, counts_and_scores, stacked_rows
from treescore.core.trees import Alignments, ParallelTreebank, Treebank

MAX_VALUES = 200
"""Limit of values of an attribute in comments; one with more (`text`) names sentences and is not a grouping."""

_BIN = 10


@dataclass(frozen=True, slots=True)
class SentenceGroups:
    """The sentences of gold by the values of one grouping; those without a value are in no group.

    Attributes:
        values: of each of g groups, in order.
        sentences: numbers from 0, those of one group together, int64.
        sizes: sentences in each group, int64 (g,).
    """

    values: Column
    sentences: IntArray
    sizes: IntArray


def sentence_groups(gold: Treebank, items: ItemInfo) -> dict[str, SentenceGroups]:
    """Return all groupings of sentences, by name. They depend on gold alone, which keeps them."""
    return {name: _groups(values) for name, values in _groupings(gold, items).items()}


def with_sentence_slices(
    outcome: Outcome, table: ScoreTable, groupings: Mapping[str, SentenceGroups]
) -> dict[str, Documents]:
    """Return all groupings of an outcome: grouping -> its rows. A metric's own grouping of a name comes first."""
    own = dict(outcome.slices())
    others = {name: groups for name, groups in groupings.items() if name not in own}
    return {**_slice_documents(table, outcome.rows, others), **own}


def _groupings(gold: Treebank, items: ItemInfo) -> Mapping[str, Sequence[Json]]:
    groupings: dict[str, Sequence[Json]] = {
        name: values for name, values in gold.sentences.attributes.items() if len(set(values)) <= MAX_VALUES
    }
    groupings |= items.attributes
    if items.blocks is not None:
        groupings["block"] = items.blocks
    lengths = sentence_lengths(gold, items)
    if lengths is not None:
        groupings["sentence_length"] = [_bin(length) for length in lengths.tolist()]
    return groupings


def sentence_lengths(gold: Treebank, items: ItemInfo) -> IntArray | None:
    """Count the words of each sentence of gold, of its source side if parallel; None where they are unknown."""
    if isinstance(gold, ParallelTreebank):
        return np.diff(gold.source.word_offsets)
    if isinstance(gold, Alignments):
        return None if items.lengths is None else np.array([pair[0] for pair in items.lengths], np.int64)
    return np.diff(gold.word_offsets)


def _bin(length: int) -> str:
    number = (length - 1) // _BIN
    return f"{number * _BIN + 1}-{(number + 1) * _BIN}" if length else "0"


def _groups(values: Sequence[Json]) -> SentenceGroups:
    used = sorted({value for value in values if value is not None}, key=_in_order)
    group_of = {value: number for number, value in enumerate(used)}
    groups = np.array([group_of.get(value, len(used)) for value in values], np.int64)
    sizes = np.bincount(groups, minlength=len(used) + 1)[:-1]
    return SentenceGroups(column_of(used), np.argsort(groups, kind="stable")[: sizes.sum()], sizes)


def _slice_documents(
    table: ScoreTable, counts: Counts, groupings: Mapping[str, SentenceGroups]
) -> dict[str, Documents]:
    """Make a row for each group, those of all groupings at once."""
    if not groupings:
        return {}
    sizes = np.concatenate([groups.sizes for groups in groupings.values()])
    sentences = np.concatenate([groups.sentences for groups in groupings.values()])
    totals = sums_of_rows(np.repeat(np.arange(len(sizes)), sizes), len(sizes), counts[sentences])
    values = {name: groups.values for name, groups in groupings.items()}
    return stacked_rows(values, *counts_and_scores(table, totals), sentences=Numbers(sizes))


def _in_order(value: str) -> tuple[int, str]:
    """Order ranges of lengths by number, other values by letters."""
    first = value.partition("-")[0]
    return (int(first) if first.isascii() and first.isdigit() and len(first) < len("1000000") else -1, value)
