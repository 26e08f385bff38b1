"""The one law of a pair of systems, from which its p, its intervals, what it could have found and its margin follow.

From 16 units on it is that of random signs of the units' contributions (the paired permutation test: Noreen 1989;
Yeh 2000; Dror et al. 2018); below, where p of n units could not be under 2^(1-n), it is Student's t with the variance
and the degrees of freedom of `contributions`. The number is fixed and counts the units of the pair, so that p does not
depend on which other systems are compared. Nothing is drawn, unless shuffles are asked for by name.

- p by signs: P(|Σ s_i e_i| >= |D|), ties count; exact by the law of a sum of whole numbers, or by listing up to 20
  units (16 of a score that is no sum, by true swaps); else by `signs.log_upper_tails`, whose error is about 5 / n.
- p by t: 2 P(t_df >= |D| / se), at least 2^(1-d), where d sentences differ. Where that binds, and where V = 0, se is
  the one that gives it, |D| / t_(df, 1 - 2^-d), so that interval and p agree.
- An interval at 1 - α/c inverts the same law; |D| ± t se, or all δ that the signs of e_i - δ w_i do not reject.
- A margin δ in favour of a system: P(Σ s_i (e_i + δ w_i) >= D + δ), or P(t_df >= (D + δ) / se), at least 2^-n (Romano
  1990; Wellek 2010). Failures in fewer than 3 in n units may have been missed.
- Detectable is δ* se, with δ* the noncentrality at which |T'_(df, δ*)| >= t_(df, 1 - α/2c) has the wanted power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import nctdtr, stdtr, stdtrit

from treescore.core.arrays import FloatArray
from treescore.core.scores import Score
from treescore.significance import signs
from treescore.significance.contributions import Block, Contributions
from treescore.significance.exact_sums import MOST_ADDITIONS, Differences, differences_of, log_upper_tail
from treescore.significance.montecarlo import extreme_counts
from treescore.significance.settings import LN2, SMALLEST, Settings
from treescore.significance.units import Sample

FEWEST_FOR_SIGNS = 16
"""Units from which on the law is that of signs: 2^-15 passes Holm's correction over the 1,225 pairs of 50 systems."""
SWAPPED = 16
"""Differing units up to which a score that is no sum is computed under all swaps."""
ERROR_UNITS = 5.0
"""Over n units p by the formula is off by this share of 1/n, at most."""
FEWEST_FOR_MARGIN = 20
"""Units below which "not worse by a margin" is not established: failures in 3/20 of them may have been missed."""
_BEYOND = 1e-9
"""An end that a rounding error would bring to the wrong side of 0 is set to this share of D."""
_AT_ZERO = 1e-7
"""An end nearer to 0 than this share of D is 0."""


@dataclass(frozen=True, slots=True)
class Test:
    """The test of one pair.

    Attributes:
        p: in (0, 1]; None where there is none.
        kind: exact, saddlepoint, t, monte-carlo, or None.
        how: the method in words.
        log_p: the natural logarithm of p, where it is known more precisely than p.
        error: relative error of p, where it has one.
        shuffles: of a Monte Carlo test.
        se: of the difference; None where the units show no spread.
        df: its degrees of freedom.
        units: of this pair, n.
        differing: units in which the two differ.
        sentences: sentences in which they differ, d.
        smallest: the smallest p that the swaps of so many units can give.
        by_signs: whether the law is that of signs, and not Student's t.
        parts: p for parts like these.
        unselected: p without allowance for the picking of the better one among several submissions.
        difference: what was tested, where that is not the difference of the scores.
        reason: why there is no p.
    """

    p: float | None
    kind: str | None
    how: str | None = None
    log_p: float | None = None
    error: float | None = None
    shuffles: int | None = None
    se: float | None = None
    df: float | None = None
    units: int = 0
    differing: int = 0
    sentences: int = 0
    smallest: float = 1.0
    by_signs: bool = False
    parts: float | None = None
    unselected: float | None = None
    difference: float | None = None
    reason: str | None = None

    @property
    def picking(self) -> float:
        """How many times larger p is for the picking: 1.0 where no row was picked."""
        return 1.0 if self.unselected is None or self.p is None else self.p / self.unselected


