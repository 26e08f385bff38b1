"""The exact paired permutation test of a ratio of sums (F1, precision, AER), and of anything over few units.

Sums of both systems do not change under swaps, so the law of a ratio's difference is that of two numbers: the
differences of numerators and of denominators. Up to 16 differing units all swaps are listed; beyond, a dynamic
programme over the two sums counts them, by additions of positive numbers only, so that small p keep their
relative precision (`law` chooses between it and the faster transform).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.significance.constants import LN2, SLACK, TOLERANCE
from treescore.significance.kernels import GridTerms, extreme_mass, subset_grid
from treescore.significance.units import Sample

LISTED_UNITS = 16
"""Differing units up to which all swaps are listed: 65,536, some milliseconds."""
MOST_CELLS = 12_000_000
"""Cells of the largest grid (96 MB)."""
_NEGLECT = 1e-11
"""Share of p that the window of a grid may leave out."""
_LEEWAY = 3.0
"""How far, in logarithms, p may lie below its first estimate before the window is made again: a factor of 20."""
_FAR = 800.0
"""Minus the logarithm of p from which on the first window is as good as any: floats end at exp(-745)."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of systems of a sample with one integer ratio.

    Attributes:
        us, vs: differences of numerators and denominators in the units that differ, int64 (m,).
        total, size: the numerators' and denominators' sums over both systems.
        direction: 1.0, or -1.0 where a lower ratio is better.
        zero_possible: some swap may leave a system without a denominator.
    """

    us: IntArray
    vs: IntArray
    total: int
    size: int
    direction: float
    zero_possible: bool

    @property
    def observed(self) -> float:
        """The observed difference of the two ratios, better is positive."""
        u, v = float(self.us.sum()), float(self.vs.sum())
        top = u * self.size - self.total * v
        return self.direction * 2.0 * top / (float(self.size) ** 2 - v * v)


def pair_of(sample: Sample, first: int, second: int) -> Pair:
    """Return the differences of two systems of a plain sample of integers."""
    top, bottom = sample.tops[0], sample.bottoms[0]
    us = top[first] - top[second]
    vs = bottom[first] - bottom[second]
    differ = (us != 0) | (vs != 0)
    least = int(np.minimum(bottom[first], bottom[second]).sum())
    return Pair(
        us=np.asarray(us[differ], np.int64),
        vs=np.asarray(vs[differ], np.int64),
        total=int(top[first].sum() + top[second].sum()),
        size=int(bottom[first].sum() + bottom[second].sum()),
        direction=sample.direction,
        zero_possible=least <= 0,
    )


def enumerated_p(sample: Sample, first: int, second: int, alternative: str) -> float:
    """Return the share of all swaps of at most LISTED_UNITS differing units that are at least as extreme; any score."""
    differ = sample.differing_units(first, second)
    sums = []
    for top, bottom in zip(sample.tops, sample.bottoms, strict=True):
        sums.append(tuple(_all_swaps(terms[first], terms[second], differ) for terms in (top, bottom)))
    a = sample.joined([(top[0][:, None], bottom[0][:, None]) for top, bottom in sums])
    b = sample.joined([(top[1][:, None], bottom[1][:, None]) for top, bottom in sums])
    differences = np.nan_to_num(a) - np.nan_to_num(b)
    return float(extreme(differences, float(differences[0]), alternative, sample.score.higher_is_better).mean())


def extreme(differences: FloatArray, observed: float, alternative: str, higher_is_better: bool) -> np.ndarray:  # noqa: FBT001
    """Tell which differences of scores are at least as extreme as the observed one, ties included."""
    better = 1.0 if higher_is_better else -1.0
    if alternative == "less":
        better = -better
    slack = max(TOLERANCE * abs(observed), SLACK)
    if alternative == "two-sided":
        return np.asarray(np.abs(differences) >= abs(observed) - slack)
    return np.asarray(better * differences >= better * observed - slack)


def _all_swaps(first: Counts, second: Counts, differ: np.ndarray) -> tuple[Counts, Counts]:
    """Compute sums of two systems under all 2^m swaps; the first is without a swap."""
    changes = np.zeros(1, first.dtype)
    for difference in (first - second)[differ]:
        changes = np.concatenate([changes, changes + difference])
    return first.sum() - changes, second.sum() + changes


def grid_cost(pair: Pair, log_p: float) -> float:
    """Estimate the additions that the dynamic programme needs, about, where the logarithm of p is about `log_p`."""
    us, vs, _ = reduced(pair)
    reach_u, reach_v = _reaches(us, vs, log_p)
    width = min(float(np.abs(us).sum()) + 1, 2 * reach_u + 1)
    height = min(float(vs.sum()) + 1, 2 * reach_v + 1)
    if (float(np.abs(us).sum()) + 1) * (float(vs.sum()) + 1) > MOST_CELLS:
        return math.inf
    return 0.6 * len(us) * width * height


def grid_p(pair: Pair, alternative: str, log_p: float) -> tuple[float, float]:
    """Return the exact p and its logarithm by the two-dimensional dynamic programme.

    Args:
        pair: no zero denominator may be possible in it.
        alternative: two-sided, greater, less.
        log_p: about the logarithm of p; only the time depends on it.
    """
    us, vs, terms = reduced(pair)
    direction = -pair.direction if alternative == "less" else pair.direction
    two_sided = alternative == "two-sided"
    observed = pair.observed if alternative != "less" else -pair.observed
    limit = abs(observed) if two_sided else observed
    limit -= TOLERANCE * abs(limit)
    low = int(np.minimum(us, 0).sum())
    while True:
        reach_u, reach_v = _reaches(us, vs, log_p)
        cells = np.zeros((int(vs.sum()) + 1, int(np.abs(us).sum()) + 1))
        exponent, window = subset_grid(us, vs, low, cells, reach_u, reach_v)
        mass = extreme_mass(cells, window, terms, limit, direction, two_sided)
        found_log_p = math.log(mass) + (exponent - len(us)) * LN2 if mass > 0 else -math.inf
        if found_log_p >= log_p - _LEEWAY or log_p < -_FAR:
            return min(1.0, math.ldexp(mass, exponent - len(us))), min(0.0, found_log_p)
        log_p = found_log_p if math.isfinite(found_log_p) else 3.0 * log_p - 10.0


def normal_log_p(pair: Pair) -> float:
    """Return the logarithm of the two-sided p under a normal law with the swaps' variance, a first estimate."""
    slope = pair.total / pair.size
    effects = pair.us - slope * pair.vs
    variance = float(effects @ effects)
    if variance == 0:
        return 0.0
    return min(0.0, LN2 + float(log_ndtr(-abs(float(effects.sum())) / math.sqrt(variance))))


