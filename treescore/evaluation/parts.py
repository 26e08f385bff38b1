"""Scores of a benchmark with several parts: of each part, pooled, and the mean of the parts, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import Counts, FloatArray, IntArray, sums_of_rows
from treescore.core.scores import ScoreTable
from treescore.evaluation.part_intervals import part_intervals, worst_values


@dataclass(frozen=True, slots=True)
class PartScores:
    """Figures of one metric, columns in the order of its table's scores; NaN where undefined.

    Attributes:
        parts: of each part, float64 (parts, s); NaN for a part without an output.
        pooled: of all counts together, (s,).
        macro: the mean of the parts, an undefined part counting as the worst value, (s,).
        pooled_interval, macro_interval: low and high, (2, s).
    """

    parts: FloatArray
    pooled: FloatArray
    macro: FloatArray
    pooled_interval: FloatArray
    macro_interval: FloatArray


def part_scores(
    table: ScoreTable,
    rows: Sequence[Counts],
    lacking: Sequence[bool] = (),
    blocks: Sequence[IntArray | None] = (),
) -> PartScores:
    """Compute the figures of one metric over parts, with the intervals of `interval: auto`.

    Where that is the bootstrap, units are redrawn within their part.

    Args:
        table: the metric's counts and scores.
        rows: counts of each part, (n, k), one row a sentence; where the part is missing or failed, what this costs
            (`Metric.absent`), or zeros.
        lacking: whether each part is missing or failed; none is unless given.
        blocks: number of each sentence's document, int64 (n,), for parts whose documents are the units; None for those
            whose sentences are, as all are unless given.
    """
    totals = np.stack([part.sum(axis=0) for part in rows])
    by_part = table.of(totals)
    units = [summed_by_block(part, of_part) for part, of_part in zip(rows, blocks, strict=True)] if blocks else rows
    pooled_interval, macro_interval = part_intervals(table, units)
    shown = by_part.copy()
    shown[np.flatnonzero(lacking)] = np.nan
    return PartScores(shown, table.of(totals.sum(axis=0)), macro_mean(table, by_part), pooled_interval, macro_interval)


def macro_mean(table: ScoreTable, values: FloatArray) -> FloatArray:
    """Average over parts: (..., parts, s) -> (..., s).

    An undefined part counts as the worst value of the score's range. Undefined where all parts are, and where a part
    is and the range has no worst value.
    """
    return mean_of_parts(values, worst_values(table))


def mean_of_parts(values: FloatArray, worst: FloatArray) -> FloatArray:
    """Average over parts as `macro_mean`: (..., parts, s) -> (..., s); worst values (s,), NaN where there is none."""
    filled = np.where(np.isnan(values), worst, values)
    return np.where(np.isnan(values).all(axis=-2), np.nan, filled.mean(axis=-2))


def summed_by_block(rows: Counts, blocks: IntArray | None) -> Counts:
    """Sum the counts of sentences (n, k) by block, blocks numbered from 0, (n,): (units, k)."""
    if blocks is None:
        return rows
    return sums_of_rows(blocks, int(blocks.max(initial=-1)) + 1, rows)
