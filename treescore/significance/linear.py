"""The exact paired permutation test of a sum: the share of all 2^n swaps that are at least as extreme.

Swapping the outputs of unit k turns the sign of its difference d_k, so the statistic is a sum of +-|d_k|, and its
law that of a random subset's sum. Zmigrod, Vieira & Cotterell (2022) compute it by dynamic programming over all
sums. Here the far tail alone is computed, by a dynamic programme of positive terms where it is short, else by
inverting the characteristic function of the exponentially tilted law (Daniels 1954; exact on a lattice), in which
the tail is no longer far: both hold their relative precision at any p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import IntArray
from treescore.significance.constants import LN2
from treescore.significance.linear_kernels import subset_tail, tilted_tail

MAX_ADDITIONS = 2e8
"""Additions of the longest law of one pair (20 ms by the dynamic programme)."""
ADDITIONS = 2e9
"""Additions of the exact laws of all pairs of a comparison (some 0.2 seconds by the dynamic programme)."""
POINT_ADDITIONS = 400.0
"""Additions that one point of the transform costs with one distinct difference: a logarithm and an arc tangent take
some 40 nanoseconds, an addition 0.1."""
COUNTED = 1 << 14
"""Differences up to this are counted in a table, which is faster than sorting them."""
MAX_POINTS = 1 << 20
"""Points of the longest transform."""
_SUM_PRECISION = 2e-11
"""Relative error from rounding up to which the transform counts as exact."""


class TooLargeError(Exception):
    """The exact law would exceed the budget; the caller inverts or samples instead."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The non-zero differences of one pair, reduced by their common divisor.

    Attributes:
        values: distinct |d|, int64 (k,), ascending.
        copies: units of each, int64 (k,).
        observed: the observed sum of signed d.
    """

    values: IntArray
    copies: IntArray
    observed: int

    @property
    def units(self) -> int:
        """Units that differ."""
        return int(self.copies.sum())

    @property
    def largest(self) -> int:
        """The largest sum that swaps can reach."""
        return int(self.values @ self.copies)


def differences_of(d: IntArray) -> Differences:
    """Reduce signed integer differences (n,)."""
    sizes = np.abs(d)
    if int(sizes.max(initial=0)) <= COUNTED:
        all_copies = np.bincount(sizes)
        values = 1 + np.flatnonzero(all_copies[1:])
        copies = all_copies[values]
    else:
        values, copies = np.unique(sizes[sizes > 0], return_counts=True)
    divisor = int(np.gcd.reduce(values)) if len(values) else 1
    return Differences(values // divisor, copies.astype(np.int64), int(d.sum()) // divisor)


def additions(differences: Differences) -> float:
    """Reckon the additions that the exact law needs, by the cheaper of its two methods; nothing is computed yet."""
    if not differences.units:
        return 0.0
    top = (differences.largest - abs(differences.observed)) // 2
    return min(_subset_additions(differences, top), _transform_additions(differences, top))


def exact_p(differences: Differences, alternative: str, most: float = MAX_ADDITIONS) -> tuple[float, float]:
    """Return the exact p and its natural logarithm: two-sided, greater (of the signed sum), or less.

    The first is 0.0 where it is smaller than a float can be; the second is always right.

    Args:
        differences: of the pair.
        alternative: two-sided, greater, less.
        most: additions that the law may take.

    Raises:
        TooLargeError: counts so large that no exact method stays within `most` additions; reckoned before starting.
    """
    if alternative == "less":
        differences = Differences(differences.values, differences.copies, -differences.observed)
    observed = differences.observed
    if not differences.units:
        return 1.0, 0.0
    if alternative == "two-sided":
        if not observed:
            return 1.0, 0.0
        p, log_p = tail(differences, abs(observed), most)
        return min(1.0, 2.0 * p), min(0.0, LN2 + log_p)
    if observed > 0:
        return tail(differences, observed, most)
    # P(S >= o) = 1 - P(S <= o - 2): sums keep their parity, and the law is symmetric
    if 2 - observed > differences.largest:
        return 1.0, 0.0
    below, _ = tail(differences, 2 - observed, most)
    return 1.0 - below, math.log1p(-below)


def tail(differences: Differences, observed: int, most: float = MAX_ADDITIONS) -> tuple[float, float]:
    """Compute P(S >= observed) and its logarithm, for an observed sum in 1 .. largest near one that swaps reach.

    Raises:
        TooLargeError: neither method stays within `most` additions and is precise enough.
    """
    top = (differences.largest - observed) // 2
    by_subsets, by_transform = _subset_additions(differences, top), _transform_additions(differences, top)
    if by_transform < by_subsets and by_transform <= most:
        tilted = _by_tilting(differences, top)
        if tilted is not None:
            return math.exp(tilted), tilted
    if by_subsets > most:
        raise TooLargeError
    return _by_subsets(differences, top)


def _subset_additions(differences: Differences, top: int) -> float:
    """Reckon the dynamic programme's additions: each difference once over all sums up to `top`."""
    return float(differences.units) * (top + 1)


