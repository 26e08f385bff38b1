"""Compiled inner loops of the permutation tests and the bootstrap, and the threads that share them.

Each releases the interpreter's lock, so that threads may share the work; none starts threads of its own, since a
compiled thread pool does not survive the fork of a job worker. Results depend only on the arguments. Units that are
drawn with replacement are summed without weights, from the streams of `draw_weights`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import Bits, FloatArray, IntArray, ones_in
from treescore.core.jit import compiled, inlined, interpreted, plainly, weighing
from treescore.significance.exact_sums import HIGH, SHIFT

LANES = 4
"""Columns that one word holds side by side, 16 bits each: numerators and denominators of a pair with one ratio."""
LANE_BITS = 16
LANE_MOST = 2**LANE_BITS - 1


@inlined
def scrambled(state: np.uint64) -> np.uint64:
    """Return the 64 bits of one state of splitmix64 (Steele, Lea & Flood 2014)."""
    word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def _lanes_of_all(states: Bits, packed: Bits, starts: IntArray, at_once: int, sums: FloatArray) -> None:
    """Do as `lane_sums`, all resamples of a part at a time."""
    for part in range(len(states)):
        interpreted(_add_drawn)(states[part], packed[starts[part] : starts[part + 1]], at_once, sums[part].T)


@compiled
@plainly(_lanes_of_all)
def lane_sums(states: Bits, packed: Bits, starts: IntArray, at_once: int, sums: FloatArray) -> None:
    """Add up the lanes of as many units of each part as it has, drawn with replacement.

    Each resample of a part draws from its own stream, two units from each 64 bits, as `kernels.draw_weights` does. A
    draw then costs two fifths of a weight and its product.

    Args:
        states: uint64 (parts, resamples), a seed for each.
        packed: uint64 (units,), the columns of a unit in lanes of 16 bits; units of a part side by side.
        starts: the first unit of each part, and the end, int64 (parts + 1,).
        at_once: words of a stream after which the lanes are emptied: so many units of the largest value fit in a lane.
        sums: float64 (parts, resamples, LANES), zeros; filled.
    """
    for part in range(len(states)):
        of_part = packed[starts[part] : starts[part + 1]]
        for row in range(states.shape[1]):
            _add_drawn(states[part, row], of_part, at_once, sums[part, row])


@inlined
def _add_drawn(seed: np.uint64, packed: Bits, at_once: int, sums: FloatArray) -> None:
    """Add the lanes of the units of one stream."""
    units = np.uint64(len(packed))
    step = np.uint64(0x9E3779B97F4A7C15)
    words = len(packed) // 2
    for start in range(0, words, at_once):
        high, low = np.uint64(0), np.uint64(0)
        for number in range(start + 1, min(start + at_once, words) + 1):
            word = scrambled(seed + np.uint64(number) * step)
            high += packed[((word >> np.uint64(32)) * units) >> np.uint64(32)]
            low += packed[((word & np.uint64(0xFFFFFFFF)) * units) >> np.uint64(32)]
        for lane in range(LANES):
            shift = np.uint64(LANE_BITS * lane)
            sums[lane] += ((high >> shift) & np.uint64(LANE_MOST)) + ((low >> shift) & np.uint64(LANE_MOST))
    if len(packed) % 2:
        word = scrambled(seed + np.uint64(words + 1) * step)
        last = packed[((word >> np.uint64(32)) * units) >> np.uint64(32)]
        for lane in range(LANES):
            sums[lane] += (last >> np.uint64(LANE_BITS * lane)) & np.uint64(LANE_MOST)


_TABLE_NUMBERS = 60_000
"""Numbers of a table of sums (480 KB): it stays in a processor's second cache."""


class PairTerms(NamedTuple):
    """Terms of pairs of systems with one ratio, one value a pair.

    Attributes:
        totals, sizes: sums of both systems' numerators and denominators, float64.
        us, vs: their observed differences, float64.
        firsts, seconds: the two systems, int64.
    """

    totals: FloatArray
    sizes: FloatArray
    us: FloatArray
    vs: FloatArray
    firsts: IntArray
    seconds: IntArray


class Window(NamedTuple):
    """The rows and columns of a grid that are in use, half-open."""

    top: int
    bottom: int
    left: int
    right: int


