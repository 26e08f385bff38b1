"""The exact paired permutation test of a ratio of sums (F1, precision, AER), and of anything over few units.

Sums of both systems do not change under swaps, so the law of a ratio's difference is that of two numbers: the
differences of numerators and of denominators. Up to 16 differing units all swaps are listed; beyond, a dynamic
programme over the two sums counts them, by additions of positive numbers only, so that small p keep their relative
precision, or a faster transform is inverted; the costs of both decide.

The transform is a tilted characteristic function in two dimensions. As in `exact_sums`, an exponential tilt moves the
mean to where the observed difference begins, so that the transform's rounding is relative to the tail that is sought.
In each row of equal denominators the swaps that count are those with a numerator up to a bound, a geometric sum of the
transform; no table of the plane itself is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.special import log_ndtr

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.jit import compiled, interpreted, plainly, weighing
from treescore.significance.kernels import GridTerms, extreme_mass, subset_grid
from treescore.significance.settings import LN2, SLACK, TOLERANCE
from treescore.significance.units import Sample

NOTHING = -46.0
"""A characteristic function whose logarithm is below this adds less than a double can hold."""

_WIDE, _TALL = 16, 4
"""Points of a block that is tested as a whole before its points are."""
_ROUNDING = 1e-6
"""Far above the rounding error of a sum of logarithms around NOTHING."""


class Shape(NamedTuple):
    """Points of a transform in the first and the second direction."""

    width: int
    height: int


class Tilt(NamedTuple):
    """An exponential tilt of a law in two dimensions.

    Attributes:
        x, y: the tilt in both directions.
        mean_x, mean_y: the tilted means, at which the weight back is 1.
    """

    x: float
    y: float
    mean_x: float
    mean_y: float


class Region(NamedTuple):
    """The points whose mass is summed: in each row those from `low` to its top.

    Attributes:
        cosines, sines: of all multiples of 2 pi / size, float64 (size,).
        weights_after: the tilt's weight just after the top of each row, float64 (rows,).
        weights_before: its weight at `low` in each row, float64 (rows,).
        tops: the largest x that counts in each row, int64 (rows,); smaller than `low`: none.
        rows: the values of y, int64 (rows,).
        low: the smallest x with mass.
    """

    cosines: FloatArray
    sines: FloatArray
    weights_after: FloatArray
    weights_before: FloatArray
    tops: IntArray
    rows: IntArray
    low: int

    @classmethod
    def of(cls, tops: IntArray, rows: IntArray, low: int, size: int, tilt: Tilt) -> Region:
        """Return the region with what is to be looked up in it; `size` is that of the tables of factors."""
        angles = 2.0 * np.pi * np.arange(size) / size
        return cls(
            cosines=np.cos(angles),
            sines=np.sin(angles),
            weights_after=np.exp(tilt.x * (tops + 1 - tilt.mean_x) + tilt.y * (rows - tilt.mean_y)),
            weights_before=np.exp(tilt.x * (low - tilt.mean_x) + tilt.y * (rows - tilt.mean_y)),
            tops=tops,
            rows=rows,
            low=low,
        )


@compiled
def factor_tables(odds: FloatArray, copies: IntArray, size: int, sizes: FloatArray, turns: FloatArray) -> None:
    """Compute size and phase of each kind of unit's factor at all multiples of 2 pi / size.

    Args:
        odds: float64 (kinds,), the tilted odds of a unit to be in the subset.
        copies: int64 (kinds,).
        size: points of a turn.
        sizes: float64 (kinds, size), filled with logarithms.
        turns: float64 (kinds, size), filled with angles.
    """
    for kind in range(len(odds)):
        odd = odds[kind]
        share = 4.0 * odd / ((1.0 + odd) * (1.0 + odd))
        for point in range(size):
            half = np.sin(np.pi * point / size)
            inside = 1.0 - share * half * half
            sizes[kind, point] = 0.5 * copies[kind] * np.log(inside) if inside > 0.0 else -np.inf
            angle = 2.0 * np.pi * point / size
            turns[kind, point] = copies[kind] * np.arctan2(odd * np.sin(angle), 1.0 + odd * np.cos(angle))


@compiled
def significant_points(us: IntArray, vs: IntArray, sizes: FloatArray, width: int, height: int, points: IntArray) -> int:
    """Find the points of the half plane at which the characteristic function is above NOTHING.

    Args:
        us: int64 (kinds,), steps in the first direction, any sign; kinds with the most weight first.
        vs: int64 (kinds,), steps in the second.
        sizes: as `factor_tables` fills it.
        width: points in the first direction, a power of two, as `height` and the tables' size are.
        height: points in the second.
        points: int64 (most, 2), filled with points, those of one second coordinate together.

    Returns:
        How many there are, or -1 if they do not fit.
    """
    size = sizes.shape[1]
    mask = size - 1
    by_width, by_height = size // width, size // height
    may_matter = np.empty((width + _WIDE - 1) // _WIDE, np.bool_)
    count = 0
    for second in range(height // 2 + 1):
        if second % _TALL == 0:
            for block in range(len(may_matter)):
                start = block * _WIDE * by_width, second * by_height
                may_matter[block] = _may_matter(us, vs, sizes, start, (_WIDE * by_width, _TALL * by_height))
        for first in range(width):
            if not may_matter[first // _WIDE]:
                continue
            total = 0.0
            for kind in range(len(us)):
                total += sizes[kind, (first * us[kind] * by_width + second * vs[kind] * by_height) & mask]
                if total < NOTHING:
                    break
            if total >= NOTHING:
                if count == len(points):
                    return -1
                points[count, 0] = first
                points[count, 1] = second
                count += 1
    return count


@compiled
def _may_matter(us: IntArray, vs: IntArray, sizes: FloatArray, start: tuple[int, int], extent: tuple[int, int]) -> bool:
    """Tell whether a block of points may hold one that counts.

    A factor is the larger the nearer its angle is to a full turn, so that in each kind the block's nearest angle
    bounds it. Spans are taken one step too long, which only loosens the bound.
    """
    size = sizes.shape[1]
    total = 0.0
    for kind in range(len(us)):
        along = us[kind] * extent[0]
        begin = (us[kind] * start[0] + vs[kind] * start[1] + min(along, 0)) & (size - 1)
        end = begin + abs(along) + vs[kind] * extent[1]
        if begin == 0 or end >= size:
            continue
        total += sizes[kind, min(begin, size - end)]
        if total < NOTHING - _ROUNDING:
            return False
    return True


@compiled
def _amount(
    first: int, second: int, us: IntArray, vs: IntArray, sizes: FloatArray, turns: FloatArray, shape: Shape
) -> tuple[complex, float]:
    """Return the characteristic function at a point and its size, twice where the other half plane has another such."""
    size = sizes.shape[1]
    by_width, by_height = size // shape.width, size // shape.height
    log_size = 0.0
    phase = 0.0
    for kind in range(len(us)):
        point = (first * us[kind] * by_width + second * vs[kind] * by_height) & (size - 1)
        log_size += sizes[kind, point]
        phase += turns[kind, point]
    amount = np.exp(log_size) * (2.0 - (second == 0) - (2 * second == shape.height))
    return (np.cos(phase) + 1j * np.sin(phase)) * amount, amount


@compiled
def _whole_rows(amount: complex, _: int, second: int, region: Region, tilt: float) -> tuple[float, float]:
    """Sum what points with a first coordinate of 0 add, and magnitudes: the sum over x has no phase."""
    cosines, sines, weights_after, weights_before, tops, rows, low = region
    mask = len(cosines) - 1
    steep = np.exp(tilt) - 1.0
    real = 0.0
    magnitude = 0.0
    for row in range(len(rows)):
        if tops[row] < low:
            continue
        terms = tops[row] + 1 - low
        if tilt * terms > 1.0:
            inner = (weights_after[row] - weights_before[row]) / steep
        else:
            inner = weights_before[row] * (np.expm1(tilt * terms) / steep if steep > 0.0 else float(terms))
        turn = (second * rows[row]) & mask
        real += inner * (amount.real * cosines[turn] + amount.imag * sines[turn])
        magnitude += inner
    return real, magnitude


@compiled
def _turning_rows(amount: complex, first: int, second: int, region: Region, tilt: float) -> tuple[float, float]:
    """Sum what any other point adds, and magnitudes: in each row a geometric sum from low to tops."""
    cosines, sines, weights_after, weights_before, tops, rows, low = region
    mask = len(cosines) - 1
    ratio = np.exp(tilt) * (cosines[first & mask] - 1j * sines[first & mask]) - 1.0
    amount = amount / ratio
    real = 0.0
    magnitude = 0.0
    for row in range(len(rows)):
        if tops[row] < low:
            continue
        turn = (second * rows[row] + first * (tops[row] + 1)) & mask
        back = (second * rows[row] + first * low) & mask
        real += weights_after[row] * (amount.real * cosines[turn] + amount.imag * sines[turn])
        real -= weights_before[row] * (amount.real * cosines[back] + amount.imag * sines[back])
        magnitude += weights_after[row]
    return real, magnitude / np.hypot(ratio.real, ratio.imag)


def _sum_of_all(
    points: IntArray,
    us: IntArray,
    vs: IntArray,
    sizes: FloatArray,
    turns: FloatArray,
    shape: Shape,
    region: Region,
    tilt: float,
) -> tuple[float, float]:
    """Do as `region_sum`, all points at a time: the functions of one point take arrays of them as they are."""
    size = sizes.shape[1]
    added = np.empty((2, len(points)))
    whole = points[:, 0] == 0
    of_points: Any
    for chosen, of_points in ((whole, _whole_rows), (~whole, _turning_rows)):
        first, second = points[chosen].T
        amounts, weights = interpreted(cast("Any", _amount))(first, second, us, vs, sizes, turns, shape)
        steps, rises = first * (size // shape.width), second * (size // shape.height)
        real, magnitude = interpreted(of_points)(amounts, steps, rises, region, tilt)
        added[:, chosen] = real, magnitude * weights
    result, magnitude = np.cumsum(added, axis=1)[:, -1] / (float(shape.width) * float(shape.height))
    return result, magnitude


@compiled
@weighing(2)
@plainly(_sum_of_all)
def region_sum(
    points: IntArray,
    us: IntArray,
    vs: IntArray,
    sizes: FloatArray,
    turns: FloatArray,
    shape: Shape,
    region: Region,
    tilt: float,
) -> tuple[float, float]:
    """Return the tilted mass, weighted back, of the sums (x, y) of a region.

    Args:
        points: int64 (points, 2), as `significant_points` finds them.
        us: as there, like `vs`.
        vs: steps in the second direction.
        sizes: as `factor_tables` fills it, like `turns`.
        turns: the phases.
        shape: of the transform.
        region: the sums.
        tilt: of the mass in the first direction.

    Returns:
        The mass, and the sum of magnitudes added, whose rounding bounds its error.
    """
    size = sizes.shape[1]
    by_width, by_height = size // shape.width, size // shape.height
    result = 0.0
    magnitude = 0.0
    for index in range(len(points)):
        first, second = points[index, 0], points[index, 1]
        amount, weight = _amount(first, second, us, vs, sizes, turns, shape)
        if first == 0:
            real, point_magnitude = _whole_rows(amount, 0, second * by_height, region, tilt)
        else:
            real, point_magnitude = _turning_rows(amount, first * by_width, second * by_height, region, tilt)
        result += real
        magnitude += point_magnitude * weight
    points_of_plane = float(shape.width) * float(shape.height)
    return result / points_of_plane, magnitude / points_of_plane


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
class RatioPair:
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


def pair_of(sample: Sample, first: int, second: int) -> RatioPair:
    """Return the differences of two systems of a plain sample of integers."""
    top, bottom = sample.tops[0], sample.bottoms[0]
    us = top[first] - top[second]
    vs = bottom[first] - bottom[second]
    differ = (us != 0) | (vs != 0)
    least = int(np.minimum(bottom[first], bottom[second]).sum())
    return RatioPair(
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


def grid_cost(pair: RatioPair, log_p: float) -> float:
    """Estimate the additions that the dynamic programme needs, about, where the logarithm of p is about `log_p`."""
    us, vs, _ = reduced(pair)
    reach_u, reach_v = _reaches(us, vs, log_p)
    width = min(float(np.abs(us).sum()) + 1, 2 * reach_u + 1)
    height = min(float(vs.sum()) + 1, 2 * reach_v + 1)
    if (float(np.abs(us).sum()) + 1) * (float(vs.sum()) + 1) > MOST_CELLS:
        return math.inf
    return 0.6 * len(us) * width * height


def grid_p(pair: RatioPair, alternative: str, log_p: float) -> tuple[float, float]:
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


def normal_log_p(pair: RatioPair) -> float:
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


def reduced(pair: RatioPair) -> Reduced:
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


_PLANE_PRECISION = 5e-11
"""Relative error from rounding up to which a law counts as exact."""
_MOST_POINTS = 150_000
"""Points of the transform that are kept (2.4 MB)."""
_CHERNOFF = 47.0
"""Minus the logarithm of the mass left out on a side: exp(-47) = 4e-21."""
_MOST_TABLE = 4_000_000
"""Entries of each of the two tables of factors (32 MB each)."""
_MOST_PLANE = 1 << 26
"""Points of the whole transform: looking at each takes 4 nanoseconds or more, 0.3 s in all."""
LEAST_COST = 3e6
"""Nanoseconds (estimated) of the smallest transform."""
_STEEPEST = 300.0
"""The largest power of a tilt whose exponential does not overflow in products."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Subset sums x = sum of u and y = sum of v, and which x count in each row y.

    Attributes:
        us, vs, copies: kinds of units, int64 (kinds,); vs not negative.
        offset, slope, bend: in row y the x up to offset + slope * y + bend * y * y count.
    """

    us: IntArray
    vs: IntArray
    copies: IntArray
    offset: float
    slope: float
    bend: float

    def bound(self, y: FloatArray | float) -> FloatArray:
        """Return the largest x that counts at y, not rounded."""
        return np.asarray(self.offset + (self.slope + self.bend * y) * y, np.float64)

    def steepness(self, y: float) -> float:
        """Return the derivative of the bound."""
        return self.slope + 2.0 * self.bend * y


@dataclass(frozen=True, slots=True)
class _Extent:
    """Range of the mass (x from low to high, y from top to bottom), and the transform's shape."""

    low: int
    high: int
    top: int
    bottom: int
    width: int
    height: int


