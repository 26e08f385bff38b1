"""Bootstrap intervals of all differences that hold together (Westfall & Young 1993).

Of 66 intervals of single pairs at 95 % all are right at once in a quarter of the comparisons only. These are wider:
D ± q se, where se is the bootstrap standard error of the pair and q the level quantile, over resamples, of the maximum
over all pairs of |D* - D|/se. All pairs share each resample, so that what pairs have in common is not paid twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.significance.bootstrap import Interval
from treescore.significance.constants import ROUNDING

METHOD = "simultaneous bootstrap"
BLOCK_NUMBERS = 1_000_000
"""Replicates of differences held at once: 8 MB; never pairs times resamples."""


def simultaneous_intervals(
    replicates: FloatArray, values: FloatArray, pairs: Sequence[tuple[int, int]], level: float
) -> list[Interval]:
    """Compute D ± q se of each pair, in the order of the pairs; a pair with se = 0 is left out of q.

    A resample in which a score is undefined is left out for its pairs; a pair that is undefined in more than half of
    them has NaN ends.

    Args:
        replicates: the scores in each resample, (N, resamples); NaN where undefined.
        values: the scores themselves, (N,).
        pairs: of systems.
        level: at which all intervals hold together.
    """
    resamples = replicates.shape[1]
    chosen = np.array(pairs, np.int64).reshape(-1, 2)
    observed = values[chosen[:, 0]] - values[chosen[:, 1]]
    if not len(chosen) or resamples < 2:
        return [Interval(math.nan, math.nan, METHOD) for _ in pairs]
    errors = np.empty(len(chosen))
    largest = np.full(resamples, -math.inf)
    step = max(1, BLOCK_NUMBERS // resamples)
    for start in range(0, len(chosen), step):
        block = slice(start, start + step)
        differences = replicates[chosen[block, 0]] - replicates[chosen[block, 1]]
        errors[block] = _standard_errors(differences)
        varying = errors[block] > 0
        if varying.any():
            moved = differences[varying]
            moved -= observed[block][varying, None]
            np.abs(moved, out=moved)
            moved /= errors[block][varying, None]
            np.fmax(largest, np.fmax.reduce(moved, axis=0), out=largest)
    found = largest[np.isfinite(largest)]
    q = float(np.quantile(found, level)) if len(found) else 0.0
    lows, highs = observed - q * errors, observed + q * errors
    return [Interval(float(low), float(high), METHOD) for low, high in zip(lows, highs, strict=True)]


def _standard_errors(differences: FloatArray) -> FloatArray:
    """Return the standard deviation of each row's defined values: 0 where rounding is all, NaN where few are."""
    undefined = np.isnan(differences)
    if undefined.any():
        usable = undefined.mean(axis=1) <= 0.5
        errors = np.full(len(differences), math.nan)
        errors[usable] = np.nanstd(differences[usable], axis=1, ddof=1)
        scale = np.fmax.reduce(np.abs(differences), axis=1)
    else:
        errors = differences.std(axis=1, ddof=1)
        scale = np.maximum(differences.max(axis=1), -differences.min(axis=1))
    return np.asarray(np.where(errors <= ROUNDING * scale, 0.0, errors), np.float64)
