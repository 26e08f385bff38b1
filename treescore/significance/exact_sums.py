"""The exact law of a sum of whole numbers with random signs: p of a score whose denominators are equal in every unit.

Swapping the outputs of unit k turns the sign of its difference d_k, so the statistic is a sum of +-|d_k|, and its law
that of a random subset's sum (Zmigrod, Vieira & Cotterell 2022). The sum of the c units of one size v is v times a
binomial number; the law is the convolution of these. All are tilted so that the mean is where the observed sum lies
(Daniels 1954): terms are positive and the sought tail is not far, so that its relative precision does not depend on p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.significance.settings import LN2

MOST_ADDITIONS = 1e7
"""Units times sums of the longest law of one pair (some 10 ms). It is a pair's own, whichever others are compared."""
_LEAST = 1e-24
"""Chances below this share of the largest are left out: beside the tail, which lies at the mean, they are nothing."""
_FEW = 16
"""Chances of a binomial number up to which shifted copies are added instead of a convolution."""


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
    theta = _tilt(differences, top)
    values = differences.values.astype(np.float64)
    cells, start = np.ones(1), 0
    for value, copies in zip(differences.values.tolist(), differences.copies.tolist(), strict=True):
        first, chances = _binomial(copies, value, theta, top // value)
        start += first * value
        cells = _added(cells, chances, value)[: max(0, top - start + 1)]
    sums = start + np.arange(len(cells))
    weight = float(cells @ np.exp(theta * (sums - top)))
    cumulant = float(np.log1p(np.exp(-theta * values)) @ differences.copies)
    return math.log(weight) + cumulant - units * LN2 + theta * top


def _binomial(copies: int, value: int, theta: float, most: int) -> tuple[int, FloatArray]:
    """Return the chances that so many of `copies` units are turned, each with odds exp(-theta value).

    Returns:
        The first number with a chance, and the chances from it on, of at most `most` units.
    """
    counts = np.arange(1, min(copies, most) + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((copies - counts + 1) / counts) - theta * value)])
    logs -= copies * math.log1p(math.exp(-theta * value))
    chances = np.exp(logs)
    kept = np.flatnonzero(chances >= _LEAST * chances.max())
    return int(kept[0]), chances[kept[0] : kept[-1] + 1]


def _added(cells: FloatArray, chances: FloatArray, value: int) -> FloatArray:
    """Return the law of a sum (cells of 0, 1, ...) plus `value` times an independent number with these chances."""
    result = np.zeros(len(cells) + (len(chances) - 1) * value)
    if len(chances) <= _FEW or value > len(cells):
        for number, chance in enumerate(chances):
            result[number * value : number * value + len(cells)] += chance * cells
        return result
    for rest in range(value):
        convolved = np.convolve(cells[rest::value], chances)
        result[rest::value][: len(convolved)] = convolved
    return result


def _tilt(differences: Differences, top: int) -> float:
    """Return the tilt that moves the mean of the subset's sum to `top` (Newton's steps, kept in a bracket)."""
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
    return theta