def plane_cost(plane: Plane) -> float:
    """Estimate the nanoseconds of the transform; infinite where it cannot be used."""
    return math.inf if _plane_tilt(plane) is None else transform_cost(plane)


def transform_cost(plane: Plane) -> float:
    """Estimate the nanoseconds of the transform; infinite where it is too large. It may need a tilt that is none."""
    extent = _extent(plane, np.zeros(len(plane.us)))
    size = max(extent.width, extent.height)
    if len(plane.us) * size > _MOST_TABLE or extent.width * extent.height > _MOST_PLANE:
        return math.inf
    tables = 40.0 * len(plane.us) * size
    # a factor of n copies is (1 / 2)^n in the middle: so many are looked at before a point is known to add nothing
    factors_tested = 1 + int(np.searchsorted(np.cumsum(np.sort(plane.copies)[::-1]) * LN2, -NOTHING))
    search = (2.0 + 2.0 * min(factors_tested, len(plane.us))) * extent.width * extent.height
    return LEAST_COST + tables + search + 1e4 * extent.height


def log_mass(plane: Plane) -> float | None:
    """Return the logarithm of P(x <= bound(y)) of a uniform random subset, for a bound in the lower tail.

    None where the error bound is not small enough.
    """
    tilt = _plane_tilt(plane)
    if tilt is None or math.isinf(transform_cost(plane)):
        return None
    extent = _extent(plane, tilt.x * plane.us + tilt.y * plane.vs)
    order = np.argsort(-plane.copies * np.minimum(np.abs(plane.us) + plane.vs, 3), kind="stable")
    us, vs, copies = plane.us[order], plane.vs[order], plane.copies[order]
    powers = tilt.x * us + tilt.y * vs
    size = max(extent.width, extent.height)
    if len(us) * size > _MOST_TABLE or extent.width * extent.height > _MOST_PLANE:
        return None
    sizes, turns = np.empty((len(us), size)), np.empty((len(us), size))
    factor_tables(np.exp(-powers), copies, size, sizes, turns)
    points = np.empty((_MOST_POINTS, 2), np.int64)
    count = significant_points(us, vs, sizes, extent.width, extent.height, points)
    if count < 0:
        return None
    rows = np.arange(extent.top, extent.bottom + 1)
    bounds = np.floor(plane.bound(rows.astype(np.float64)))
    tops = np.clip(bounds, extent.low - 1, extent.high).astype(np.int64)
    shape = Shape(extent.width, extent.height)
    region = Region.of(tops, rows, extent.low, size, tilt)
    mass, magnitude = region_sum(points[:count], us, vs, sizes, turns, shape, region, tilt.x)
    units = int(copies.sum())
    if not mass > 0 or magnitude * 1e-15 * (4 + math.sqrt(units)) + 1e-18 > _PLANE_PRECISION * mass:
        return None
    cumulant = float(np.log1p(np.exp(-powers)) @ copies) - units * LN2
    return min(0.0, math.log(mass) + cumulant + tilt.x * tilt.mean_x + tilt.y * tilt.mean_y)


