"""Compiled loops over the units of pairs: their contributions, and sums of squares without an array for each pair."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray
from treescore.core.jit import compiled, inlined


@inlined
def _unit(m_a: float, m_b: float, n_a: float, n_b: float, slope: float, scale: float) -> tuple[float, float]:
    """Return e_i = 2 (u_i - (M/N) v_i) / (N P) and w_i = (n_A + n_B) / (N P) of a unit: slope is M/N, scale N P."""
    return 2.0 * (float(m_a - m_b) - slope * float(n_a - n_b)) / scale, float(n_a + n_b) / scale


@compiled
def contributed(
    tops: tuple[Counts, Counts], bottoms: tuple[Counts, Counts], strata: IntArray, parts: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute e_i = 2 (u_i - (M/N) v_i) / (N P) and w_i = (n_A + n_B)_i / (N P) of each unit.

    Args:
        tops: numerators (n,) of the first and the second system.
        bottoms: denominators likewise.
        strata: part of each unit, int64 (n,).
        parts: P, 1 where there are no parts.

    Returns:
        e (n,) of the ratio, w (n,), and the sums (4, P) of both systems' numerators, then of their denominators.
    """
    units = len(strata)
    e, w, sums = np.zeros(units), np.zeros(units), np.zeros((4, parts))
    for i in range(units):
        part = strata[i]
        sums[0, part] += tops[0][i]
        sums[1, part] += tops[1][i]
        sums[2, part] += bottoms[0][i]
        sums[3, part] += bottoms[1][i]
    for i in range(units):
        total, size = sums[0, strata[i]] + sums[1, strata[i]], sums[2, strata[i]] + sums[3, strata[i]]
        if size != 0.0:
            e[i], w[i] = _unit(tops[0][i], tops[1][i], bottoms[0][i], bottoms[1][i], total / size, size * parts)
    return e, w, sums


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
    slopes, scales = np.zeros(parts), np.full(parts, np.inf)
    for part in range(parts):
        size = part_bottoms[first, part] + part_bottoms[second, part]
        if size != 0:
            slopes[part] = (part_tops[first, part] + part_tops[second, part]) / size
            scales[part] = size * parts
    residuals, contributions, shares = 0.0, 0.0, 0.0
    for unit in range(tops.shape[1]):
        part = strata[unit]
        m_a, m_b, n_a, n_b = tops[first, unit], tops[second, unit], bottoms[first, unit], bottoms[second, unit]
        e, w = _unit(m_a, m_b, n_a, n_b, slopes[part], scales[part])
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
