"""Scores of a benchmark with several parts: of each part, pooled, and the mean of the parts, with intervals.

Intervals are those of `interval: auto`; where that is the bootstrap, units are redrawn within their part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treescore.core.arrays import Bits, Counts, FloatArray, IntArray, sums_of_rows
from treescore.core.scores import ScoreTable
from treescore.significance.bootstrap import BATCH_DRAWS, EXACT_SINGLE, PERCENTILE, many_states, quantiles
from treescore.significance.intervals import UnitsInterval, system_intervals
from treescore.significance.kernels import draw_weights
from treescore.significance.units import sample_of

RESAMPLES = 2_000
"""Resamples behind the interval of every score; comparisons take more."""
SEED = 1
LEVEL = 0.95
PIECE_BYTES = 1 << 20
"""Bytes of weights that are held at once, unless one resample of a part has more: a piece stays in a core's cache."""
SMALL_PRODUCT = 1_000_000
"""Multiplications up to which a matrix product needs no copies of its factors, and takes half the time (OpenBLAS)."""
_LEAST_PIECE = 24
"""Resamples below which that does not pay."""


def part_intervals(table: ScoreTable, rows: Sequence[Counts]) -> tuple[FloatArray, FloatArray]:
    """Compute the intervals of all scores, pooled and as the mean of parts: two (2, s), NaN where there is none.

    Args:
        table: the metric's counts and scores.
        rows: counts of each part, (n, k), one row a unit.
    """
    pooled, macro = _closed_intervals(table, rows)
    drawn = [answer.method == PERCENTILE for answer in (*pooled, *macro)]
    ends = np.full((2, len(drawn)), np.nan)
    if any(drawn):
        tails = np.array([0.5 * (1 - LEVEL), 0.5 * (1 + LEVEL)])
        resampled = resampled_scores(table, rows, macro=any(drawn[len(pooled) :]))
        ends[:, drawn] = quantiles(np.concatenate(resampled)[drawn], tails)
    for column, answer in enumerate((*pooled, *macro)):
        if answer.interval is not None:
            ends[:, column] = answer.interval.low, answer.interval.high
    return ends[:, : len(pooled)], ends[:, len(pooled) :]


def resampled_scores(table: ScoreTable, rows: Sequence[Counts], *, macro: bool = True) -> tuple[FloatArray, FloatArray]:
    """Compute all scores in every resample, pooled and as the mean of parts: two float64 (s, RESAMPLES).

    The means, half of the work, are NaN unless `macro`.
    """
    kept, column_of = distinct_columns(rows)
    states = _states(sum(map(len, rows)), len(rows))
    worst = worst_values(table)[:, None]
    totals = np.zeros((len(kept), RESAMPLES))
    filled = np.zeros((len(table.scores), RESAMPLES))
    defined = np.zeros(filled.shape, np.bool_)
    for part, of_part in zip(rows, states, strict=True):
        sums = _resampled_sums(part[:, kept], of_part)
        totals += sums
        if macro:
            values = table.of_columns(sums[column_of])
            undefined = np.isnan(values)
            filled += np.where(undefined, worst, values)
            defined |= ~undefined
    return table.of_columns(totals[column_of]), np.where(defined, filled / max(1, len(rows)), np.nan)


def distinct_columns(rows: Sequence[Counts]) -> tuple[IntArray, IntArray]:
    """Find the counts that differ in some unit: their columns, and for each of the k columns its place among them."""
    totals = np.stack([part.sum(axis=0) for part in rows], axis=1)
    alike: dict[bytes, list[int]] = {}
    kept: list[int] = []
    place_of = []
    for column, total in enumerate(totals):
        same = alike.setdefault(total.tobytes(), [])
        place = next((at for at in same if all(_equal(part, kept[at], column) for part in rows)), len(kept))
        if place == len(kept):
            kept.append(column)
            same.append(place)
        place_of.append(place)
    return np.array(kept, np.int64), np.array(place_of, np.int64)


def worst_values(table: ScoreTable) -> FloatArray:
    """Return the worst value of each score, NaN where its range has none: (s,)."""
    return np.array([math.nan if score.worst is None else score.worst for score in table.scores], np.float64)


def _closed_intervals(table: ScoreTable, rows: Sequence[Counts]) -> tuple[list[UnitsInterval], list[UnitsInterval]]:
    """Return for each score, pooled and as the mean of parts, its interval, or that the bootstrap gives it."""
    together: Any = np.concatenate(rows)
    strata = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    pooled: list[UnitsInterval] = []
    macro: list[UnitsInterval] = []
    for score in table.scores:  # one by one: the terms of all scores would take more memory than their counts
        sample = sample_of(score, table.count_names, [together], None, None)
        pooled += system_intervals(sample, [0], LEVEL)
        if len(rows) > 1:
            macro += system_intervals(replace(sample, parts=strata, part_count=len(rows)), [0], LEVEL)
    return pooled, macro or pooled


def _states(units: int, parts: int) -> Bits:
    """Return the seed of each part's units in each resample, (parts, RESAMPLES).

    They are drawn for batches of resamples whose size goes by all units: published intervals rest on that order.
    """
    step = max(1, min(RESAMPLES, BATCH_DRAWS // max(1, units)))
    batches = []
    for batch, start in enumerate(range(0, RESAMPLES, step)):
        size = min(step, RESAMPLES - start)
        seeds = np.random.SeedSequence([SEED, batch])
        batches.append(many_states(seeds, size * parts).reshape(parts, size))
    return np.concatenate(batches, axis=1)


def _resampled_sums(counts: Counts, states: Bits) -> FloatArray:
    """Sum counts (n, d) in the resamples of some seeds (r,), a bounded number at once: float64 (d, r)."""
    whole, scale = _on_grid(counts)
    few = max(1, min(len(states), PIECE_BYTES // (whole.itemsize * max(1, len(whole)))))
    small = SMALL_PRODUCT // max(1, whole.size)
    few = min(few, small) if small >= _LEAST_PIECE else few
    weights = np.empty((few, len(whole)), whole.dtype)
    sums = np.empty((whole.shape[1], len(states)))
    for start in range(0, len(states), few):
        of_piece = states[start : start + few]
        piece = weights[: len(of_piece)]
        piece.fill(0)
        draw_weights(of_piece, piece)
        sums[:, start : start + few] = (piece @ whole).T
    sums *= scale[:, None]
    return sums


def _on_grid(rows: Counts) -> tuple[Any, FloatArray]:
    """Return counts as whole numbers, whose sums are exact in any order, and the value of 1 in each column."""
    scale = np.ones(rows.shape[1])
    if rows.dtype.kind == "i":
        single = float(np.abs(rows).max(initial=0)) * max(1, len(rows)) < EXACT_SINGLE
        return np.ascontiguousarray(rows, np.float32 if single else np.float64), scale
    largest = np.abs(rows).max(axis=0, initial=0.0)
    room = 52 - math.ceil(math.log2(max(2, len(rows))))
    scale = np.where(largest > 0, 2.0 ** (np.ceil(np.log2(np.where(largest > 0, largest, 1.0))) - room), 1.0)
    return np.rint(rows / scale), scale


def _equal(rows: Counts, first: int, second: int) -> bool:
    return np.array_equal(rows[:, first], rows[:, second])


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