def _extent(plane: Plane, powers: FloatArray) -> _Extent:
    """Find where the law tilted by `powers` has all but 1e-20 of its mass."""
    (low, high), (top, bottom) = (_reach(values, plane.copies, powers) for values in (plane.us, plane.vs))
    return _Extent(low, high, top, bottom, _power_of_two(high - low + 1), _power_of_two(bottom - top + 1))


def _reach(values: IntArray, copies: IntArray, powers: FloatArray) -> tuple[int, int]:
    """Return bounds of a sum beyond which lies less than 1e-20 (Chernoff), at most what the sum can be."""
    least, most = int(np.minimum(values, 0) @ copies), int(np.maximum(values, 0) @ copies)
    squares = float((values.astype(np.float64) ** 2) @ copies)
    if squares == 0:
        return least, most
    # log E exp(l X) under the tilt; each l bounds the tail, the best of some is taken
    steps = np.geomspace(0.3, 300.0, 28) / math.sqrt(squares)
    bounds = []
    for sign in (-1.0, 1.0):
        shifted = np.clip(powers - sign * steps[:, None] * values, -700.0, 700.0)
        log_means = (np.log1p(np.exp(-shifted)) - np.log1p(np.exp(-powers))) @ copies
        bounds.append(sign * float(((log_means + _CHERNOFF) / steps).min()))
    return max(least, math.floor(bounds[0])), min(most, math.ceil(bounds[1]))


