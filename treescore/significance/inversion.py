"""Tails of signed sums: P(sum of s_i e_i >= x) under uniform signs, at any size, small p included.

All swaps are listed where few units differ. Beyond, the tail follows from the cumulant generating function
K(t) = sum of c_j ln cosh(t e_j): by Lugannani & Rice's formula (1980) in O(kinds), or by inverting K along the line
t + iy through the saddlepoint K'(t) = x (Helstrom & Rice 1984), whose relative error does not grow where p is small.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from treescore.core.arrays import FloatArray, IntArray
from treescore.significance.constants import LN2, TOLERANCE
from treescore.significance.linear import Differences, TooLargeError, exact_p
from treescore.significance.tail_kernels import cumulants, inverted, saddlepoint
from treescore.significance.tilted import DRAWS, linear_kinds, sampled_tail

LISTED_SUMS = 20
"""Units up to which all sums of signs are listed, in two halves of 1,024 sums."""
SAMPLED_BELOW = 100
"""Units below which a sum is sampled: inversion does not see the steps of a lattice, 7 % of p at 12 units."""
LATTICE = 0.84
"""Relative error of an inverted p, times the units, that steps of a lattice add: 7 % with 12 units, 0.8 % with 100."""
LATTICE_TOLERANCE = 1e-10
"""Relative distance within which terms count as multiples of one number: their rounding errors are below 1e-14."""
MOST_STEPS = 1 << 20
"""The longest multiple that is looked at: beyond, the exact law would be too long anyway."""
LATTICE_ADDITIONS = 1e7
"""Limit of additions (1 ms) for the exact law of a sum of multiples of one number."""
SATURATED = 2.0
"""t times root K''(0) from which the tilted law is narrow because hardly any sign is free, not because t is near 0."""
_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)


class Tail(NamedTuple):
    """One tail of a sum.

    Attributes:
        p: the share of all signs.
        log_p: its natural logarithm, also where p is too small for a float.
        error: relative error of p; None where exact.
    """

    p: float
    log_p: float
    error: float | None


class Saddle(NamedTuple):
    """The saddlepoint t of a sum at x, with K(t) and the square root of K''(t)."""

    t: float
    cumulant: float
    deviation: float


def sum_tail(
    e: FloatArray, observed: float, *, seed: int = 1, draws: int = DRAWS, most: float = LATTICE_ADDITIONS
) -> Tail:
    """Compute P(sum of s_i e_i >= observed), the s_i = +-1 independent and uniform; ties count.

    Args:
        e: float64 (n,), any sign.
        observed: x; a sum that is within 1e-12 of it ties with it.
        seed: of the draws where more than 20 and fewer than 100 units differ.
        draws: how many; with 0 such sums are inverted too.
        most: additions that the exact law of more than 20 units may take, where all e are multiples of one number.
    """
    sizes, counts = np.unique(np.abs(np.asarray(e, np.float64)), return_counts=True)
    e, copies = sizes[sizes > 0], counts[sizes > 0].astype(np.int64)
    units, largest = int(copies.sum()), float(e @ copies)
    slack = TOLERANCE * max(abs(observed), largest if units <= LISTED_SUMS else 0.0)
    if observed <= slack - largest:
        return Tail(1.0, 0.0, None)
    if observed > largest + slack:
        return Tail(0.0, -math.inf, None)
    if units <= LISTED_SUMS:
        p = listed_tail(np.repeat(e, copies), observed - slack)
        return Tail(p, math.log(p), None)
    if observed >= largest * (1.0 - TOLERANCE):
        return tail_of(-units * LN2, None)
    exact = lattice_tail(e, copies, observed, most)
    if exact is not None:
        return exact
    if units < SAMPLED_BELOW and draws:
        t = saddlepoint(e, copies, observed) if observed > 0 else 0.0
        sampled = sampled_tail(linear_kinds(e, copies), observed, observed, t, seed=seed, draws=draws)
        return tail_of(sampled.log_p, sampled.error)
    # the law is symmetric: P(L >= x) = 1 - P(L > -x)
    return inverted_tail(e, copies, observed) if observed >= 0 else complement(inverted_tail(e, copies, -observed))


def listed_tail(e: FloatArray, limit: float) -> float:
    """Return the share of all signs of e (n,) with a sum of at least `limit`, from the sorted sums of two halves."""
    half = len(e) // 2
    first, second = signed_sums(e[:half]), np.sort(signed_sums(e[half:]))
    reached = len(second) - np.searchsorted(second, limit - first, side="left")
    return float(reached.sum()) / 2.0 ** len(e)


def lattice_tail(e: FloatArray, copies: IntArray, observed: float, most: float) -> Tail | None:
    """Return the exact tail where all e are whole multiples of the smallest and their law is short, else None."""
    steps = e / e[0]
    whole = np.rint(steps)
    if whole[-1] > MOST_STEPS or (np.abs(steps - whole) > LATTICE_TOLERANCE * whole).any():
        return None
    largest = int(whole @ copies)
    reached = math.ceil(observed / e[0] - LATTICE_TOLERANCE * largest)
    # sums of signs keep the parity of the largest
    differences = Differences(whole.astype(np.int64), copies, reached + (largest - reached) % 2)
    try:
        p, log_p = exact_p(differences, "greater", most)
    except TooLargeError:
        return None
    return Tail(p, log_p, None)


def signed_sums(e: FloatArray) -> FloatArray:
    """Compute the sums of e (n,) under all signs, (2^n,)."""
    sums = np.zeros(1)
    for value in e:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def saddle_at(e: FloatArray, copies: IntArray, x: float) -> Saddle:
    """Solve K'(t) = x, for x from 0 to below the largest sum."""
    t = saddlepoint(e, copies, x)
    cumulant, _, second = cumulants(e, copies, t)
    return Saddle(t, cumulant, math.sqrt(second))


