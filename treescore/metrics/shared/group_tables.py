"""Tables of counts and scores for groups of sentences that share an attribute or a length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.arrays import BoolArray, Counts, IntArray, sums_by, sums_of_rows
from treescore.core.params import Json
from treescore.core.registry import ItemInfo
from treescore.core.scores import ScoreTable
from treescore.core.values import defined

Row = dict[str, Json]
Values = Sequence[str | int | None]


def table_rows(table: ScoreTable, values: Sequence[Json], counts: Counts) -> list[Row]:
    """Return one row per value: its counts (values, k) and their scores, null where undefined."""
    scores = dict(zip((score.name for score in table.scores), map(defined, table.of(counts).T), strict=True))
    return rows_of(values, dict(zip(table.count_names, counts.T.tolist(), strict=True)), scores)


def rows_of(
    values: Sequence[Json], counts: Mapping[str, Sequence[Json]], scores: Mapping[str, Sequence[Json]]
) -> list[Row]:
    """Return one row per value from columns of counts and of scores, each with a member for each value."""
    return [
        {
            "value": value,
            "counts": dict(zip(counts, own, strict=True)),
            "scores": dict(zip(scores, of_them, strict=True)),
        }
        for value, own, of_them in zip(
            values, zip(*counts.values(), strict=True), zip(*scores.values(), strict=True), strict=True
        )
    ]


def ratios(numerators: IntArray, denominators: IntArray) -> list[float | None]:
    """Divide column by column, None where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = numerators / denominators
    quotients[denominators == 0] = np.nan
    return defined(quotients)


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
    group_rows = table_rows(table, used, sums_of_rows(groups, size, rows)[:-1])
    for row, sentences in zip(group_rows, sums_by(groups, size).tolist(), strict=False):
        row["sentences"] = sentences
    return group_rows, groups


def attributes_of(treebank_attributes: Mapping[str, Sequence[str | None]], items: ItemInfo) -> dict[str, Values]:
    """Join the sentence attributes of a text and of the request; the request overrides the text."""
    return {**treebank_attributes, **items.attributes}
