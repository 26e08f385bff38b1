"""Scores of a benchmark with several parts: of each part, pooled, and the mean of the parts, with 95 % intervals.

The intervals are those of a comparison over the same units (`treescore.significance.intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treescore.core.arrays import Counts, FloatArray, IntArray, sums_of_rows
from treescore.core.scores import ScoreTable
from treescore.significance.intervals import system_intervals
from treescore.significance.units import sample_of

LEVEL = 0.95


def part_intervals(
    table: ScoreTable, units: Sequence[Counts], lacking: Sequence[bool] = ()
) -> tuple[FloatArray, FloatArray]:
    """Compute the intervals of all scores, pooled and as the mean of parts: two (2, s), NaN where there is none.

    Args:
        table: the metric's counts and scores.
        units: counts of each part, (n, k), one row a unit.
        lacking: whether each part is missing: pooled, it is one unit.
    """
    gone = lacking or [False] * len(units)
    pooled = [part.sum(axis=0, keepdims=True) if absent else part for part, absent in zip(units, gone, strict=True)]
    strata = np.repeat(np.arange(len(units)), [len(part) for part in units])
    missing = np.array([gone], np.bool_) if any(gone) else None
    together: Any = np.concatenate(pooled)
    apart: Any = np.concatenate(units)
    ends = np.full((2, 2, len(table.scores)), np.nan)
    for at, score in enumerate(table.scores):  # one by one: the terms of all would take more memory than their counts
        samples = [sample_of(score, table.count_names, [together], None, None)]
        if len(units) > 1:
            samples.append(sample_of(score, table.count_names, [apart], None, strata, missing))
        for place, sample in enumerate(samples):
            [interval] = system_intervals(sample, [0], LEVEL)
            if interval is not None:
                ends[place, :, at] = interval.low, interval.high
    return ends[0], ends[1] if len(units) > 1 else ends[0]


def worst_values(table: ScoreTable) -> FloatArray:
    """Return the worst value of each score, NaN where its range has none: (s,)."""
    return np.array([math.nan if score.worst is None else score.worst for score in table.scores], np.float64)


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
    table: ScoreTable, rows: Sequence[Counts], lacking: Sequence[bool] = (), blocks: Sequence[IntArray | None] = ()
) -> PartScores:
    """Compute the figures of one metric over parts, with intervals.

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
    pooled_interval, macro_interval = part_intervals(table, units, lacking)
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