def inverted_tail(e: FloatArray, copies: IntArray, x: float, saddle: Saddle | None = None) -> Tail:
    """Compute P(L >= x) = (1/pi) integral of Re exp(K(t+iy) - (t+iy) x) / (t+iy) over y > 0, for 0 <= x < largest.

    Any t > 0 serves; where the saddlepoint is so near 0 that the pole 1 / t would disturb the trapezoid rule,
    t = 1 / root K'' is taken. Where x is so near the largest sum that hardly any sign is free, there is nothing to
    invert: the tail is Chernoff's bound exp(K(t) - t x), with an error of 1.
    """
    saddle = saddle or saddle_at(e, copies, x)
    t, cumulant, deviation = saddle
    units = int(copies.sum())
    if t * deviation < 1.0:
        if t * math.sqrt(float(copies @ (e * e))) >= SATURATED:
            return upper_tail_of(cumulant - t * x, 1.0, x, units)
        t = 1.0 / deviation
        cumulant, _, second = cumulants(e, copies, t)
        deviation = math.sqrt(second)
    value, error = inverted(e, copies, x, t, deviation)
    if not value > 0.0:
        return upper_tail_of(lugannani_rice(x, saddle), 1.0, x, units)
    return upper_tail_of(cumulant - t * x + math.log(value), error / value + LATTICE / units, x, units)


def lugannani_rice(x: float, saddle: Saddle) -> float:
    """Return ln P(L >= x) = ln (Q(w) + phi(w) (1/z - 1/w)), with w = root of 2 (t x - K(t)) and z = t root K''(t).

    Q and phi are the normal law's upper tail and density. It is at most Chernoff's bound K(t) - t x, which the formula
    leaves where x is near the largest sum.
    """
    t, cumulant, deviation = saddle
    w = math.sqrt(max(0.0, 2.0 * (t * x - cumulant)))
    log_q = float(log_ndtr(-w))
    z = t * deviation
    if w < 1e-3 or z <= 0.0:  # 1/z - 1/w is then the difference of two large numbers, and w itself the first order
        return log_q
    bend = math.exp(-0.5 * w * w - _LOG_ROOT_2PI - log_q) * (1.0 / z - 1.0 / w)
    return min(0.0, cumulant - t * x, log_q + math.log1p(max(bend, -0.5)))


def complement(rest: Tail) -> Tail:
    """Return 1 - P, with the error that it has."""
    p = 1.0 - rest.p
    error = None if rest.error is None else rest.error * rest.p / max(p, rest.p)
    return Tail(p, math.log1p(-rest.p), error)


def upper_tail_of(log_p: float, error: float | None, x: float, units: int) -> Tail:
    """Return P(L >= x) for x from 0 to the largest sum by its logarithm, within what any such tail keeps.

    The law is symmetric, so that beyond 0 the tail is at most 1/2; at least one of the 2^units signs reaches x.
    """
    most = -LN2 if x > 0.0 else 0.0
    return tail_of(min(most, max(log_p, -units * LN2)), error)


def tail_of(log_p: float, error: float | None) -> Tail:
    """Return a tail by its logarithm, at most 0."""
    log_p = float(min(0.0, log_p))
    return Tail(math.exp(log_p), log_p, error)
