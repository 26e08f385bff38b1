"""Scores of a benchmark with several parts: of each part, pooled, and the mean of the parts, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.scores import ScoreTable
from treescore.significance.bootstrap import BATCH_DRAWS, EXACT_SINGLE, PERCENTILE, quantiles
from treescore.significance.few_units import UnitsInterval, system_intervals
from treescore.significance.kernels import draw_weights
from treescore.significance.units import sample_of

RESAMPLES = 2_000
"""Resamples behind the interval of every score; comparisons take more."""
SEED = 1
LEVEL = 0.95


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
    by_part = _columns(table, totals)
    units = [summed_by_block(part, of_part) for part, of_part in zip(rows, blocks, strict=True)] if blocks else rows
    pooled_interval, macro_interval = _intervals(table, units)
    shown = by_part.copy()
    shown[np.flatnonzero(lacking)] = np.nan
    return PartScores(
        shown, _columns(table, totals.sum(axis=0)), macro_mean(table, by_part), pooled_interval, macro_interval
    )


def macro_mean(table: ScoreTable, values: FloatArray) -> FloatArray:
    """Average over parts: (..., parts, s) -> (..., s).

    An undefined part counts as the worst value of the score's range. Undefined where all parts are, and where a part
    is and the range has no worst value.
    """
    filled = np.where(np.isnan(values), _worst(table), values)
    return np.where(np.isnan(values).all(axis=-2), np.nan, filled.mean(axis=-2))


def summed_by_block(rows: Counts, blocks: IntArray | None) -> Counts:
    """Sum the counts of sentences (n, k) by block, blocks numbered from 0, (n,): (units, k)."""
    if blocks is None:
        return rows
    sums: Counts = np.zeros((int(blocks.max(initial=-1)) + 1, rows.shape[1]), rows.dtype)  # type: ignore[assignment]
    np.add.at(sums, blocks, rows)
    return sums


def _intervals(table: ScoreTable, rows: Sequence[Counts]) -> tuple[FloatArray, FloatArray]:
    """Compute the intervals of all scores, pooled and as the mean of parts: two (2, s), NaN where there is none."""
    pooled = _closed_intervals(table, rows, macro=False)
    macro = _closed_intervals(table, rows, macro=True) if len(rows) > 1 else pooled
    drawn = [answer.method == PERCENTILE for answer in (*pooled, *macro)]
    ends = np.full((2, len(drawn)), np.nan)
    if any(drawn):
        tails = np.array([0.5 * (1 - LEVEL), 0.5 * (1 + LEVEL)])
        ends[:, drawn] = quantiles(np.concatenate(_resampled_scores(table, rows)), tails)[:, drawn]
    for column, answer in enumerate((*pooled, *macro)):
        if answer.interval is not None:
            ends[:, column] = answer.interval.low, answer.interval.high
    return ends[:, : len(pooled)], ends[:, len(pooled) :]


def _closed_intervals(table: ScoreTable, rows: Sequence[Counts], *, macro: bool) -> list[UnitsInterval]:
    """Return for each score its interval, or that the bootstrap gives it."""
    strata = np.repeat(np.arange(len(rows)), [len(part) for part in rows]) if macro else None
    together: Any = np.concatenate(rows)
    answers = []
    for score in table.scores:
        sample = sample_of(score, table.count_names, [together], None, strata)
        # the last parts may have no sentences
        sample = replace(sample, part_count=len(rows)) if macro else sample
        answers.append(system_intervals(sample, [0], LEVEL)[0])
    return answers


def _resampled_scores(table: ScoreTable, rows: Sequence[Counts]) -> tuple[FloatArray, FloatArray]:
    """Compute all scores in every resample, pooled and as the mean of parts: two float64 (s, RESAMPLES)."""
    units = sum(len(part) for part in rows)
    step = max(1, min(RESAMPLES, BATCH_DRAWS // max(1, units)))
    grids = [_on_grid(part) for part in rows]
    worst = _worst(table)
    pooled, macro = [], []
    for batch, start in enumerate(range(0, RESAMPLES, step)):
        size = min(step, RESAMPLES - start)
        seeds = np.random.SeedSequence([SEED, batch])
        states = np.asarray(seeds.generate_state(size * len(rows), np.uint64), np.uint64)
        total = np.zeros((size, len(table.count_names)))
        filled = np.zeros((size, len(table.scores)))
        defined = np.zeros(filled.shape, np.bool_)
        for part, (whole, scale) in enumerate(grids):
            weights = np.zeros((size, len(whole)), whole.dtype)
            draw_weights(states[part * size : (part + 1) * size], weights)
            sums = (weights @ whole).astype(np.float64) * scale
            total += sums
            values = _columns(table, sums)
            filled += np.where(np.isnan(values), worst, values)
            defined |= ~np.isnan(values)
        pooled.append(_columns(table, total))
        macro.append(np.where(defined, filled / max(1, len(rows)), np.nan))
    return np.concatenate(pooled).T, np.concatenate(macro).T


def _worst(table: ScoreTable) -> FloatArray:
    """Return the worst value of each score, NaN where its range has none: (s,)."""
    return np.array([math.nan if score.worst is None else score.worst for score in table.scores], np.float64)


def _columns(table: ScoreTable, totals: Counts) -> FloatArray:
    """Compute all scores of summed counts: (..., k) -> (..., s)."""
    return np.stack([score.of(table.count_names, totals) for score in table.scores], axis=-1)


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