def _transform_additions(differences: Differences, top: int) -> float:
    """Reckon the transform's cost in additions of the dynamic programme."""
    # the tilt moves the mean to `top` at most, so that the period is no longer than this
    spread = _spread(differences)
    period = min(differences.largest + 1.0, min(top, spread) + spread + 1.0)
    if period > MAX_POINTS:
        return math.inf
    return POINT_ADDITIONS * len(differences.values) * 0.5 * period


def _spread(differences: Differences) -> int:
    # Hoeffding (1963): under any tilt the mass further from the mean than r is below exp(-2 r^2 / sum of d^2), with
    # this r exp(-2 * 4.9^2) = 1.4e-21
    squares = float((differences.values.astype(np.float64) ** 2) @ differences.copies)
    return math.ceil(4.9 * math.sqrt(squares)) + 1


def _by_subsets(differences: Differences, top: int) -> tuple[float, float]:
    number, exponent = subset_tail(np.repeat(differences.values, differences.copies), top)
    power = exponent - differences.units
    return math.ldexp(number, power), math.log(number) + power * LN2


def _by_tilting(differences: Differences, top: int) -> float | None:
    """Return the tail by inversion, or None where its error bound is not small enough."""
    theta, mean = _sum_tilt(differences, top)
    spread = _spread(differences) + math.ceil(abs(top - mean))
    reach = min(top, spread)
    period = min(differences.largest + 1, reach + spread + 1)
    if period > MAX_POINTS:
        return None
    order = np.argsort(-differences.copies * np.minimum(differences.values, 3), kind="stable")
    value, magnitude = tilted_tail(differences.values[order], differences.copies[order], top, theta, period, reach)
    if not value > 0 or magnitude * 1e-15 * (4 + math.sqrt(differences.units)) + 1e-19 > _SUM_PRECISION * value:
        return None
    cumulant = float(np.log1p(np.exp(-theta * differences.values)) @ differences.copies)
    return math.log(value) + cumulant - differences.units * LN2 + theta * top


def _sum_tilt(differences: Differences, top: int) -> tuple[float, float]:
    """Return the tilt that moves the mean to `top`, and the mean it reaches (Newton's steps, kept in a bracket)."""
    low, high, theta = 0.0, 1.0, 0.0
    values = differences.values.astype(np.float64)
    for _ in range(60):
        if _sum_moments(values, differences.copies, high)[0] < top:
            break
        high *= 2.0
    mean, variance = _sum_moments(values, differences.copies, theta)
    for _ in range(60):
        if abs(mean - top) < 0.25 or mean <= top:
            break
        low = theta
        step = theta + (mean - top) / variance if variance > 0 else math.inf
        theta = step if low < step < high else 0.5 * (low + high)
        mean, variance = _sum_moments(values, differences.copies, theta)
        while mean < top - 0.25 and theta - low > 1e-12:
            high, theta = theta, 0.5 * (low + theta)
            mean, variance = _sum_moments(values, differences.copies, theta)
    return theta, mean


def _sum_moments(values: np.ndarray, copies: IntArray, theta: float) -> tuple[float, float]:
    share = 1.0 / (1.0 + np.exp(np.minimum(theta * values, 700.0)))
    return float((values * share) @ copies), float((values * values * share * (1.0 - share)) @ copies)
