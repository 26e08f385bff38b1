"""Compiled loops of the two-dimensional transform behind exact laws of ratios."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.core.jit import compiled, interpreted, plainly, weighing

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
