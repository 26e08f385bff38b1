"""The exact law of a sum of whole numbers with random signs: p of a score whose denominators are equal in every unit.

Swapping the outputs of unit k turns the sign of its difference d_k, so the statistic is a sum of +-|d_k|, and its law
that of a random subset's sum (Zmigrod, Vieira & Cotterell 2022). The sum of the c units of one size v is v times a
binomial number; the law is the convolution of these: counted one unit after the other where few have the same size,
else by Fourier transforms over a period that holds all but 1e-21 of it. The latter is tilted so that the mean is where
the observed sum lies (Daniels 1954): the sought tail is then not far, so that its relative precision does not depend
on p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.significance.settings import LN2

MOST_ADDITIONS = 1e7
"""Units times sums of the longest law of one pair (some 10 ms). It is a pair's own, whichever others are compared."""
MOST_COUNTED = 1000
"""Units whose subsets are counted in float64, which holds 2^1023."""
FEW_COPIES = 8
"""Units of one size, in the mean, up to which adding one after the other is quicker than transforms."""


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
    def largest(self) -> int:
        """The largest sum that swaps can reach."""
        return int(self.values @ self.copies)

    @property
    def additions(self) -> float:
        """The cost of the law: units times the sums that count."""
        return float(self.copies.sum()) * ((self.largest - abs(self.observed)) // 2 + 1)


def differences_of(d: IntArray) -> Differences:
    """Reduce signed integer differences (n,)."""
    values, copies = np.unique(np.abs(d[d != 0]), return_counts=True)
    divisor = int(np.gcd.reduce(values)) if len(values) else 1
    return Differences(values // divisor, copies.astype(np.int64), int(d.sum()) // divisor)


def log_upper_tail(differences: Differences, observed: int) -> float:
    """Compute ln P(S >= observed), for an observed sum of either sign with the parity of the sums."""
    if observed <= 0:  # P(S >= o) = 1 - P(S >= 2 - o): sums keep their parity, and the law is symmetric
        beyond = 2 - observed
        return math.log1p(-math.exp(log_upper_tail(differences, beyond))) if beyond <= differences.largest else 0.0
    top = (differences.largest - observed) // 2  # the subset whose signs are turned sums up to this at most
    units = int(differences.copies.sum())
    if top <= 0:
        return -units * LN2
    if units <= min(MOST_COUNTED, FEW_COPIES * len(differences.values)):
        return math.log(_subsets(differences, top)) - units * LN2
    theta, mean = _tilt(differences, top)
    values = differences.values.astype(np.float64)
    # Hoeffding (1963): under any tilt the mass further from the mean than r is below exp(-2 r^2 / sum of d^2)
    reach = math.ceil(4.9 * math.sqrt(float((values * values) @ differences.copies)) + abs(top - mean)) + 1
    first, last = max(0, top - reach), min(differences.largest, top + reach)
    from scipy.fft import irfft, next_fast_len, rfft  # noqa: PLC0415 - loads 15 MB, which most processes never need

    period = next_fast_len(last - first + 1, real=True)
    spectrum = np.ones(period // 2 + 1, np.complex128)
    for value, copies in zip(differences.values.tolist(), differences.copies.tolist(), strict=True):
        numbers, chances = _binomial(copies, theta * value)
        spectrum *= rfft(np.bincount(numbers * value % period, chances, period))
    sums = np.arange(first, top + 1)
    weight = float(irfft(spectrum, period)[sums % period] @ np.exp(theta * (sums - top)))
    cumulant = float(np.log1p(np.exp(-theta * values)) @ differences.copies)
    return math.log(weight) + cumulant - units * LN2 + theta * top


def _subsets(differences: Differences, top: int) -> float:
    """Count the subsets of the units whose sum is at most `top`."""
    ways = np.zeros(top + 1)
    ways[0], reached = 1.0, 0
    for value in np.repeat(differences.values, differences.copies).tolist():
        reached = min(top, reached + value)
        if value <= reached:
            ways[value : reached + 1] += ways[: reached + 1 - value]
    return float(ways.sum())


def _binomial(copies: int, tilt: float) -> tuple[IntArray, FloatArray]:
    """Return numbers of turned units among `copies`, each with odds exp(-tilt), and their chances, but far ones."""
    share = 1.0 / (1.0 + math.exp(min(tilt, 700.0)))
    width = 11.0 * math.sqrt(copies * share * (1.0 - share)) + 30.0
    least, most = max(0, math.floor(copies * share - width)), min(copies, math.ceil(copies * share + width))
    numbers = np.arange(least, most + 1)
    steps = np.cumsum(np.log((copies - numbers[:-1]) / numbers[1:]) - tilt)
    chances = np.exp(np.append(0.0, steps) - max(0.0, steps.max(initial=0.0)))
    return numbers, chances / chances.sum()


def _tilt(differences: Differences, top: int) -> tuple[float, float]:
    """Return the tilt that moves the mean of the subset's sum near `top` (Newton's steps in a bracket), and it."""
    values, copies = differences.values.astype(np.float64), differences.copies
    low, high, theta = 0.0, math.inf, 0.0
    for _ in range(60):
        share = 1.0 / (1.0 + np.exp(np.minimum(theta * values, 700.0)))
        mean, variance = float((values * share) @ copies), float((values * values * share * (1.0 - share)) @ copies)
        if abs(mean - top) <= 0.25 * math.sqrt(variance) or (theta == 0.0 and mean <= top):
            break
        low, high = (theta, high) if mean > top else (low, theta)
        step = theta + (mean - top) / variance if variance > 0 else math.inf
        theta = step if low < step < high else (2.0 * theta + 1.0 if math.isinf(high) else 0.5 * (low + high))
    return theta, mean
