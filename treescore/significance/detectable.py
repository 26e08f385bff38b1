"""The true difference that a comparison would have found: what "not significant" leaves open (Card et al. 2020)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from treescore.significance.constants import ROUNDING
from treescore.significance.contribution_kernels import contribution_squares
from treescore.significance.contributions import Contributions
from treescore.significance.influence import contributions_of
from treescore.significance.units import Sample


class Moments(NamedTuple):
    """Sums over the units of a pair.

    Attributes:
        residuals: s² = Σ(e_i - D w_i)².
        contributions: Σ e_i².
        kappa: Σ w_i².
    """

    residuals: float
    contributions: float
    kappa: float


def detectable(c: Contributions, alpha: float, power: float) -> float | None:
    """Return the difference that a two-sided swap test at level alpha finds with probability `power`, in score units.

    Args:
        c: the contributions of a pair.
        alpha: of this pair, after the correction for the number of pairs.
        power: between 0 and 1.

    Returns:
        None where the data show no spread (s = 0), and where no difference can be found (q <= 0: too few units).
    """
    return detectable_of(moments_of(c), alpha, power)


def detectable_of(moments: Moments, alpha: float, power: float) -> float | None:
    """Return the detectable difference from sums over the units.

    With s² = Σ(e_i - D w_i)², kappa = Σ w_i², a = z_(alpha/2), b = z_(1-power) and q = 1 - a² kappa it is

        s (b + √(b² + q (a² - b²))) / q,

    the solution of x = a √(s² + x² kappa) + b s: an effect x widens the law of the swaps too, by x² kappa, and the
    test must exceed a of that. (a + b) s, which leaves this out, promises too much: it has 70 % power for 80 with 50
    units at 0.05 / 210 (`benchmarks/validity.py`).
    """
    a, b = -float(ndtri(alpha / 2.0)), float(ndtri(power))
    s, kappa = math.sqrt(moments.residuals), moments.kappa
    q = 1.0 - a * a * kappa
    if q <= 0 or not s > ROUNDING * math.sqrt(moments.contributions):
        return None
    return max(0.0, s * (b + math.sqrt(b * b + q * (a * a - b * b))) / q)


def moments_of(c: Contributions) -> Moments:
    """Sum over the units of a pair."""
    residuals = c.e - c.difference * c.w
    return Moments(float(residuals @ residuals), float(c.e @ c.e), float(c.w @ c.w))


def moments_of_pairs(sample: Sample, pairs: Sequence[tuple[int, int]]) -> list[Moments]:
    """Sum over the units of each pair, without arrays of contributions where the score is one ratio."""
    compiled = len(sample.tops) == 1 and sample.score.join is None and sample.missing is None
    if not compiled:
        return [moments_of(contributions_of(sample, *pair)) for pair in pairs]
    values = sample.values()
    sign = -1.0 if sample.score.ratios[0].one_minus else 1.0
    strata, m, n = sample.strata, sample.tops[0], sample.bottoms[0]
    sums = sample.summed(m).astype(np.float64), sample.summed(n).astype(np.float64)
    return [
        Moments(
            *contribution_squares(m, n, strata, *sums, np.array(pair), sign * float(values[pair[0]] - values[pair[1]]))
        )
        for pair in pairs
    ]