class Asked(NamedTuple):
    """Which law is asked for, and for which side.

    Attributes:
        law: auto, permutation or t.
        alternative: two-sided; greater or less, of the first system's quality.
        shuffles, seed: of a Monte Carlo test; None for none.
    """

    law: str
    alternative: str
    shuffles: int | None = None
    seed: int = 1

    def side(self, score: Score) -> float:
        """Return 0.0 where both sides are asked about, else the sign of the difference that is."""
        if self.alternative == "two-sided":
            return 0.0
        return score.sign if self.alternative == "greater" else -score.sign

    def by_signs(self, units: int) -> bool:
        """Tell whether a pair of so many units falls under the law of signs."""
        return self.law == "permutation" or (self.law == "auto" and units >= FEWEST_FOR_SIGNS)


def asked_by(settings: Settings, unit: str) -> Asked:
    """Return the law that settings ask for; of a test of something else the law of its intervals."""
    law = settings.test if settings.by_law else "auto"
    if settings.shuffles is not None or unit == "token":
        law = "permutation"
    return Asked(law, settings.alternative, settings.shuffles if settings.by_law else None, settings.seed)


def by_law(
    units: Contributions, pairs: Sequence[tuple[int, int]], asked: Asked, sentences: Sample | None = None
) -> list[Test]:
    """Test each pair of systems, in order. No system may have an undefined score.

    Args:
        units: of all systems.
        pairs: of systems.
        asked: the law, and the side.
        sentences: the terms by sentence, where units are not sentences.
    """
    tests: list[Test] = []
    side = asked.side(units.sample.score)
    for chosen, block in units.blocks(pairs):
        of_block = [pairs[index] for index in chosen]
        plain = [
            _spread_test(block, row, differing_sentences(block, row, pair, sentences))
            for row, pair in enumerate(of_block)
        ]
        rows = [row for row, test in enumerate(plain) if asked.by_signs(test.units)]
        for row in rows:
            plain[row] = replace(plain[row], by_signs=True)
        by_signs = dict(zip(rows, _by_signs(units, of_block, block, rows, plain, side, asked), strict=True))
        tests += [
            by_signs[row] if row in by_signs else by_t(test, float(block.difference[row]), side)
            for row, test in enumerate(plain)
        ]
    return tests


def differing_sentences(block: Block, row: int, pair: tuple[int, int], sentences: Sample | None) -> int:
    """Count the sentences in which a pair differs, from their terms where they are not the units."""
    differing = block.differ[row].sum() if sentences is None else sentences.differing_units(*pair).sum()
    return int(differing)


def _spread_test(block: Block, row: int, sentences: int) -> Test:
    """Return the test of a pair without p: its spread, also where the units show none but swaps give a least p."""
    se, df, n = (float(block.spread.se[row]), float(block.spread.df[row]), int(block.spread.units[row]))
    differing = int(block.differ[row].sum())
    if se == 0.0 and n > 1:
        sentences, df = min(sentences, n), n - 1.0
        se = _least_se(abs(float(block.difference[row])), df, sentences)
    known = math.isfinite(se) and se > 0.0
    return Test(
        None, None, se=se if known else None, df=df if known else None, units=n, differing=differing,
        sentences=sentences, smallest=smallest_p(differing, two_sided=True),
    )  # fmt: skip


def _least_se(size: float, df: float, sentences: int) -> float:
    """Return the standard error at which a difference of this size has the least two-sided p, 2^(1-d)."""
    if sentences < 2:
        return math.nan
    return size / -float(stdtrit(df, 0.5 ** min(sentences, 1000)))


def smallest_p(differing: int, *, two_sided: bool) -> float:
    """Return the smallest p that swaps of so many differing units can give."""
    swaps = differing - 1 if two_sided else differing
    return max(SMALLEST, 0.5 ** min(1100, max(0, swaps)))


