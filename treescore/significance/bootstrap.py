"""Intervals by the paired bootstrap, where they are asked for by name: percentile, or BCa (Efron 1987).

Units are redrawn within their part, for all systems alike (Koehn 2004; Efron & Tibshirani 1993). What a system gets
depends on no other. Draws of a batch of resamples come from a stream of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treescore.core import special
from treescore.core.arrays import FloatArray
from treescore.significance.contributions import Contributions
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
    step = max(1, min(MOST_BATCH, MOST_WEIGHTS // max(1, sample.units, 4 * sample.systems * parts)))
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
    units: Contributions, pairs: Sequence[tuple[int, int]], resamples: int, seed: int, level: float, *, bca: bool
) -> tuple[list[Interval | None], list[Interval | None]]:
    """Return the intervals of all scores and of the differences of pairs; None of an undefined score."""
    replicates, values, z = resampled(units.sample, resamples, seed), units.values, units.z
    own = [_interval(*each, level, bca=bca) for each in zip(replicates, values, z, strict=True)]
    of_pairs = [
        _interval(replicates[a] - replicates[b], values[a] - values[b], z[a] - z[b], level, bca=bca) for a, b in pairs
    ]
    return own, of_pairs


def _interval(drawn: FloatArray, observed: float, z: FloatArray, level: float, *, bca: bool) -> Interval | None:
    """Compute an interval of a statistic from its replicates and the units' influences z (n,).

    The ends of BCa are quantiles at Φ(b + (b + q) / (1 - a (b + q))), with b the deviate of the share of replicates
    below the statistic and a = Σ z³ / (6 (Σ z²)^1.5).
    """
    if not np.isfinite(observed):
        return None
    finite = drawn[~np.isnan(drawn)]
    if 2 * len(finite) < len(drawn):
        return Interval(np.nan, np.nan, BCA if bca else PERCENTILE)
    deviates, spread = special.ndtri([0.5 * (1.0 - level), 0.5 * (1.0 + level)]), float((z * z).sum())
    below = float((finite < observed).mean() + 0.5 * (finite == observed).mean())
    if bca and 0.0 < below < 1.0 and spread > 0.0:
        bias, acceleration = float(special.ndtri(below)), float((z**3).sum()) / (6.0 * spread**1.5)
        deviates = bias + (bias + deviates) / (1.0 - acceleration * (bias + deviates))
    low, high = np.quantile(finite, special.ndtr(deviates))
    return Interval(float(low), float(high), BCA if bca else PERCENTILE)


def _weights(generator: np.random.Generator, resamples: int, units: int) -> FloatArray:
    """Draw how often each unit is redrawn in each resample: (units, resamples)."""
    if not units:
        return np.zeros((0, resamples))
    drawn = generator.integers(units, size=(resamples, units)) + units * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units)
    return np.ascontiguousarray(counts.T, np.float64)
