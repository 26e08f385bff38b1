"""Intervals of scores, by closed forms at any number of units; those of differences are the law's (`law`).

- A share of whole units, each right or wrong (exact_match, no_crossing), by sentence: Wilson's (1927).
- Another score from 0 to 1: logit S ± t_df se / (S (1 - S)), with se and df of `contributions`.
- Any other: S ± t_df se, within the score's range.
- S = 0, S = 1 or se = 0: Wilson's, with as many units of equal weight as would vary as much.

Where they are asked for by name, intervals of scores and differences are those of the paired bootstrap: percentile, or
BCa (Efron 1987). Units are redrawn within their part, for all systems alike (Koehn 2004; Efron & Tibshirani 1993). What
a system gets depends on no other. Draws of a batch of resamples come from a stream of their own.
"""

import math
from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import FloatArray, special
from treescore.significance.contributions import Contributions, Spread
from treescore.significance.law import STUDENT_T, Interval
from treescore.significance.units import Sample

WILSON = "Wilson"
LOGIT_T = "logit t"
PERCENTILE = "percentile bootstrap"
BCA = "BCa bootstrap"
MOST_WEIGHTS = 1 << 22
"""Weights of one batch: 32 MB."""
MOST_BATCH = 1 << 10
_STREAM = 0xB007
"""Keeps the draws of resamples apart from those of other procedures under one seed."""


def system_intervals(
    sample: Sample, systems: Sequence[int], level: float, units: Contributions | None = None
) -> list[Interval | None]:
    """Return the interval of each system's score, in the order of the systems; None where there is none.

    Args:
        sample: the terms of the score.
        systems: rows of the sample.
        level: of the intervals.
        units: of the same sample, where they are known.
    """
    units = units or Contributions(sample)
    spread = units.of_systems(systems)
    return [
        _interval(sample, system, float(units.values[system]), spread, row, level) for row, system in enumerate(systems)
    ]


def wilson(k: float, n: float, level: float) -> Interval:
    """Compute (k + z²/2)/(n + z²) ± z √(k(n-k)/n + z²/4)/(n + z²), exactly 0 at k = 0 and 1 at k = n (Wilson 1927)."""
    z = float(special.ndtri(0.5 * (1.0 + level)))
    middle = (k + z * z / 2.0) / (n + z * z)
    half = z * math.sqrt(max(0.0, k * (n - k) / n) + z * z / 4.0) / (n + z * z)
    return Interval(0.0 if k <= 0 else middle - half, 1.0 if k >= n else middle + half, WILSON)


def _interval(sample: Sample, system: int, value: float, spread: Spread, row: int, level: float) -> Interval | None:
    if not math.isfinite(value):
        return None
    share = _whole_units(sample, system)
    if share:
        return wilson(round(value * share), share, level)
    se = float(spread.se[row])
    if math.isnan(se):
        return None
    t = 0.0 if se == 0.0 else float(special.stdtrit(spread.df[row], 0.5 * (1.0 + level)))
    score = sample.score
    if not score.is_share:
        high = math.inf if score.high is None else score.high
        return Interval(max(value - t * se, score.low), min(value + t * se, high), STUDENT_T) if se > 0.0 else None
    if se == 0.0 or not 0.0 < value < 1.0:
        if spread.units[row] < 2:
            return None
        weight = float(spread.weight[row])
        return wilson(min(1.0, max(0.0, value)) * weight, weight, level)
    middle = math.log(value) - math.log1p(-value)
    half = t * se / (value * (1.0 - value))
    return Interval(_share(middle - half), _share(middle + half), LOGIT_T)


def _whole_units(sample: Sample, system: int) -> int:
    """Return the units of a score that is the share of whole units, right or wrong; 0 for another score."""
    if not sample.plain:
        return 0
    m, n = sample.tops[0][system], sample.bottoms[0][system]
    right_or_wrong = ((n == 0) | (n == 1)) & ((m == 0) | (m == n))
    return int(n.sum()) if right_or_wrong.all() else 0


def _share(logit: float) -> float:
    """Return 1/(1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))


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
    own = [_bootstrapped(*each, level, bca=bca) for each in zip(replicates, values, z, strict=True)]
    of_pairs = [
        _bootstrapped(replicates[a] - replicates[b], values[a] - values[b], z[a] - z[b], level, bca=bca)
        for a, b in pairs
    ]
    return own, of_pairs


def _bootstrapped(drawn: FloatArray, observed: float, z: FloatArray, level: float, *, bca: bool) -> Interval | None:
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
