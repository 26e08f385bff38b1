"""Tables of counts and scores for groups of sentences that share an attribute or a length."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.arrays import BoolArray, Counts, IntArray, sums_by
from treescore.core.params import Json
from treescore.core.registry import ItemInfo
from treescore.core.scores import ScoreTable

Row = dict[str, Json]
Values = Sequence[str | int | None]


def table_rows(table: ScoreTable, values: Sequence[Json], counts: Counts) -> list[Row]:
    """Return one row per value: its counts (values, k) and their scores, null where undefined."""
    names = [score.name for score in table.scores]
    scores = np.stack(list(table.values(counts).values()), axis=-1).tolist()
    return [
        {
            "value": value,
            "counts": dict(zip(table.count_names, row, strict=True)),
            "scores": {
                name: None if math.isnan(score) else score for name, score in zip(names, values_of_scores, strict=True)
            },
        }
        for value, row, values_of_scores in zip(values, counts.tolist(), scores, strict=True)
    ]


def sentence_tables(
    table: ScoreTable, rows: IntArray, groupings: Mapping[str, Values], mask: BoolArray | None = None
) -> dict[str, list[Row]]:
    """Return a table for each grouping (name -> value of each sentence) of the rows (n, k) in `mask`, bool (n,)."""
    return {name: grouped(table, rows, values, mask)[0] for name, values in groupings.items()}


def grouped(
    table: ScoreTable, rows: IntArray, values: Values, mask: BoolArray | None = None
) -> tuple[list[Row], IntArray]:
    """Sum the rows of sentences that share a value.

    Returns:
        One row per value, in order of the values, with the number of `sentences`; and the group of each sentence,
        int64 (n,). Sentences without a value, or not in `mask`, are in no row; their group is the number of rows.
    """
    values_of_sentences = (
        list(values) if mask is None else [v if keep else None for v, keep in zip(values, mask, strict=True)]
    )
    used = sorted(set(values_of_sentences) - {None}, key=lambda value: (isinstance(value, str), value))
    group_of = {value: number for number, value in enumerate(used)}
    groups = np.array([group_of.get(value, len(used)) for value in values_of_sentences], np.int64)
    size = len(used) + 1
    sums = np.stack([sums_by(groups, size, rows[:, column]) for column in range(rows.shape[1])], axis=1)
    group_rows = table_rows(table, used, sums[:-1])
    for row, sentences in zip(group_rows, sums_by(groups, size).tolist(), strict=False):
        row["sentences"] = sentences
    return group_rows, groups


def attributes_of(treebank_attributes: Mapping[str, Sequence[str | None]], items: ItemInfo) -> dict[str, Values]:
    """Join the sentence attributes of a text and of the request; the request overrides the text."""
    return {**treebank_attributes, **items.attributes}