class GridTerms(NamedTuple):
    """What the cells of a grid of subset sums mean.

    Attributes:
        total, size: sums of both systems' numerators and denominators.
        first_u, first_v: differences of numerators and denominators in the first cell.
        step_u, step_v: how much a column lowers the first, and a row the second.
    """

    total: float
    size: float
    first_u: float
    first_v: float
    step_u: float
    step_v: float


def _swapped_sums(signs: Bits, planes: Bits, columns: IntArray, weights: IntArray, out: FloatArray) -> None:
    """Do what `swapped_sums` does, a plane at a time."""
    for plane, column, weight in zip(planes, columns, weights, strict=True):
        out[column] += np.bitwise_count(signs & plane).sum(axis=1, dtype=np.int64) * weight


@compiled
@plainly(_swapped_sums)
def swapped_sums(signs: Bits, planes: Bits, columns: IntArray, weights: IntArray, out: FloatArray) -> None:
    """Compute sums of integer columns over the units that each shuffle swaps.

    Args:
        signs: uint64 (shuffles, words), a bit for each unit.
        planes: uint64 (planes, words), the bits of the columns' values.
        columns: int64 (planes,), the column of each plane.
        weights: int64 (planes,), the power of two it stands for.
        out: float64 (columns, shuffles), zeros; filled with whole numbers.
    """
    for row in range(signs.shape[0]):
        for plane in range(planes.shape[0]):
            total = np.uint64(0)
            for word in range(signs.shape[1]):
                total += ones_in(signs[row, word] & planes[plane, word])
            out[columns[plane], row] += float(np.int64(total) * weights[plane])


