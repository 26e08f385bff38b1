"""Is a system worse than another by less than a margin (Romano 1990; Wellek 2010)?

For X against Y and a margin δ > 0 in score units, units have e_i in X's favour + δ w_i, w_i the unit's share of all
denominators: what they would be if X were better by δ more. p = P(Σ s_i (e_i + δ w_i) >= Σ (e_i + δ w_i)), s = ±1 at
random: small where the data rule out that X is worse by δ. It is one-sided. Where training runs vary too, it is
P(t_df >= (D + δ)/√V), D in X's favour, with V and df of the test over runs and units.

The sample may lack what makes X worse: where 3 % of the units lose a third of their score, tests of this kind (t and
bootstrap too) claim falsely in 54 % of samples of 20 units, in 31 % of 50 and 13 % of 200. Of failures in a share f of
units, n units show none with probability (1-f)^n, 5 % at f = 3/n: rarer ones may have been missed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from treescore.core.arrays import FloatArray
from treescore.core.params import Json
from treescore.significance.contributions import Contributions
from treescore.significance.correction import adjusted
from treescore.significance.inversion import sum_tail
from treescore.significance.tilted import DRAWS
from treescore.significance.welch import RunsTest

FEWEST_UNITS = 20
"""Below it nothing is established: failures in 3/20 of the units may have been missed."""
NOTE = "Failures in fewer than 3/n of units may have been missed."
FEW_NOTE = f"Not worse by the margin is established from {FEWEST_UNITS} units on only."


SIDES_WORK = 6e8
"""Draws times units of all pairs and both sides together (4 nanoseconds each, 3 s); beyond it sums are inverted."""
ALONE_DRAWS = 2_000
"""Draws of a pair that is tested by itself, as others must not change its p: a relative standard error of 3 %."""


class OneSide(NamedTuple):
    """The test that one system is not worse than the other by the margin.

    Attributes:
        p: one-sided.
        error: relative error of p; None where it is exact.
        units: of the comparison, n.
    """

    p: float
    error: float | None
    units: int


def draws_of(pairs: int, units: int, *, alone: bool) -> int:
    """Return the draws of each side behind sums of some units: the same for all pairs, 0 where all would be too many.

    Args:
        pairs: that are tested.
        units: of the comparison, n.
        alone: whether the figures of a pair must not depend on how many others there are.
    """
    if alone:
        return ALONE_DRAWS
    return DRAWS if 2.0 * pairs * units * DRAWS <= SIDES_WORK else 0


def noninferiority(
    c: Contributions, margin: float, better: float, seed: int = 1, draws: int = DRAWS
) -> tuple[OneSide, OneSide]:
    """Test each of a pair's systems: that it is not worse than the other by the margin.

    Args:
        c: the contributions of the pair.
        margin: δ > 0, in score units.
        better: 1.0 where a higher score is better, else -1.0.
        seed: of the draws behind sums of some units (`sum_tail`).
        draws: how many.
    """
    units = int((c.w > 0).sum())
    first = c.e * better
    own, other = (one_sided(side * first + margin * c.w, seed, draws) for side in (1.0, -1.0))
    return OneSide(*own, units), OneSide(*other, units)


def over_runs(found: RunsTest, margin: float, better: float, units: int) -> tuple[OneSide, OneSide]:
    """Test the same where training runs vary: p = P(t_df >= (D + δ)/√V), at least 2^-units, as that of swaps.

    Args:
        found: the test of the pair over training runs and units.
        margin: δ > 0, in score units.
        better: 1.0 where a higher score is better, else -1.0.
        units: of the comparison, n.
    """
    difference = better * (found.test.difference or 0.0)
    deviation = math.sqrt(found.v_units + found.v_runs)
    sides = []
    for gain in (difference + margin, margin - difference):
        tail = float(gain <= 0) if found.df is None else float(stdtr(found.df, -gain / deviation))
        sides.append(OneSide(max(tail, 0.5 ** min(units, 1000)), None, units))
    return sides[0], sides[1]


def one_sided(x: FloatArray, seed: int, draws: int = DRAWS) -> tuple[float, float | None]:
    """Return P(Σ s_i x_i >= Σ x_i) over all signs s of the terms x (n,), and its relative error, None where exact."""
    tail = sum_tail(x, float(x.sum()), seed=seed, draws=draws)
    return tail.p, tail.error


def pair_documents(
    names: Sequence[tuple[str, str]],
    sides: Sequence[tuple[OneSide, OneSide]],
    margin: float,
    alpha: float,
    correction: str,
) -> list[dict[str, Json]]:
    """Make the member `noninferiority` of each pair, which says of either system whether it is not worse.

    Of two systems p itself decides, as one asks about one of them; of more, p is corrected over all ordered pairs.
    """
    p = np.array([side.p for pair in sides for side in pair], np.float64)
    decisive = adjusted(p, correction if len(names) > 1 else "none").tolist()
    documents = []
    for index, (pair, pair_sides) in enumerate(zip(names, sides, strict=True)):
        document: dict[str, Json] = {"margin": margin}
        for side, name in enumerate(pair):
            document[name] = _side_document(pair_sides[side], decisive[2 * index + side], alpha)
        documents.append(document)
    return documents


def _side_document(side: OneSide, decisive: float, alpha: float) -> Mapping[str, Json]:
    established = side.units >= FEWEST_UNITS and decisive <= alpha
    return {"p": side.p, "p_adjusted": decisive, "established": established}