def _power_of_two(least: int) -> int:
    return 1 << max(1, (least - 1).bit_length())


class _Moments(NamedTuple):
    """A tilt, and how far the tilted mean of x stands above the bound."""

    tilt: Tilt
    excess: float


def _plane_tilt(plane: Plane) -> Tilt | None:
    """Find the tilt at right angles to the bound that brings the mean onto it; None: there is none, or too steep."""
    low, high = 0.0, 1e-3
    for _ in range(40):
        if _plane_moments(plane, high).excess <= 0:
            break
        low, high = high, 2.0 * high
    else:
        return None
    best = _plane_moments(plane, high)
    for _ in range(50):
        if abs(best.excess) < 0.25:
            break
        middle = 0.5 * (low + high)
        best = _plane_moments(plane, middle)
        if best.excess > 0:
            low = middle
        else:
            high = middle
    # where one system is better in every unit, or nearly, the exponential of the tilt overflows
    if np.abs(best.tilt.x * plane.us + best.tilt.y * plane.vs).max() > _STEEPEST:
        return None
    return best.tilt


def _plane_moments(plane: Plane, theta: float) -> _Moments:
    """Return the tilt of power `theta` at right angles to the bound, and where it moves the mean."""
    mean_y = 0.5 * float(plane.vs @ plane.copies)
    for _ in range(2):  # the bound is nearly straight: its steepness at the tilted mean settles at once
        theta_y = -theta * plane.steepness(mean_y)
        powers = np.clip(theta * plane.us + theta_y * plane.vs, -700.0, 700.0)
        shares = plane.copies / (1.0 + np.exp(powers))
        mean_y = float(plane.vs @ shares)
    mean_x = float(plane.us @ shares)
    return _Moments(Tilt(theta, theta_y, mean_x, mean_y), mean_x - float(plane.bound(mean_y)))