def by_t(test: Test, difference: float, side: float) -> Test:
    """Test a pair by Student's t; `side` is 0 for both, else the sign of the difference that is asked about."""
    how = "Student's t, CR2 variance, Bell and McCaffrey's degrees of freedom"
    if not test.sentences:
        return replace(test, p=1.0, kind="exact", how="identical in every unit", se=None, df=None)
    if test.units < 2:
        return replace(test, reason="shows no spread")
    if difference == 0.0 and test.se is None:
        return replace(test, p=1.0, kind="t", how=how)
    log_least = (1 if side == 0.0 else 0) * LN2 - test.sentences * LN2
    if test.se is None or test.df is None:
        return replace(test, p=math.exp(log_least), kind="t", how=how, log_p=log_least)
    favour = abs(difference) if side == 0.0 else side * difference
    tail = float(stdtr(test.df, -favour / test.se)) * (2.0 if side == 0.0 else 1.0)
    log_p = max(log_least, math.log(max(tail, SMALLEST)))
    if log_p > math.log(max(tail, SMALLEST)):
        se = _least_se(abs(difference), test.df, test.sentences)
        test = replace(test, se=se if math.isfinite(se) else None, df=test.df if math.isfinite(se) else None)
    p = min(1.0, max(SMALLEST, math.exp(log_p)))
    return replace(test, p=p, kind="t", how=how, log_p=min(0.0, log_p))


def _by_signs(
    units: Contributions,
    pairs: Sequence[tuple[int, int]],
    block: Block,
    rows: Sequence[int],
    plain: Sequence[Test],
    side: float,
    asked: Asked,
) -> list[Test]:
    """Test some rows of a block by signs; see `by_t` for `side`."""
    if asked.shuffles is not None:
        return _by_shuffles(units, [pairs[row] for row in rows], [plain[row] for row in rows], asked)
    answers: dict[int, Test] = {}
    rest = []
    for row in rows:
        found = _exact(units, pairs[row], block, row, side)
        if found is None:
            rest.append(row)
        else:
            log_p, how = found
            answers[row] = _signs_test(plain[row], log_p, "exact", how, side)
    if rest:
        d = block.difference[rest]
        tails = signs.log_upper_tails(block.e[rest], np.abs(d) if side == 0.0 else side * d)
        for row, tail in zip(rest, tails.tolist(), strict=True):
            log_p = LN2 + tail if side == 0.0 else tail
            answers[row] = _signs_test(plain[row], log_p, "saddlepoint", "signs of units by Lugannani and Rice", side)
    return [answers[row] for row in rows]


def _signs_test(test: Test, log_p: float, kind: str, how: str, side: float) -> Test:
    smallest = smallest_p(test.differing, two_sided=side == 0.0)
    log_p = min(0.0, max(log_p, (1 if side == 0.0 else 0) * LN2 - test.differing * LN2))
    error = min(1.0, ERROR_UNITS / test.units) if kind == "saddlepoint" else None
    p = max(SMALLEST, math.exp(log_p))
    return replace(test, p=p, kind=kind, how=how, log_p=log_p, error=error, smallest=smallest)


def _exact(
    units: Contributions, pair: tuple[int, int], block: Block, row: int, side: float
) -> tuple[float, str] | None:
    """Return ln p where it can be computed exactly within the budget of a pair, and how."""
    differ = block.differ[row]
    differing = int(differ.sum())
    difference = float(block.difference[row])
    if not differing:
        return 0.0, "identical in every unit"
    if side == 0.0 and difference == 0.0:
        return 0.0, "no difference"
    if block.is_sum[row]:
        whole = units.whole_differences(*pair)
        if whole is not None:
            differences = differences_of(whole)
            if differences.additions <= MOST_ADDITIONS:
                one_minus = units.sample.score.ratios[0].one_minus
                return _sum_law(differences, -side if one_minus else side), "exact law of a sum"
        if differing <= signs.LISTED:
            e = block.e[row][differ]
            values = e.sum() - 2.0 * signs.subset_sums(e)
            return _log_share(values, difference, side), "all swaps listed"
    if differing <= SWAPPED:
        return _log_share(units.swapped(*pair, differ), difference, side), "all swaps listed"
    return None


def _log_share(values: FloatArray, difference: float, side: float) -> float:
    if side == 0.0:
        return math.log(signs.share_of(values, difference, two_sided=True))
    return math.log(signs.share_of(side * values, side * difference, two_sided=False))


def _sum_law(differences: Differences, side: float) -> float:
    """Return ln p of a sum of whole numbers, of both sides or one."""
    observed = differences.observed
    if side == 0.0:
        return min(0.0, LN2 + log_upper_tail(differences, abs(observed))) if observed else 0.0
    observed = int(side) * observed
    if observed > 0:
        return log_upper_tail(differences, observed)
    # P(S >= o) = 1 - P(S >= 2 - o): sums keep their parity, and the law is symmetric
    if 2 - observed > differences.largest:
        return 0.0
    return math.log1p(-math.exp(log_upper_tail(differences, 2 - observed)))


