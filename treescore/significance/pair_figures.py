"""What a pair's document says beside its test: what could have been detected, and whether a system is not worse.

It depends on how many pairs there are, as does the interval that holds together with all others. The true difference
that a comparison would have found is what "not significant" leaves open (Card et al. 2020).

**Not worse by a margin** (Romano 1990; Wellek 2010). For X against Y and a margin δ > 0 in score units, units have e_i
in X's favour + δ w_i, w_i the unit's share of all denominators: what they would be if X were better by δ more.
p = P(Σ s_i (e_i + δ w_i) >= Σ (e_i + δ w_i)), s = ±1 at random: small where the data rule out that X is worse by δ. It
is one-sided. Where training runs vary too, it is P(t_df >= (D + δ)/√V), D in X's favour, with V and df of the test over
runs and units.

The sample may lack what makes X worse: where 3 % of the units lose a third of their score, tests of this kind (t and
bootstrap too) claim falsely in 54 % of samples of 20 units, in 31 % of 50 and 13 % of 200. Of failures in a share f of
units, n units show none with probability (1-f)^n, 5 % at f = 3/n: rarer ones may have been missed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr

from treescore.core.arrays import FloatArray
from treescore.core.params import Json
from treescore.significance import training_runs
from treescore.significance.contributions import Contributions, contribution_squares, contributions_of
from treescore.significance.families import adjusted, first_threshold
from treescore.significance.intervals import Draws, interval_document, intervals_together
from treescore.significance.permutation import Test
from treescore.significance.question import Question
from treescore.significance.settings import ROUNDING
from treescore.significance.signed_sums import DRAWS, sum_tail
from treescore.significance.training_runs import RunsTest
from treescore.significance.units import Sample


class Moments(NamedTuple):
    """Sums over the units of a pair.

    Attributes:
        residuals: s² = Σ(e_i - D w_i)².
        contributions: Σ e_i².
        kappa: Σ w_i².
    """

    residuals: float
    contributions: float
    kappa: float


def detectable(c: Contributions, alpha: float, power: float) -> float | None:
    """Return the difference that a two-sided swap test at level alpha finds with probability `power`, in score units.

    Args:
        c: the contributions of a pair.
        alpha: of this pair, after the correction for the number of pairs.
        power: between 0 and 1.

    Returns:
        None where the data show no spread (s = 0), and where no difference can be found (q <= 0: too few units).
    """
    return detectable_of(moments_of(c), alpha, power)


def detectable_of(moments: Moments, alpha: float, power: float) -> float | None:
    """Return the detectable difference from sums over the units.

    With s² = Σ(e_i - D w_i)², kappa = Σ w_i², a = z_(alpha/2), b = z_(1-power) and q = 1 - a² kappa it is

        s (b + √(b² + q (a² - b²))) / q,

    the solution of x = a √(s² + x² kappa) + b s: an effect x widens the law of the swaps too, by x² kappa, and the
    test must exceed a of that. (a + b) s, which leaves this out, promises too much: it has 70 % power for 80 with 50
    units at 0.05 / 210 (`benchmarks/validity.py`).
    """
    a, b = -float(ndtri(alpha / 2.0)), float(ndtri(power))
    s, kappa = math.sqrt(moments.residuals), moments.kappa
    q = 1.0 - a * a * kappa
    if q <= 0 or not s > ROUNDING * math.sqrt(moments.contributions):
        return None
    return max(0.0, s * (b + math.sqrt(b * b + q * (a * a - b * b))) / q)


def moments_of(c: Contributions) -> Moments:
    """Sum over the units of a pair."""
    residuals = c.e - c.difference * c.w
    return Moments(float(residuals @ residuals), float(c.e @ c.e), float(c.w @ c.w))


def moments_of_pairs(sample: Sample, pairs: Sequence[tuple[int, int]]) -> list[Moments]:
    """Sum over the units of each pair, without arrays of contributions where the score is one ratio."""
    compiled = len(sample.tops) == 1 and sample.score.join is None and sample.missing is None
    if not compiled:
        return [moments_of(contributions_of(sample, *pair)) for pair in pairs]
    values = sample.values()
    sign = -1.0 if sample.score.ratios[0].one_minus else 1.0
    strata, m, n = sample.strata, sample.tops[0], sample.bottoms[0]
    sums = sample.summed(m).astype(np.float64), sample.summed(n).astype(np.float64)
    return [
        Moments(
            *contribution_squares(m, n, strata, *sums, np.array(pair), sign * float(values[pair[0]] - values[pair[1]]))
        )
        for pair in pairs
    ]


FEWEST_UNITS = 20
"""Below it nothing is established: failures in 3/20 of the units may have been missed."""
MARGIN_NOTE = "Failures in fewer than 3/n of units may have been missed."
FEW_UNITS_NOTE = f"Not worse by the margin is established from {FEWEST_UNITS} units on only."


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


def noninferiority_documents(
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


def figures_of_all_pairs(question: Question, tests: Sequence[Test], draws: Draws) -> list[dict[str, Json]]:
    """Return for each pair the members `detectable`, `ci_simultaneous` and `noninferiority`, null where unknown."""
    together = intervals_together(question, draws)
    could = _detectable(question, tests)
    worse = _noninferiority(question)
    return [
        {
            "detectable": could[at],
            "ci_adjusted": interval_document(question, together[at], draws.systems),
            "se": None,
            "df": None,
            "noninferiority": worse[at],
        }
        for at in range(len(question.pairs))
    ]


def _detectable(question: Question, tests: Sequence[Test]) -> Sequence[dict[str, Json] | None]:
    """Tell what tests by swaps could have found; the power of others is not known."""
    settings = question.settings
    documents: list[dict[str, Json] | None] = [None] * len(tests)
    if settings.test != "permutation":
        return documents
    asked = [at for at, test in enumerate(tests) if test.kind is not None]
    alpha = first_threshold(len(question.pairs), settings.alpha, settings.correction)
    sides = 1.0 if settings.alternative == "two-sided" else 2.0  # one tail of alpha is two of 2 alpha
    pairs = [question.pairs[at] for at in asked]
    if question.units_by_pair:
        moments = [moments_of(contributions_of(question.alone(*pair).sample, 0, 1)) for pair in pairs]
    else:
        moments = moments_of_pairs(question.sample, pairs)
    for at, sums in zip(asked, moments, strict=True):
        difference = detectable_of(sums, min(1.0, sides * alpha), settings.power)
        if difference is not None:
            documents[at] = {"difference": difference, "power": settings.power, "alpha": alpha}
    return documents


def _noninferiority(question: Question) -> Sequence[dict[str, Json] | None]:
    """Test both systems of all pairs against the margin."""
    settings = question.settings
    if settings.margin is None:
        return [None] * len(question.pairs)
    better = question.sample.score.sign
    over = training_runs.runs_tests(question)
    draws = draws_of(len(question.pairs), question.sample.units, alone=question.seed_of is not None)
    names, sides = [], []
    for first, second in question.pairs:
        names.append((question.candidates[first].name, question.candidates[second].name))
        if (first, second) in over:
            sides.append(over_runs(over[first, second], settings.margin, better, question.sample.units))
        else:
            by_pair = question.units_by_pair
            sample = (question.alone(first, second) if by_pair else question).sample
            c = contributions_of(sample, 0, 1) if by_pair else contributions_of(sample, first, second)
            sides.append(noninferiority(c, settings.margin, better, question.seed(first, second), draws))
    return noninferiority_documents(names, sides, settings.margin, settings.alpha, settings.correction)