def _reaches(us: IntArray, vs: IntArray, log_p: float) -> tuple[float, float]:
    # Hoeffding and Levy: the chance ever to leave the window is below 8 exp(-z^2 / 2) <= _NEGLECT * p
    z = math.sqrt(2.0 * (math.log(8.0 / _NEGLECT) - log_p + _LEEWAY))
    return tuple(0.5 * z * math.sqrt(float(values.astype(np.float64) @ values)) + 1.0 for values in (us, vs))  # type: ignore[return-value]


class Reduced(NamedTuple):
    """Units of a pair on the smallest grid, small ones first, no v negative, int64 (m,); and the grid's terms."""

    us: IntArray
    vs: IntArray
    terms: GridTerms


def reduced(pair: Pair) -> Reduced:
    """Turn units so that no v is negative, and divide them by their common divisors."""
    flip = (pair.vs < 0) | ((pair.vs == 0) & (pair.us < 0))
    signs = np.where(flip, -1, 1)
    by_u = max(1, int(np.gcd.reduce(np.abs(pair.us)))) if len(pair.us) else 1
    by_v = max(1, int(np.gcd.reduce(np.abs(pair.vs)))) if len(pair.vs) else 1
    us = pair.us * signs // by_u
    vs = pair.vs * signs // by_v
    order = np.argsort(np.abs(us) + vs, kind="stable")
    terms = GridTerms(
        total=float(pair.total),
        size=float(pair.size),
        first_u=float(by_u * (int(us.sum()) - 2 * int(np.minimum(us, 0).sum()))),
        first_v=float(by_v * int(vs.sum())),
        step_u=2.0 * by_u,
        step_v=2.0 * by_v,
    )
    return Reduced(us[order], vs[order], terms)
