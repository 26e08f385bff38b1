"""The exact law of a ratio's difference by inverting a tilted characteristic function in two dimensions.

As in `linear`, an exponential tilt moves the mean to where the observed difference begins, so that the transform's
rounding is relative to the tail that is sought. In each row of equal denominators the swaps that count are those
with a numerator up to a bound, a geometric sum of the transform; no table of the plane itself is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.significance.constants import LN2
from treescore.significance.plane_kernels import NOTHING, Shape, Tilt, factor_tables, region_sum, significant_points

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
    mass, magnitude = region_sum(points[:count], us, vs, sizes, turns, shape, tops, rows, extent.low, tilt)
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