@compiled
@weighing(10)
def swapped_real_sums(signs: Bits, values: FloatArray, out: FloatArray) -> None:
    """Compute sums of real columns over the units that each shuffle swaps, always added in the same order.

    Eight units at a time: all 256 sums of them are made once, and each shuffle looks its own up.

    Args:
        signs: uint64 (shuffles, words), a bit for each unit.
        values: float64 (64 * words, columns).
        out: float64 (columns, shuffles), zeros; filled.
    """
    columns = values.shape[1]
    groups = values.shape[0] // 8
    block_groups = max(1, min(groups, _TABLE_NUMBERS // (256 * max(1, columns))))
    table = np.zeros((block_groups, 256, columns))
    sums = np.empty(columns)
    for start in range(0, groups, block_groups):
        count = min(block_groups, groups - start)
        for group in range(count):
            for bit in range(8):
                # subsets with `bit` as their last unit: those without it, and it
                unit = (start + group) * 8 + bit
                for mask in range(1 << bit):
                    for column in range(columns):
                        table[group, mask + (1 << bit), column] = table[group, mask, column] + values[unit, column]
        for row in range(signs.shape[0]):
            sums[:] = 0.0
            for group in range(count):
                byte = start + group
                subset = np.int64((signs[row, byte >> 3] >> np.uint64(8 * (byte & 7))) & np.uint64(255))
                for column in range(columns):
                    sums[column] += table[group, subset, column]
            for column in range(columns):
                out[column, row] += sums[column]


@compiled
def count_extreme(
    tops: FloatArray,
    bottoms: FloatArray,
    pairs: PairTerms,
    limits: FloatArray,
    slacks: FloatArray,
    direction: float,
    two_sided: bool,  # noqa: FBT001 - a compiled function is called by position
    hits: IntArray,
) -> None:
    """Count shuffles at least as extreme as the observed difference, where no denominator can become 0.

    With U and V the differences of numerators and denominators after the swap and s and t their sums, which no swap
    changes, the difference of the two ratios is 2 (U t - s V) / (t t - V V): integers until the last step.

    Args:
        tops: (systems, shuffles), the numerators' sums over the units swapped.
        bottoms: the denominators' sums.
        pairs: s, t, U and V as observed, and the systems of each pair.
        limits: (pairs,), the observed difference less its tolerance.
        slacks: (pairs,), an absolute tolerance where sums are real.
        direction: 1.0, or -1.0 where a lower ratio is the better one.
        two_sided: count both tails.
        hits: int64 (pairs,), added to.
    """
    for pair in range(len(pairs.totals)):
        total, size, du, dv = pairs.totals[pair], pairs.sizes[pair], pairs.us[pair], pairs.vs[pair]
        first, second = pairs.firsts[pair], pairs.seconds[pair]
        limit, slack = limits[pair] * 0.5, slacks[pair]
        squared = size * size
        count = 0
        for row in range(tops.shape[1]):
            u = du - 2.0 * (tops[first, row] - tops[second, row])
            v = dv - 2.0 * (bottoms[first, row] - bottoms[second, row])
            value = (u * size - total * v) * direction
            if two_sided:
                value = abs(value)
            count += value >= limit * (squared - v * v) - slack
        hits[pair] += count


@compiled
def mean_ratios(
    sums: FloatArray,
    top: int,
    bottom: int,
    system: FloatArray,
    sign: float,
    one_minus: bool,  # noqa: FBT001 - a compiled function is called by position
    worst: float,
) -> FloatArray:
    """Return the mean over parts of one ratio of one system, after each shuffle: float64 (shuffles,).

    Args:
        sums: (parts, columns, shuffles), sums over the units swapped, first system less second already taken.
        top: the column of the ratio's numerator in `sums`.
        bottom: the column of its denominator.
        system: float64 (2, parts), numerators and denominators as observed.
        sign: -1.0 for the first system of a pair, which loses what the second gains.
        one_minus: the score is one minus the ratio.
        worst: the value of an undefined part; NaN where the score's range has no worst value. Where all parts
            are undefined, the mean is NaN.
    """
    parts, _, shuffles = sums.shape
    means = np.zeros(shuffles)
    defined = np.zeros(shuffles, np.int64)
    for part in range(parts):
        total, size = system[0, part], system[1, part]
        for row in range(shuffles):
            divisor = size + sign * sums[part, bottom, row]
            value = worst
            if divisor != 0.0:
                value = (total + sign * sums[part, top, row]) / divisor
                if one_minus:
                    value = 1.0 - value
                defined[row] += 1
            means[row] += value
    for row in range(shuffles):
        means[row] = means[row] / parts if defined[row] else np.nan
    return means


def _weights_of_all(states: Bits, weights: FloatArray | NDArray[np.float32]) -> None:
    """Do as `draw_weights`, one word of all rows after the other."""
    units, words = np.uint64(weights.shape[1]), (weights.shape[1] + 1) // 2
    rows = np.arange(len(states))
    scramble: Callable[[Any], Any] = interpreted(scrambled)
    for number in range(words):
        word = scramble(states + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15))
        weights[rows, ((word >> np.uint64(32)) * units) >> np.uint64(32)] += 1
        if words + number < weights.shape[1]:
            weights[rows, ((word & np.uint64(0xFFFFFFFF)) * units) >> np.uint64(32)] += 1


@compiled
@weighing(0.1)
@plainly(_weights_of_all)
def draw_weights(states: Bits, weights: FloatArray | NDArray[np.float32]) -> None:
    """Count how often each unit is drawn, drawing as many units as there are, with replacement.

    Each row draws from its own splitmix64 stream (Steele, Lea & Flood 2014), two units from each 64 bits.

    Args:
        states: uint64 (resamples,), a seed for each row.
        weights: float (resamples, units), zeros; filled.
    """
    units = np.uint64(weights.shape[1])
    words = (weights.shape[1] + 1) // 2
    # a loop that makes numbers and one that counts them take half the time of one that does both: the first is vectors
    drawn = np.empty(2 * words, np.uint32)
    for row in range(len(states)):
        for number in range(words):
            word = scrambled(states[row] + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15))
            drawn[number] = ((word >> np.uint64(32)) * units) >> np.uint64(32)
            drawn[words + number] = ((word & np.uint64(0xFFFFFFFF)) * units) >> np.uint64(32)
        # of an odd number of units the second half of the last word is left
        for draw in range(weights.shape[1]):
            weights[row, np.uint64(drawn[draw])] += 1