ALWAYS_ADDITIONS = 2e6
"""Additions up to which the dynamic programme is always run."""
GRID_ADDITIONS = 3e9
"""Additions of the longest dynamic programme that is run where the transform is not precise enough."""


def law_cost(pair: RatioPair, most: float = math.inf) -> float:
    """Estimate the nanoseconds that `law_p` needs, roughly where more than `most`; infinite where it gives no p."""
    if pair.zero_possible or not len(pair.us) or _beyond_integers(pair):
        return math.inf
    grid = grid_cost(pair, normal_log_p(pair))
    if grid <= ALWAYS_ADDITIONS or most < LEAST_COST:
        return grid
    return min(grid, plane_cost(plane_of(pair, abs(pair.observed), strict=False)))


def law_p(pair: RatioPair, alternative: str) -> tuple[float, float] | None:
    """Return the exact p and its logarithm, or None if that takes too long."""
    if _beyond_integers(pair):
        return None
    log_p = normal_log_p(pair)
    cost = grid_cost(pair, log_p)
    if cost > ALWAYS_ADDITIONS:
        result = _by_plane(pair, alternative)
        if result is not None:
            return result
    return grid_p(pair, alternative, log_p) if cost <= GRID_ADDITIONS else None


def _beyond_integers(pair: RatioPair) -> bool:
    """Tell whether products of the differences exceed 64 bits."""
    return float(np.abs(pair.us).max(initial=0)) * (float(np.abs(pair.vs).max(initial=0)) + 1) > 2.0**61


