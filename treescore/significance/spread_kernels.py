"""Compiled inner loops over the units of pairs: sums of squares, without an array for each pair."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray
from treescore.core.jit import compiled


@compiled
def contribution_squares(
    tops: Counts,
    bottoms: Counts,
    strata: IntArray,
    part_tops: FloatArray,
    part_bottoms: FloatArray,
    pair: IntArray,
    difference: float,
) -> tuple[float, float, float]:
    """Compute Σ(e_i - D w_i)², Σ e_i² and Σ w_i² of one pair (`contributions.py`), up to the sign of one minus a ratio.

    Args:
        tops: m of all systems, (N, n).
        bottoms: n of them, (N, n).
        strata: part of each unit, (n,).
        part_tops: sums of m by part, float64 (N, P).
        part_bottoms: sums of n, likewise.
        pair: the two systems, (2,).
        difference: D, with the sign of the ratio.
    """
    first, second = pair
    parts = part_tops.shape[1]
    slopes, scales = np.zeros(parts), np.zeros(parts)
    for part in range(parts):
        size = part_bottoms[first, part] + part_bottoms[second, part]
        if size != 0:
            slopes[part] = (part_tops[first, part] + part_tops[second, part]) / size
            scales[part] = 1.0 / (size * parts)
    residuals, contributions, shares = 0.0, 0.0, 0.0
    for unit in range(tops.shape[1]):
        slope, scale = slopes[strata[unit]], scales[strata[unit]]
        u = float(tops[first, unit] - tops[second, unit])
        v = float(bottoms[first, unit] - bottoms[second, unit])
        e = 2.0 * (u - slope * v) * scale
        w = float(bottoms[first, unit] + bottoms[second, unit]) * scale
        residuals += (e - difference * w) ** 2
        contributions += e * e
        shares += w * w
    return residuals, contributions, shares


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