@compiled
@weighing(0.2)
def subset_grid(
    us: IntArray, vs: IntArray, low_u: int, cells: FloatArray, reach_u: float, reach_v: float
) -> tuple[int, Window]:
    """Count the subsets of units with each pair of sums, by a dynamic programme of positive terms.

    Args:
        us: int64 (m,), any sign.
        vs: int64 (m,), not negative; where it is 0 the unit's u is positive.
        low_u: the sum of the negative us: column j of the grid is the sum low_u + j.
        cells: float64 (sum of vs + 1, sum of abs(us) + 1), zeros; filled.
        reach_u: sums further than this from the mean of the units so far are dropped.
        reach_v: likewise for v.

    Returns:
        The power of two to multiply the cells by, and the cells in use.
    """
    exponent, steps = 0, 0
    mean_u, mean_v = 0.0, 0.0
    # the first sums in use, inclusive bounds
    left = right = -low_u
    top = bottom = 0
    cells[0, -low_u] = 1.0
    row_copy = np.empty(cells.shape[1])
    for unit in range(len(us)):
        u, v = us[unit], vs[unit]
        mean_u += 0.5 * u
        mean_v += 0.5 * v
        new_left = max(left + min(u, 0), int(np.floor(mean_u - reach_u)) - low_u)
        new_right = min(right + max(u, 0), int(np.ceil(mean_u + reach_u)) - low_u)
        new_top = max(top, int(np.floor(mean_v - reach_v)))
        new_bottom = min(bottom + v, int(np.ceil(mean_v + reach_v)))
        # where the shifted old sums fall inside the new bounds
        start = max(new_left, left + u)
        stop = min(new_right, right + u) + 1
        for row in range(new_bottom, max(new_top, top + v) - 1, -1):
            source = row - v
            if v == 0:
                row_copy[left : right + 1] = cells[source, left : right + 1]
                cells[row, start:stop] += row_copy[start - u : stop - u]
            else:
                cells[row, start:stop] += cells[source, start - u : stop - u]
        # a later unit may shift sums back over the columns that are dropped here
        cells[top : new_bottom + 1, max(0, left + min(u, 0)) : new_left] = 0.0
        cells[top : new_bottom + 1, new_right + 1 : right + max(u, 0) + 1] = 0.0
        left, right, top, bottom = new_left, new_right, new_top, new_bottom
        steps += 1
        if steps == SHIFT:
            steps = 0
            if cells[top : bottom + 1, left : right + 1].max() > HIGH:
                cells[top : bottom + 1, left : right + 1] *= 2.0**-SHIFT
                exponent += SHIFT
    return exponent, Window(top, bottom + 1, left, right + 1)


@compiled
def extreme_mass(
    cells: FloatArray,
    window: Window,
    terms: GridTerms,
    limit: float,
    direction: float,
    two_sided: bool,  # noqa: FBT001 - a compiled function is called by position
) -> float:
    """Sum the cells of a grid of subset sums that are at least as extreme as the observed difference.

    Args:
        cells: as `subset_grid` fills them.
        window: the cells in use.
        terms: s, t, U = first_u - step_u * column and V = first_v - step_v * row of `count_extreme`.
        limit: the observed difference less its tolerance.
        direction: 1.0, or -1.0 where a lower ratio is better.
        two_sided: count both tails.
    """
    total, size = terms.total, terms.size
    squared = size * size
    mass = 0.0
    for row in range(window.top, window.bottom):
        v = terms.first_v - terms.step_v * row
        bound = 0.5 * limit * (squared - v * v)
        for column in range(window.left, window.right):
            cell = cells[row, column]
            value = ((terms.first_u - terms.step_u * column) * size - total * v) * direction
            if two_sided:
                value = abs(value)
            if value >= bound:
                mass += cell
    return mass


THREADS = 2
"""Threads of one comparison: more would take cores from the other workers of a machine."""
_PIECES = 64
"""Pieces into which the items are cut: a piece a pair would cost 0.1 ms for thousands of short ones."""

_T = TypeVar("_T")
_R = TypeVar("_R")


def in_threads(function: Callable[[_T], _R], items: Sequence[_T], threads: int) -> list[_R]:
    """Return the function's results in the order of the items, the same for any number of threads."""
    if len(items) < 2 or threads < 2:
        return [function(item) for item in items]
    step = -(-len(items) // _PIECES)
    pieces = [items[start : start + step] for start in range(0, len(items), step)]
    with ThreadPoolExecutor(threads) as pool:
        found = pool.map(lambda piece: [function(item) for item in piece], pieces)
        return [result for results in found for result in results]
