"""What each unit contributes to a score and to the difference of two scores.

For a pair A, B, unit i has numerators m and denominators n; M and N are their sums over both systems and all units (of
the part), u_i = m_A - m_B, v_i = n_A - n_B, P parts. To first order in the swaps the difference is the sum of

    e_i = 2 (u_i - (M / N) v_i) / N,    in a mean of parts also / P,

and unit i has the share w_i = (n_A + n_B)_i / N (/ P) of the test set. Where the denominators of both systems are equal
in every unit the sum is the difference itself. Sums of squares are taken without an array for each pair.

A score S = M/N alone is moved by a unit by z_i = (m_i - S n_i)/N, the linear terms by which closed intervals are
computed; in a composite score the ratios' z_i are weighted by the derivative of the score (the delta method), and in a
macro average of P parts M, N and S are the part's and z_i has the factor 1/P. The z_i of a part sum to 0. Efron 1982,
chapter 6; Wolter 2007, chapter 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray
from treescore.core.jit import compiled, inlined
from treescore.significance.bootstrap import beats_shown as beats_shown
from treescore.significance.units import Sample


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


@dataclass(frozen=True, slots=True)
class Contributions:
    """The units of one pair.

    Attributes:
        e: e_i (n,), in units of the score, positive where the first system has the higher score.
        w: w_i (n,), which sum to 1.
        difference: D, the score of the first less that of the second.
        strata: part of each unit, int64 (n,); None where there is one.
    """

    e: FloatArray
    w: FloatArray
    difference: float
    strata: IntArray | None


def contributions(sample: Sample, first: int, second: int) -> Contributions | None:
    """Return what each unit contributes to the difference of two systems; None where a score joins several ratios.

    A part without a denominator contributes nothing. A part that one of the two lacks is one unit: its first unit has
    its difference as e_i and its whole share as w_i, the others nothing.
    """
    if len(sample.tops) != 1 or sample.score.join is not None:
        return None
    tops, bottoms = ((terms[0][first], terms[0][second]) for terms in (sample.tops, sample.bottoms))
    e, w, sums = contributed(tops, bottoms, sample.strata, sample.strata_count)
    if sample.score.ratios[0].one_minus:
        e = -e
    values = sample.joined([(sums[:2], sums[2:])])
    difference = float(values[0] - values[1])
    if sample.missing is not None:
        whole_parts(sample, (first, second), e, w)
    return Contributions(e, w, difference, sample.parts)


def whole_parts(sample: Sample, pair: tuple[int, int], e: FloatArray, w: FloatArray) -> None:
    """Let a part that one of the pair lacks be one unit, whose contribution is (f - worst) / P and share 1 / P."""
    assert sample.missing is not None  # noqa: S101 - the caller asks only then
    lacking = sample.missing[list(pair)]
    by_part = sample.part_values()[list(pair)]
    for part in np.flatnonzero(lacking[0] != lacking[1]):
        units = np.flatnonzero(sample.parts == part)
        e[units] = 0.0
        e[units[:1]] = (by_part[0, part] - by_part[1, part]) / sample.part_count
        share = w[units].sum()
        w[units] = 0.0
        w[units[:1]] = share


_STEP = 2.0**-17
"""Step of the central differences of a composite score: near the cube root of the rounding error 2^-53, where the error
of rounding and that of the third derivative are alike, some 1e-10."""


def influences(sample: Sample, system: int) -> FloatArray:
    """Return z_i of each unit of one system, (n,); 0 in parts without a value."""
    strata, parts = sample.strata, sample.strata_count
    ratios = []
    terms = []
    for ratio, top, bottom in zip(sample.score.ratios, sample.tops, sample.bottoms, strict=True):
        m, n = top[system].astype(np.float64), bottom[system].astype(np.float64)
        size = np.bincount(strata, n, minlength=parts)
        share = _quotient(np.bincount(strata, m, minlength=parts), size)
        sign = -1.0 if ratio.one_minus else 1.0
        ratios.append(1.0 - share if ratio.one_minus else share)
        terms.append(sign * _quotient(m - share[strata] * n, size[strata]))
    z = np.zeros(sample.units)
    for slope, term in zip(_slopes(sample, ratios), terms, strict=True):
        z += slope[strata] * term
    return z / parts


def contributions_of(sample: Sample, first: int, second: int) -> Contributions:
    """Return the contributions of a pair; those of a score that joins ratios are its linear terms."""
    both = sample.of_systems([first, second])
    c = contributions(both, 0, 1)
    return linear_contributions(both, 0, 1) if c is None else c


def linear_contributions(sample: Sample, first: int, second: int) -> Contributions:
    """Return what units contribute to the difference of a score of several ratios: e_i = z_A,i - z_B,i + D w_i.

    D is that of the unit's part. For a ratio with equal denominators these are its contributions. The share w_i is
    the mean of the ratios' shares.
    """
    strata, parts = sample.strata, sample.strata_count
    w = np.zeros(sample.units)
    for bottom in sample.bottoms:
        both = (bottom[first] + bottom[second]).astype(np.float64)
        size = np.bincount(strata, both, minlength=parts)
        w += _quotient(both, size[strata]) / (parts * len(sample.bottoms))
    values = sample.values()[[first, second]]
    of_parts = sample.part_values()[[first, second]] if sample.parts is not None else values[:, None]
    gaps = np.nan_to_num(of_parts[0] - of_parts[1])
    e = influences(sample, first) - influences(sample, second) + gaps[strata] * w
    if sample.missing is not None:
        whole_parts(sample, (first, second), e, w)
    return Contributions(e, w, float(values[0] - values[1]), sample.parts)


def counted_units(sample: Sample, system: int) -> BoolArray:
    """Find the units that hold anything for a score: some term of the system is not 0, (n,)."""
    found = np.zeros(sample.units, np.bool_)
    for terms in (*sample.tops, *sample.bottoms):
        found |= terms[system] != 0
    return found


def _slopes(sample: Sample, ratios: list[FloatArray]) -> list[FloatArray]:
    """Return the derivative of the score by each of its ratios (P,), by central differences; 1 for a single ratio."""
    join = sample.score.join
    if join is None:
        return [np.ones(len(ratios[0]))]
    slopes = []
    for number in range(len(ratios)):
        ends = []
        for step in (_STEP, -_STEP):
            moved = list(ratios)
            moved[number] = moved[number] + step
            ends.append(join(moved))
        slopes.append(np.nan_to_num((ends[0] - ends[1]) / (2.0 * _STEP)))
    return slopes


def _quotient(top: Counts, bottom: Counts) -> FloatArray:
    """Divide, with 0 for what has no value."""
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom != 0)
