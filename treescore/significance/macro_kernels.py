"""Compiled loops over the units of one pair of a macro average: their kinds, and the bend of the ratios."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import Counts, FloatArray, Int32Array, IntArray
from treescore.core.jit import compiled, inlined
from treescore.significance.tail_kernels import VANISHING, Kinds


@compiled
def pair_kinds(
    tops: tuple[Counts, Counts],
    bottoms: tuple[Counts, Counts],
    starts: IntArray,
    whole: FloatArray,
    kept: FloatArray,
) -> tuple[Kinds, FloatArray, FloatArray]:
    """Group the differing units of two systems by (part, +-(u, v)).

    With u and v the differences of a unit's numerators and denominators, its contribution to the linear sum is
    e = 2 (u - (M/N) v) / (N P); units are turned so that e is not negative. A kind is found by hashing, O(units).

    Args:
        tops: numerators (n,) of the first and the second system, parts one after the other.
        bottoms: denominators likewise.
        starts: int64 (P + 1,), the units of each part.
        whole: float64 (P,); where it is a number, the whole part is one unit with this difference of the two ratios.
        kept: float64 (P,), filled with the least denominator that swaps can leave a system; not above 0 where they
            can leave none.

    Returns:
        The kinds, and for each part (P,) the observed sums U and V of u and v.
    """
    parts = len(starts) - 1
    room = parts
    for i in range(starts[parts]):
        room += tops[0][i] != tops[1][i] or bottoms[0][i] != bottoms[1][i]
    e, u, v, copies = np.empty(room), np.empty(room), np.empty(room), np.empty(room, np.int64)
    slot_of, used = _slots(starts), np.empty(room, np.int32)
    offsets = np.zeros(parts + 1, np.int64)
    totals, sizes = np.zeros(parts), np.zeros(parts)
    sum_u, sum_v = np.zeros(parts), np.zeros(parts)
    count = 0
    for part in range(parts):
        if not np.isnan(whole[part]):
            # M = 0, N = 1, u = difference / 2, v = 0: the two ratios of the formula then differ by the difference
            sizes[part], sum_u[part], kept[part] = 1.0, 0.5 * whole[part], 1.0
            if whole[part] != 0.0:
                e[count], u[count], v[count], copies[count] = abs(whole[part]) / parts, 0.5 * abs(whole[part]), 0.0, 1
                count += 1
            offsets[part + 1] = count
            continue
        total, size, least = 0.0, 0.0, 0.0
        for i in range(starts[part], starts[part + 1]):
            total += tops[0][i] + tops[1][i]
            size += bottoms[0][i] + bottoms[1][i]
            least += min(bottoms[0][i], bottoms[1][i])
        totals[part], sizes[part] = total, size
        kept[part] = least if least > VANISHING * size else 0.0
        for i in range(starts[part], starts[part + 1]):
            du, dv = float(tops[0][i] - tops[1][i]), float(bottoms[0][i] - bottoms[1][i])
            if du == 0.0 and dv == 0.0:
                continue
            sum_u[part] += du
            sum_v[part] += dv
            effect = 2.0 * (du * size - total * dv) / (size * size * parts) if size > 0.0 else 0.0
            if effect < 0.0 or (effect == 0.0 and (du < 0.0 or (du == 0.0 and dv < 0.0))):
                effect, du, dv = -effect, -du, -dv
            slot = _first_slot(du, dv, len(slot_of))
            while slot_of[slot] >= 0 and (u[slot_of[slot]] != du or v[slot_of[slot]] != dv):
                slot = (slot + 1) & (len(slot_of) - 1)
            if slot_of[slot] < 0:
                e[count], u[count], v[count], copies[count] = effect, du, dv, 0
                slot_of[slot], used[count] = count, slot
                count += 1
            copies[slot_of[slot]] += 1
        for kind in range(offsets[part], count):
            slot_of[used[kind]] = -1
        offsets[part + 1] = count
    kinds = Kinds(e[:count].copy(), u[:count].copy(), v[:count].copy(), copies[:count].copy(), offsets, totals, sizes)
    return kinds, sum_u, sum_v


@compiled
def _slots(starts: IntArray) -> Int32Array:
    """Return an empty hash table for the units of the longest part: a power of two, at least twice as many slots."""
    longest = 1
    for part in range(len(starts) - 1):
        longest = max(longest, starts[part + 1] - starts[part])
    size = 2
    while size < 2 * longest:
        size *= 2
    return np.full(size, -1, np.int32)


@inlined
def _first_slot(du: float, dv: float, slots: int) -> int:
    """Return the slot at which the search for (du, dv) begins, by Knuth's multiplicative hashing."""
    # two irrational factors spread whole and real differences alike; the high bits of the product are the mixed ones
    mixed = np.uint64(np.int64(du * 1.4142135623730951e6 + dv * 1.7320508075688772e6)) * np.uint64(0x9E3779B97F4A7C15)
    return int(mixed >> np.uint64(32)) & (slots - 1)


@compiled
def curvature(kinds: Kinds, t: float) -> tuple[float, float]:
    """Compute by how much T exceeds L in the mean under the tilt t, and the uncertainty of it.

    T_p = L_p / (1 - (V_p / N_p)^2), so that T - L is about the sum over parts of
    E_t[L_p] ((E_t V_p)^2 + Var_t V_p) / N_p^2; E_t of a sign of kind j is tanh(t e_j).

    Returns:
        That sum, and the sum of |E_t L_p| (2 |E_t V_p| sd_t V_p + 1.5 Var_t V_p) / N_p^2.
    """
    e, _, v, copies, offsets, _, sizes = kinds
    shift, doubt = 0.0, 0.0
    for part in range(len(sizes)):
        if sizes[part] <= 0.0:
            continue
        mean_l, mean_v, variance_v = 0.0, 0.0, 0.0
        for j in range(offsets[part], offsets[part + 1]):
            tanh = np.tanh(t * e[j])
            mean_l += copies[j] * e[j] * tanh
            mean_v += copies[j] * v[j] * tanh
            variance_v += copies[j] * v[j] * v[j] * (1.0 - tanh * tanh)
        squared = sizes[part] * sizes[part]
        shift += mean_l * (mean_v * mean_v + variance_v) / squared
        doubt += abs(mean_l) * (2.0 * abs(mean_v) * np.sqrt(variance_v) + 1.5 * variance_v) / squared
    return shift, doubt