def _by_shuffles(
    units: Contributions, pairs: Sequence[tuple[int, int]], plain: Sequence[Test], asked: Asked
) -> list[Test]:
    """Test pairs by random swaps, p = (b + 1) / (R + 1) (Phipson & Smyth 2010)."""
    shuffles = asked.shuffles or 0
    whole = [units.whole_parts(*pair) for pair in pairs]
    counts = extreme_counts(units.sample, pairs, whole, shuffles, asked.seed, asked.alternative)
    tests = []
    for test, count in zip(plain, counts.tolist(), strict=True):
        least = smallest_p(test.differing, two_sided=asked.alternative == "two-sided")
        p = max((count + 1) / (shuffles + 1), least)
        smallest = max(1 / (shuffles + 1), least)
        tests.append(
            replace(test, p=p, kind="monte-carlo", how="random swaps shared by all pairs", shuffles=shuffles,
                    smallest=smallest, log_p=math.log(p))
        )  # fmt: skip
    return tests


class Interval(NamedTuple):
    """An interval of a score or a difference.

    Attributes:
        low, high: an infinite end is unbounded; NaN where the score is undefined in too many resamples.
        method: in words.
    """

    low: float
    high: float
    method: str


SIGNS, STUDENT_T = "signs", "t"


def difference_intervals(
    units: Contributions, pairs: Sequence[tuple[int, int]], tests: Sequence[Test], levels: Sequence[FloatArray]
) -> list[list[Interval | None]]:
    """Return the intervals of each pair's difference at each of some levels; None of identical outputs and one unit.

    Args:
        units: of all systems.
        pairs: of systems.
        tests: of the pairs, by the law.
        levels: of p up to which a difference is left out, (pairs,) for each of the k lists.
    """
    found: list[list[Interval | None]] = [[] for _ in levels]
    score = units.sample.score
    width = math.inf if score.high is None else score.high - score.low
    for chosen, block in units.blocks(pairs):
        rows = [row for row, index in enumerate(chosen) if tests[index].by_signs]
        by_signs = _sign_ends(
            block, rows, [tests[index] for index in chosen], [level[chosen] for level in levels], width
        )
        for row, index in enumerate(chosen):
            test = tests[index]
            d = float(block.difference[row]) if test.difference is None else test.difference
            for number, level in enumerate(levels):
                if not test.differing or test.reason or (d == 0.0 and test.se is None):
                    found[number].append(None)
                elif (row, number) in by_signs:
                    low, high = by_signs[row, number]
                    found[number].append(Interval(max(low, -width), min(high, width), SIGNS))
                else:
                    half = math.inf
                    if test.se is not None and test.df is not None:
                        half = -float(stdtrit(test.df, 0.5 * level[index])) * test.se
                    found[number].append(Interval(max(d - half, -width), min(d + half, width), STUDENT_T))
    return found


def _sign_ends(
    block: Block, rows: Sequence[int], tests: Sequence[Test], levels: Sequence[FloatArray], width: float
) -> Mapping[tuple[int, int], tuple[float, float]]:
    """Return the ends of some rows of a block by the law of signs, by row and number of the level."""
    ends: dict[tuple[int, int], tuple[float, float]] = {}
    searched: list[tuple[int, int]] = []
    for row in rows:
        rejected = np.array([level[row] for level in levels])
        n = tests[row].units
        held = block.w[row] > 0
        if n <= signs.LISTED:
            e, w = block.e[row][held], block.w[row][held]
            listed = signs.listed_ends(e, w, float(block.difference[row]), rejected)
            ends.update({(row, number): each for number, each in enumerate(listed)})
            continue
        for number, level in enumerate(rejected):
            if number and level == rejected[0]:
                continue
            if level < 2.0 ** (1 - n):
                ends[row, number] = -math.inf, math.inf
            else:
                searched.append((row, number))
    for number in range(len(levels)):
        of_level = [row for row, each in searched if each == number]
        if of_level:
            start = np.array([_guess(tests[row], float(levels[number][row])) for row in of_level])
            low, high = signs.inverted_ends(
                block.e[of_level], block.w[of_level], block.difference[of_level], levels[number][of_level], start,
                np.abs(block.difference[of_level]) + width,
            )  # fmt: skip
            for row, ends_of_row in zip(of_level, zip(low.tolist(), high.tolist(), strict=True), strict=True):
                ends[row, number] = ends_of_row
    for row in rows:
        for number in range(1, len(levels)):
            if (row, number) not in ends:
                ends[row, number] = ends[row, 0]
    return ends


