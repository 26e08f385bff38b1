"""Intervals by the paired bootstrap, where they are asked for by name: percentile, or BCa (Efron 1987).

Units are redrawn within their part, for all systems alike (Koehn 2004; Efron & Tibshirani 1993). What a system gets
depends on no other. Draws of a batch of resamples come from a stream of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from treescore.core.arrays import FloatArray
from treescore.significance.law import Interval
from treescore.significance.units import Sample

PERCENTILE = "percentile bootstrap"
BCA = "BCa bootstrap"
MOST_WEIGHTS = 1 << 22
"""Weights of one batch: 32 MB."""
MOST_BATCH = 1 << 10
_STREAM = 0xB007
"""Keeps the draws of resamples apart from those of other procedures under one seed."""


def resampled(sample: Sample, resamples: int, seed: int) -> FloatArray:
    """Return the score of every system in every resample: float64 (N, resamples), NaN where undefined."""
    scores = np.empty((sample.systems, resamples))
    strata, parts = sample.strata, sample.strata_count
    starts = np.searchsorted(strata, np.arange(parts + 1))
    step = max(1, min(MOST_BATCH, MOST_WEIGHTS // max(1, sample.units)))
    for batch, first in enumerate(range(0, resamples, step)):
        size = min(step, resamples - first)
        generator = np.random.default_rng([seed, _STREAM, batch])
        sums = [np.zeros((2, sample.systems, size, parts)) for _ in sample.ratios]
        for part in range(parts):
            units = slice(int(starts[part]), int(starts[part + 1]))
            weights = _weights(generator, size, units.stop - units.start)
            for of_ratio, sides in zip(sums, sample.ratios, strict=True):
                for side, terms in enumerate(sides):
                    of_ratio[side, :, :, part] = terms[:, units].astype(np.float64) @ weights
        scores[:, first : first + size] = sample.joined([(top, bottom) for top, bottom in sums])
    return scores


def bootstrap_intervals(
    sample: Sample, pairs: Sequence[tuple[int, int]], resamples: int, seed: int, level: float, *, bca: bool
) -> tuple[list[Interval | None], list[Interval | None]]:
    """Return the intervals of all scores and of the differences of pairs; None of an undefined score."""
    replicates, values = resampled(sample, resamples, seed), sample.values()
    left_out = jackknife_scores(sample) if bca else np.zeros((sample.systems, 0))

    def interval(drawn: FloatArray, observed: float, without: FloatArray) -> Interval | None:
        if not np.isfinite(observed):
            return None
        return bca_interval(drawn, observed, without, level) if bca else percentile_interval(drawn, level)

    own = [interval(*each) for each in zip(replicates, values.tolist(), left_out, strict=True)]
    of_pairs = [
        interval(replicates[a] - replicates[b], float(values[a] - values[b]), left_out[a] - left_out[b])
        for a, b in pairs
    ]
    return own, of_pairs


def percentile_interval(replicates: FloatArray, level: float) -> Interval:
    """Compute the percentile interval of replicates (resamples,)."""
    tail = 0.5 * (1.0 - level)
    low, high = _quantiles(replicates, np.array([tail, 1.0 - tail]))
    return Interval(low, high, PERCENTILE)


def bca_interval(replicates: FloatArray, observed: float, jackknife: FloatArray, level: float) -> Interval:
    """Compute the bias-corrected and accelerated interval of one statistic.

    Args:
        replicates: (resamples,).
        observed: the statistic itself.
        jackknife: the statistic without each unit, one after the other, (n,).
        level: of the interval.
    """
    finite = replicates[~np.isnan(replicates)]
    below = float((finite < observed).sum() + 0.5 * (finite == observed).sum())
    if not len(finite) or below in (0.0, float(len(finite))):
        return percentile_interval(replicates, level)
    bias = float(ndtri(below / len(finite)))
    influences = jackknife.mean() - jackknife
    spread = float((influences**2).sum())
    acceleration = float((influences**3).sum()) / (6.0 * spread**1.5) if spread > 0 else 0.0
    tail = 0.5 * (1.0 - level)
    shares = []
    for share in (tail, 1.0 - tail):
        z = bias + float(ndtri(share))
        shares.append(float(ndtr(bias + z / (1.0 - acceleration * z))))
    low, high = _quantiles(finite, np.array(shares))
    return Interval(low, high, BCA)


def jackknife_scores(sample: Sample) -> FloatArray:
    """Compute scores without each unit, one after the other: (N, n); undefined ones as if no unit were left out."""
    strata = sample.strata
    left_out = [tuple(sample.summed(terms)[:, strata] - terms for terms in sides) for sides in sample.ratios]
    own = sample.score.of_terms([(top, bottom) for top, bottom in left_out])
    if sample.parts is not None:
        worst = np.nan if sample.score.worst is None else sample.score.worst
        by_part = np.nan_to_num(sample.score.of_terms(sample.sums()), nan=worst)
        total = by_part.sum(axis=1, keepdims=True)
        own = (total - by_part[:, strata] + np.nan_to_num(own, nan=worst)) / sample.part_count
    return np.where(np.isnan(own), sample.values()[:, None], own)


def _weights(generator: np.random.Generator, resamples: int, units: int) -> FloatArray:
    """Draw how often each unit is redrawn in each resample: (units, resamples)."""
    if not units:
        return np.zeros((0, resamples))
    drawn = generator.integers(units, size=(resamples, units))
    drawn += units * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * units)
    return np.ascontiguousarray(counts.reshape(resamples, units).T, np.float64)


def _quantiles(values: FloatArray, shares: FloatArray) -> tuple[float, float]:
    """Compute two quantiles, linearly interpolated, undefined values left out; NaN where most are undefined."""
    undefined = np.isnan(values)
    if not len(values) or undefined.mean() > 0.5:
        return np.nan, np.nan
    low, high = np.quantile(values[~undefined], shares)
    return float(low), float(high)
