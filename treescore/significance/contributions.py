"""What each unit contributes to the difference of two scores.

For a pair A, B, unit i has numerators m and denominators n; M and N are their sums over both systems and all units (of
the part), u_i = m_A - m_B, v_i = n_A - n_B, P parts. To first order in the swaps the difference is the sum of

    e_i = 2 (u_i - (M / N) v_i) / N,    in a mean of parts also / P,

and unit i has the share w_i = (n_A + n_B)_i / N (/ P) of the test set. Where the denominators of both systems are equal
in every unit the sum is the difference itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.significance.contribution_kernels import contributed
from treescore.significance.units import Sample


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
