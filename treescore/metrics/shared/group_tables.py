"""Tables of counts and scores for groups of sentences that share an attribute or a length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, sums_by, sums_of_rows
from treescore.core.columns import Column, Documents, Numbers
from treescore.core.registry import ItemInfo
from treescore.core.scores import ScoreTable
from treescore.core.slice_rows import column_of, counts_and_scores, rows_of

Values = Sequence[str | int | None]


def sentence_tables(
    table: ScoreTable, rows: IntArray, groupings: Mapping[str, Values], mask: BoolArray | None = None
) -> dict[str, Documents]:
    """Return a table for each grouping (name -> value of each sentence) of the rows (n, k) in `mask`, bool (n,)."""
    tables = {}
    for name, values in groupings.items():
        used, groups = numbered(values, mask)
        tables[name] = grouped(table, rows, used, groups, {})
    return tables


def numbered(values: Values, mask: BoolArray | None = None) -> tuple[list[str | int], IntArray]:
    """Group sentences that share a value, and are in `mask`, bool (n,).

    Returns:
        The values in order; and the group of each sentence, int64 (n,). That of sentences without a value, or not in
        `mask`, is the number of values.
    """
    if mask is not None:
        values = [value if keep else None for value, keep in zip(values, mask.tolist(), strict=True)]
    used = sorted((value for value in set(values) if value is not None), key=lambda each: (isinstance(each, str), each))
    group_of = {value: number for number, value in enumerate(used)}
    return used, np.array([len(used) if value is None else group_of[value] for value in values], np.int64)


def grouped(
    table: ScoreTable, rows: IntArray, used: Sequence[str | int], groups: IntArray, more: Mapping[str, Column]
) -> Documents:
    """Sum the rows of each group of `numbered`: a row per value, with the number of `sentences` and further members."""
    size = len(used) + 1
    counts, scores = counts_and_scores(table, sums_of_rows(groups, size, rows)[:-1])
    return rows_of(column_of(used), counts, scores, sentences=Numbers(sums_by(groups, size)[:-1]), **more)


def attributes_of(treebank_attributes: Mapping[str, Sequence[str | None]], items: ItemInfo) -> dict[str, Values]:
    """Join the sentence attributes of a text and of the request; the request overrides the text."""
    return {**treebank_attributes, **items.attributes}