def _guess(test: Test, level: float) -> float:
    if test.se is None or test.df is None:
        return 1e-3
    return max(1e-300, -float(stdtrit(test.df, 0.5 * level)) * test.se)


def guarded(interval: Interval | None, difference: float, *, leaves_out: bool) -> Interval | None:
    """Return an interval that leaves out 0 exactly where the decision does: rounding may let them disagree."""
    if interval is None:
        return None
    near = _AT_ZERO * abs(difference)
    low, high = (0.0 if abs(end) <= near else end for end in interval[:2])
    if difference > 0 and leaves_out != (low > 0):
        low = _BEYOND * difference if leaves_out else 0.0
    elif difference < 0 and leaves_out != (high < 0):
        high = _BEYOND * difference if leaves_out else 0.0
    return interval._replace(low=low, high=high)


def detectable(tests: Sequence[Test], levels: FloatArray, power: float, sides: int) -> FloatArray:
    """Return the differences that tests at these levels find with a power, (m,); NaN where the units show no spread."""
    known = np.array([test.se is not None and test.df is not None and test.df > 0 for test in tests], np.bool_)
    found = np.full(len(tests), np.nan)
    if known.any():
        se = np.array([test.se for test in tests if test.se is not None and test.df is not None and test.df > 0])
        df = np.array([test.df for test in tests if test.se is not None and test.df is not None and test.df > 0])
        found[known] = noncentrality(df, -stdtrit(df, levels[known] / sides), power) * se
    return found


def noncentrality(df: FloatArray, q: FloatArray, power: float) -> FloatArray:
    """Solve P(T'_(df, δ) >= q) = power for δ, (m,), by bisection."""
    low, high = np.zeros(len(df)), q + 1.0
    while (under := nctdtr(df, high, q) > 1.0 - power).any():
        high = np.where(under, 2.0 * high, high)
    while (high - low > 1e-9 * high).any():
        middle = 0.5 * (low + high)
        above = nctdtr(df, middle, q) > 1.0 - power
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(0.5 * (low + high))


class OneSide(NamedTuple):
    """The test that one system is not worse than the other by the margin.

    Attributes:
        p: one-sided.
        units: of the pair, n.
    """

    p: float
    units: int


def margin_tests(
    units: Contributions, pairs: Sequence[tuple[int, int]], margin: float, asked: Asked
) -> list[tuple[OneSide, OneSide]]:
    """Test of each pair the first system, then the second: that it is not worse than the other by the margin.

    Args:
        units: of all systems.
        pairs: of systems.
        margin: δ > 0, in score units.
        asked: the law.
    """
    better = units.sample.score.sign
    found = []
    for _, block in units.blocks(pairs):
        for row in range(len(block.difference)):
            n = int(block.spread.units[row])
            favour = better * float(block.difference[row])
            held = block.w[row] > 0
            e, w = better * block.e[row][held], block.w[row][held]
            sides = []
            for sign in (1.0, -1.0):
                x = sign * favour + margin
                if asked.by_signs(n):
                    moved = sign * e + margin * w
                    tail = (
                        signs.log_listed_tail(moved, x)
                        if n <= signs.LISTED
                        else float(signs.log_upper_tails(moved[None], np.array([x]))[0])
                    )
                    p = math.exp(tail)
                else:
                    p = margin_by_t(x, float(block.spread.se[row]), float(block.spread.df[row]))
                sides.append(OneSide(min(1.0, max(p, 0.5 ** min(n, 1000))), n))
            found.append((sides[0], sides[1]))
    return found


def margin_by_t(x: float, se: float, df: float) -> float:
    """Return P(t_df >= x / se); of no spread whether x is below 0."""
    if math.isnan(se):
        return 1.0
    return float(stdtr(df, -x / se)) if se > 0 else float(x <= 0)
