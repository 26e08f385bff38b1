"""Compiled sums over units that are drawn with replacement: the streams of `kernels.draw_weights`, without weights."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import Bits, FloatArray, IntArray
from treescore.core.jit import compiled, inlined, interpreted, plainly

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