def _by_plane(pair: RatioPair, alternative: str) -> tuple[float, float] | None:
    observed = -pair.observed if alternative == "less" else pair.observed
    if alternative == "two-sided" and observed == 0:
        return 1.0, 0.0
    if alternative == "two-sided" or observed > 0:
        log_p = log_mass(plane_of(pair, abs(observed), strict=False))
        if log_p is None:
            return None
        log_p = min(0.0, log_p + (LN2 if alternative == "two-sided" else 0.0))
        return math.exp(log_p), log_p
    # the law is symmetric: P(T >= o) = 1 - P(T > -o) for o <= 0
    log_rest = log_mass(plane_of(pair, -observed, strict=True))
    return None if log_rest is None else (-math.expm1(log_rest), math.log(-math.expm1(log_rest)))


def plane_of(pair: RatioPair, limit: float, *, strict: bool) -> Plane:
    """Express the swaps with a difference of at least `limit` (more, if strict) as a bound in each row.

    Args:
        pair: with differences turned so that better is positive.
        limit: not negative.
        strict: ties do not count.
    """
    us, vs, _ = reduced(pair)
    sign = 1.0 if pair.direction > 0 else -1.0
    if sign < 0:
        us = -us
    wide = int(vs.max()) + 1
    kinds, copies = np.unique(us * wide + vs, return_counts=True)
    by_u = max(1, int(np.gcd.reduce(np.abs(pair.us))))
    by_v = max(1, int(np.gcd.reduce(np.abs(pair.vs))))
    # with U = u0 - 2 by_u x and V = v0 - 2 by_v y, what counts is U t - s V >= limit (t t - V V) / 2
    limit += TOLERANCE * limit if strict else -TOLERANCE * limit
    size, total = float(pair.size), sign * pair.total
    u0, v0 = float(by_u * int(us.sum())), float(by_v * int(vs.sum()))
    half = 0.25 if strict and limit == 0 else 0.0  # whole numbers: more than 0 is at least 1
    at_zero = half + 0.5 * limit * (size * size - v0 * v0) + total * v0
    scale = 1.0 / (2.0 * by_u * size)
    return Plane(
        us=kinds // wide,
        vs=kinds % wide,
        copies=copies.astype(np.int64),
        offset=scale * (u0 * size - at_zero),
        slope=-scale * (2.0 * by_v) * (limit * v0 - total),
        bend=scale * 2.0 * limit * by_v * by_v,
    )
