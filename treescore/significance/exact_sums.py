"""The exact paired permutation test of a sum: the share of all 2^n swaps that are at least as extreme.

Swapping the outputs of unit k turns the sign of its difference d_k, so the statistic is a sum of +-|d_k|, and its
law that of a random subset's sum. Zmigrod, Vieira & Cotterell (2022) compute it by dynamic programming over all
sums. Here the far tail alone is computed, by a dynamic programme of positive terms where it is short, else by
inverting the characteristic function of the exponentially tilted law (Daniels 1954; exact on a lattice), in which
the tail is no longer far: both hold their relative precision at any p. The compiled loops release the interpreter's
lock and start no threads of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.core.jit import compiled, inlined, plainly
from treescore.significance.settings import LN2

SHIFT = 400
"""Powers of two by which cells are made smaller, and the steps after which they are looked at: in a step they at most
double, so that from 2^400 they stay below 2^1024."""
HIGH = 2.0**SHIFT


@inlined
@plainly(np.add)
def _add(first: FloatArray, second: FloatArray, into: FloatArray) -> None:
    for cell in range(len(into)):
        into[cell] = first[cell] + second[cell]


@compiled
def subset_tail(values: IntArray, top: int) -> tuple[FloatArray, int]:
    """Count the subsets of `values` for each sum of at most `top`, by a dynamic programme of positive terms.

    Sums above `top` never come back, so that only `top` + 1 cells are kept.

    Args:
        values: int64 (m,), all positive, ascending.
        top: the largest sum that counts, at least 0.

    Returns:
        Numbers, float64 (top + 1,), and a power of two to multiply them by.
    """
    cells, other = np.zeros(top + 1), np.zeros(top + 1)  # two, so that a processor can add several cells at once
    cells[0] = 1.0
    used = 0
    exponent = 0
    steps = 0
    for value in values:
        if value > top:
            break  # ascending: no larger one fits either
        used = min(top, used + value)
        other[:value] = cells[:value]
        _add(cells[value : used + 1], cells[: used + 1 - value], other[value : used + 1])
        cells, other = other, cells
        steps += 1
        if steps == SHIFT:
            steps = 0
            if cells.max() > HIGH:
                cells *= 2.0**-SHIFT
                exponent += SHIFT
    return cells, exponent  # compiled and not, a sum of them would differ in its last bits


@compiled
def tilted_tail(
    values: IntArray, copies: IntArray, top: int, theta: float, period: int, reach: int
) -> tuple[float, float]:
    """Compute P(sum <= top) under an exponential tilt, times exp(theta * top), from the characteristic function.

    Each of `copies` units of a value v is in the sum with odds exp(-theta v), which moves the sum's mean to `top`
    and the sought tail out of the noise. The transform is a finite one of `period` points, of which nearly all are
    zero to the last bit and are left after the first factors.

    Args:
        values: int64 (k,), distinct and positive, those with the most weight first.
        copies: int64 (k,).
        top: the largest sum that counts.
        theta: the tilt, at least 0.
        period: points of the transform; sums further apart than this must not both have mass.
        reach: how far below `top` sums with mass are looked for.

    Returns:
        The value and the sum of the magnitudes added, whose rounding bounds its error.
    """
    size = len(values)
    odds = np.empty(size)
    for index in range(size):
        odds[index] = math.exp(-theta * values[index])
    result = 0.0
    magnitude = 0.0
    for point in range(period // 2 + 1):
        angle = 2.0 * np.pi * point / period
        log_size = 0.0
        phase = 0.0
        for index in range(size):
            unit_odds = odds[index]
            half = math.sin(0.5 * angle * values[index])
            squared_size = 1.0 - 4.0 * unit_odds * half * half / ((1.0 + unit_odds) * (1.0 + unit_odds))
            if squared_size <= 0.0:
                log_size = -np.inf
                break
            log_size += 0.5 * copies[index] * math.log(squared_size)
            if log_size < -48.0:
                break
            turn = angle * values[index]
            phase += copies[index] * math.atan2(unit_odds * math.sin(turn), 1.0 + unit_odds * math.cos(turn))
        if log_size < -48.0:
            continue
        phase -= angle * top
        # sum over j = 0 .. reach of exp(-(theta - i angle) j): the sums top - j, weighted back
        if point == 0:
            real, imaginary = float(reach + 1), 0.0
            if theta > 0.0:
                real = -math.expm1(-theta * (reach + 1)) / (1.0 - math.exp(-theta))
        else:
            ratio, last = math.exp(-theta), math.exp(-theta * (reach + 1))
            top_re, top_im = 1.0 - last * math.cos(angle * (reach + 1)), -last * math.sin(angle * (reach + 1))
            re, im = 1.0 - ratio * math.cos(angle), -ratio * math.sin(angle)
            real = (top_re * re + top_im * im) / (re * re + im * im)
            imaginary = (top_im * re - top_re * im) / (re * re + im * im)
        value = math.exp(log_size) * (math.cos(phase) * real - math.sin(phase) * imaginary)
        weight = 1.0 if point == 0 or 2 * point == period else 2.0
        result += weight * value
        magnitude += weight * math.exp(log_size) * math.sqrt(real * real + imaginary * imaginary)
    return result / period, magnitude / period


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
    cells, exponent = subset_tail(np.repeat(differences.values, differences.copies), top)
    number, power = float(cells.sum()), exponent - differences.units
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
