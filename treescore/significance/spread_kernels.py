"""Compiled inner loop over the units of a pair: sums of squares, without an array for each pair."""

from __future__ import annotations

from treescore.core.arrays import BoolArray, FloatArray, IntArray
from treescore.core.jit import compiled


@compiled
def difference_squares(
    z: FloatArray, counted: BoolArray, strata: IntArray, pair: IntArray, squares: FloatArray, sizes: FloatArray
) -> None:
    """Sum (z_A,i - z_B,i)² of one pair by part, and count the units that hold anything of either system.

    Args:
        z: linear terms of all systems, (N, n).
        counted: whether a unit holds anything of a system, (N, n).
        strata: part of each unit, (n,).
        pair: the two systems, (2,).
        squares: (P,), zeros; filled with the sums.
        sizes: (P,), zeros; filled with the numbers of units.
    """
    first, second = pair
    for unit in range(z.shape[1]):
        part = strata[unit]
        squares[part] += (z[first, unit] - z[second, unit]) ** 2
        if counted[first, unit] or counted[second, unit]:
            sizes[part] += 1.0
