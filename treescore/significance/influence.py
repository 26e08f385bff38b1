"""How much each unit moves a score: the linear terms by which closed intervals are computed.

For a ratio S = M/N a unit moves it by z_i = (m_i - S n_i)/N; in a composite score the ratios' z_i are weighted by the
derivative of the score (the delta method), and in a macro average of P parts M, N and S are the part's and z_i has the
factor 1/P. The z_i of a part sum to 0. Efron 1982, chapter 6; Wolter 2007, chapter 6.
"""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray, Counts, FloatArray
from treescore.significance.contributions import Contributions, contributions, whole_parts
from treescore.significance.units import Sample

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
