"""The one law of a pair of systems, from which its p, its intervals, what it could have found and its margin follow.

From 16 units on it is that of random signs of the units' contributions (the paired permutation test: Noreen 1989;
Yeh 2000; Dror et al. 2018); below, where p of n units could not be under 2^(1-n), it is Student's t with the variance
and the degrees of freedom of `contributions`. The number is fixed and counts the units of the pair, so that p does not
depend on which other systems are compared. Nothing is drawn, unless shuffles are asked for by name.

- p by signs: P(|Σ s_i e_i| >= |D|), ties count; exact by the law of a sum of whole numbers, or by listing up to 20
  units (16 of a score other than a sum, by true swaps); else by `signs.log_upper_tails`, whose error is about 5 / n.
- p by t: 2 P(t_df >= |D| / se), at least 2^(1-d), where d sentences differ. Where that binds, and where V = 0, se is
  the one that gives it, |D| / t_(df, 1 - 2^-d), so that interval and p agree.
- An interval at 1 - α/c inverts the same law; |D| ± t se, or all δ that the signs of e_i - δ w_i do not reject.
- A margin δ in favour of a system: P(Σ s_i (e_i + δ w_i) >= D + δ), or P(t_df >= (D + δ) / se), at least 2^-n (Romano
  1990; Wellek 2010). Failures in fewer than 3 in n units may have been missed.
- Training runs: the question is the difference of expected scores over further runs and further units. Swapping pooled
  counts takes the trained models as fixed, and calls up to a third of true nulls significant where models of one
  method differ from run to run (Bouthillier et al. 2021). Here both sources of variance are added, V = V_units +
  var(f_A) / r_A + var(f_B) / r_B over the scores f of r runs, with Welch's degrees of freedom (Welch 1947): Student's
  t at any number of units.
- Detectable is δ* se, with δ* the noncentrality at which |T'_(df, δ*)| >= t_(df, 1 - α/2c) has the wanted power.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import FloatArray, special
from treescore.core.params import Json
from treescore.core.scores import Score
from treescore.significance import signs
from treescore.significance.contributions import Block, Contributions
from treescore.significance.settings import LN2, SMALLEST, Settings
from treescore.significance.units import Sample

FEWEST_FOR_SIGNS = 16
"""Units from which on the law is that of signs: 2^-15 passes Holm's correction over the 1,225 pairs of 50 systems."""
SWAPPED = 16
"""Differing units up to which a score other than a sum is computed under all swaps."""
FEWEST_FOR_MARGIN = 20
"""Units below which "not worse by a margin" is not established: failures in 3/20 of them may have been missed."""
IDENTICAL, LISTED = "identical in every unit", "all swaps listed"
FORMULA, SHUFFLED = "signs of units by Lugannani and Rice's formula", "random signs shared by all pairs"
T = "Student's t, CR2 variance, Bell and McCaffrey's degrees of freedom"
_AT_ZERO, _BEYOND = 1e-7, 1e-9
"""Share of D below which an end is 0, and to which one is set that a rounding error would bring to the wrong side."""


class Test(NamedTuple):
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
        by_signs: whether the law is that of signs, and not Student's t.
        parts: p for parts like these.
        unselected: p without allowance for the picking of the better one among several submissions.
        difference: what was tested, where that is not the difference of the scores.
        reason: why p is None.
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

    @property
    def sides(self) -> int:
        """How many tails p has."""
        return 2 if self.alternative == "two-sided" else 1

    def favour(self, score: Score, difference: float) -> float:
        """Return the difference as the alternative counts it: its size, or positive where it is in favour."""
        if self.sides > 1:
            return abs(difference)
        return difference * (score.sign if self.alternative == "greater" else -score.sign)

    def by_signs(self, units: int) -> bool:
        """Tell whether a pair of so many units falls under the law of signs."""
        return self.law == "permutation" or (self.law == "auto" and units >= FEWEST_FOR_SIGNS)

    def log_least(self, differing: int) -> float:
        """Return the natural logarithm of the smallest p that swaps of so many differing units can give."""
        return min(0, self.sides - 1 - differing) * LN2


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
    return by_law_of_sides(units, pairs, [asked], sentences)[0]


def by_law_of_sides(
    units: Contributions, pairs: Sequence[tuple[int, int]], sides: Sequence[Asked], sentences: Sample | None = None
) -> list[list[Test]]:
    """Test each pair as `by_law` for questions that differ in their one side alone: those of each, in order."""
    tests: list[list[Test]] = [[] for _ in sides]
    for chosen, block in units.blocks(pairs):
        spreads = [spread_test(block, row, pairs[index], sentences or units.sample) for row, index in enumerate(chosen)]
        differences = block.difference.tolist()
        favours = [[asked.favour(units.sample.score, difference) for difference in differences] for asked in sides]
        rest: list[int] = []
        for found, asked, of_side in zip(tests, sides, favours, strict=True):
            rest = []
            for row, (index, test, favour) in enumerate(zip(chosen, spreads, of_side, strict=True)):
                if not asked.by_signs(test.units):
                    found.append(by_t(test, differences[row], favour, asked))
                    continue
                exact = _exact(units, pairs[index], block, row, favour, asked)
                by_signs = test._replace(by_signs=True)
                found.append(by_signs if exact is None else _with_p(by_signs, *exact, kind="exact"))
                rest += [row] if exact is None else []
        log_p = _inexact(block.e[rest], np.array(favours)[:, rest], sides[0]).tolist() if rest else []
        for found, asked, of_side in zip(tests, sides, log_p, strict=bool(rest)):
            for row, tail in zip(rest, of_side, strict=True):
                found[chosen[row]] = _by_formula(found[chosen[row]], tail, asked)
    return tests


def _by_formula(test: Test, log_p: float, asked: Asked) -> Test:
    value = max(log_p, asked.log_least(test.differing))
    if asked.shuffles:
        return _with_p(test._replace(shuffles=asked.shuffles), value, SHUFFLED, kind="monte-carlo")
    return _with_p(test._replace(error=min(1.0, 5.0 / test.units)), value, FORMULA, kind="saddlepoint")


def _with_p(test: Test, log_p: float, how: str, *, kind: str) -> Test:
    log_p = min(0.0, log_p)
    p = max(SMALLEST, math.exp(log_p))
    if kind == "exact" and test.differing <= 2 * signs.LISTED:  # so many of 2^d swaps, without the logarithm's rounding
        p = round(p * 2.0**test.differing) / 2.0**test.differing
    return test._replace(p=p, kind=kind, how=how, log_p=log_p)


def spread_test(block: Block, row: int, pair: tuple[int, int], sentences: Sample) -> Test:
    """Return the test of a pair without p: its spread, also where the units show none but swaps give a least p."""
    se, df, n = (float(block.spread.se[row]), float(block.spread.df[row]), int(block.spread.units[row]))
    differing, number = int(block.differ[row].sum()), int(sentences.differing_units(*pair).sum())
    if se == 0.0 and n > 1:
        number, df = min(number, n), n - 1.0
        se = _least_se(abs(float(block.difference[row])), df, number)
    known = (se, df) if math.isfinite(se) and se > 0.0 else (None, None)
    return Test(None, None, se=known[0], df=known[1], units=n, differing=differing, sentences=number)


def _least_se(size: float, df: float, sentences: int) -> float:
    """Return the standard error at which a difference of this size has the least two-sided p, 2^(1-d)."""
    return size / _t(df, 2.0 * 0.5 ** min(sentences, 1000)) if sentences > 1 else math.nan


def by_t(test: Test, difference: float, favour: float, asked: Asked) -> Test:
    """Test a pair by Student's t, whose favour is the difference as the alternative counts it."""
    if not test.sentences:
        return _with_p(test._replace(se=None, df=None), 0.0, IDENTICAL, kind="exact")
    if test.units < 2 and test.sentences > 1:
        return test._replace(reason="shows no spread")
    log_least, log_p = (asked.sides - 1 - test.sentences) * LN2, 0.0
    if test.se is not None and test.df is not None:
        log_p = math.log(max(SMALLEST, asked.sides * float(special.stdtr(test.df, -favour / test.se))))
    elif favour > 0:
        log_p = log_least
    if log_p < log_least:
        se = _least_se(abs(difference), test.df or 1.0, test.sentences)
        log_p, test = log_least, test._replace(se=se) if math.isfinite(se) else test._replace(se=None, df=None)
    if test.units < 2 and test.difference is None:
        return _with_p(test, log_p, LISTED, kind="exact")  # one sentence has two swaps
    return _with_p(test, log_p, T, kind="t")


def _exact(
    units: Contributions, pair: tuple[int, int], block: Block, row: int, favour: float, asked: Asked
) -> tuple[float, str] | None:
    """Return ln p where it can be computed exactly within the budget of a pair, and how."""
    differ = block.differ[row]
    differing = int(differ.sum())
    if not differing:
        return 0.0, IDENTICAL
    if asked.sides > 1 and favour == 0.0:
        return 0.0, "no difference"
    if asked.shuffles:
        return None
    tail, how = math.nan, LISTED
    whole = units.whole_differences(*pair) if block.is_sum[row] else None
    differences = None if whole is None else signs.differences_of(whole)
    if differences is not None and differences.additions <= signs.MOST_ADDITIONS:
        observed = abs(differences.observed) * (1 if favour > 0 else -1)
        tail, how = signs.log_exact_tail(differences, observed), "exact law of a sum"
    elif block.is_sum[row] and differing <= signs.LISTED:
        tail = signs.log_listed_tail(block.e[row][differ], favour)
    elif differing <= SWAPPED:
        tail = signs.log_share(units.swapped(*pair, differ), favour)
    return None if math.isnan(tail) else (math.log(asked.sides) + tail, how)


def _inexact(e: FloatArray, favours: FloatArray, asked: Asked) -> FloatArray:
    """Compute ln p by the formula, or as (b + 1) / (R + 1) under R random signs (Phipson & Smyth 2010).

    Args:
        e: of the units of some pairs, (m, n).
        favours: of these pairs on each of k sides, (k, m).
        asked: how many sides p has, and the shuffles.
    """
    if not asked.shuffles:
        return math.log(asked.sides) + signs.log_upper_tails(e, favours)
    reached = [signs.drawn_counts(e, x, asked.shuffles, asked.seed, two_sided=asked.sides > 1) for x in favours]
    return np.asarray(np.log((np.array(reached) + 1) / (asked.shuffles + 1)))


class Interval(NamedTuple):
    """An interval of a score or a difference.

    Attributes:
        low, high: an infinite end is unbounded; NaN where the score is undefined in too many resamples.
        method: in words.
        value: the difference that it is of.
    """

    low: float
    high: float
    method: str
    value: float = math.nan

    def holding(self, other: Interval) -> Interval:
        """Return the interval widened so that it holds another."""
        return self._replace(low=min(self.low, other.low), high=max(self.high, other.high))


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
    found: list[list[Interval | None]] = [[None] * len(pairs) for _ in levels]
    score = units.sample.score
    width = math.inf if score.high is None else score.high - score.low
    for chosen, block in units.blocks(pairs):
        of_block = [tests[index] for index in chosen]
        ends = _sign_ends(block, of_block, np.array([level[chosen] for level in levels]), width)
        for row, index in enumerate(chosen):
            test = tests[index]
            d = float(block.difference[row]) if test.difference is None else test.difference
            if not test.differing or test.reason or (d == 0.0 and test.se is None):
                continue
            for number, level in enumerate(levels):
                low, high, method = *ends.get((number, row), (-math.inf, math.inf)), SIGNS
                if not test.by_signs:
                    half = math.inf if test.se is None or test.df is None else _t(test.df, level[index]) * test.se
                    low, high, method = d - half, d + half, STUDENT_T
                found[number][index] = Interval(max(low, -width), min(high, width), method, d)
    return found


def _t(df: float, level: float) -> float:
    """Return the quantile of Student's t that is passed in size with a chance of `level`."""
    return -float(special.stdtrit(df, 0.5 * level))


def _sign_ends(
    block: Block, tests: Sequence[Test], levels: FloatArray, width: float
) -> Mapping[tuple[int, int], tuple[float, float]]:
    """Return the bounded ends at levels (k, m) of those rows of a block that fall under the law of signs."""
    ends = {}
    least = np.array([2.0 ** (1 - test.units) if test.by_signs else math.inf for test in tests])
    short = np.array([test.units <= signs.LISTED for test in tests])
    for row in np.flatnonzero(short & (levels >= least).any(axis=0)).tolist():
        held, numbers = block.w[row] > 0, np.flatnonzero(levels[:, row] >= least[row])
        e, w = block.e[row][held], block.w[row][held]
        listed = signs.listed_ends(e, w, float(block.difference[row]), levels[numbers, row])
        ends.update({(int(number), row): pair for number, pair in zip(numbers, listed, strict=True)})
    numbers, rows = np.nonzero(~short & (levels >= least))
    if len(rows):
        known = [(test.df, test.se) if test.df and test.se else None for test in tests]
        asked = list(zip(numbers.tolist(), rows.tolist(), strict=True))
        start = [
            1e-3 if (spread := known[row]) is None else _t(spread[0], levels[at, row]) * spread[1] for at, row in asked
        ]
        most = (np.abs(block.difference) + width)[rows]
        low, high = signs.inverted_ends(
            block.e, block.w, block.difference, rows, levels[numbers, rows], np.array(start), most
        )
        ends.update(zip(asked, zip(low.tolist(), high.tolist(), strict=True), strict=True))
    return ends


def guarded(interval: Interval | None, *, leaves_out: bool) -> Interval | None:
    """Return an interval that leaves out 0 exactly where the decision does: rounding may let them disagree."""
    if interval is None:
        return None
    size = abs(interval.value)
    low, high = (0.0 if abs(end) <= _AT_ZERO * size else end for end in (interval.low, interval.high))
    if interval.value > 0 and leaves_out != (low > 0):
        low = _BEYOND * size if leaves_out else 0.0
    elif interval.value < 0 and leaves_out != (high < 0):
        high = -_BEYOND * size if leaves_out else 0.0
    return interval._replace(low=low, high=high)


def detectable(tests: Sequence[Test], levels: FloatArray, power: float, sides: int) -> FloatArray:
    """Return the differences that tests at these levels find with a power, (m,); NaN where the units show no spread."""
    se, df = (np.array([math.nan if each is None else each for each in column]) for column in zip(
        *((test.se, test.df) for test in tests), strict=True)) if tests else (np.zeros(0), np.zeros(0))  # fmt: skip
    known = np.isfinite(df)
    found = np.full(len(tests), np.nan)
    found[known] = noncentrality(df[known], -special.stdtrit(df[known], levels[known] / sides), power) * se[known]
    return found


def noncentrality(df: FloatArray, q: FloatArray, power: float) -> FloatArray:
    """Solve P(T'_(df, δ) >= q) = power for δ, (m,), by bisection near q √(χ² / df), its limit for large q."""
    found = q * np.sqrt(special.chdtri(df, 1.0 - power) / df)
    near = q < 1500.0  # beyond, the limit is off by 2e-7, and nctdtr is slow
    df, q, low, high = df[near], q[near], np.maximum(0.0, 0.99 * found[near] - 5.0), 1.01 * found[near] + 5.0
    for _ in range(34):
        middle = 0.5 * (low + high)
        above = special.nctdtr(df, middle, q) > 1.0 - power
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    found[near] = 0.5 * (low + high)
    return np.asarray(found)


def margin_tests(
    units: Contributions, pairs: Sequence[tuple[int, int]], margin: float, asked: Asked
) -> list[tuple[float, float]]:
    """Test of each pair the first system, then the second: that it is not worse than the other by the margin.

    Args:
        units: of all systems.
        pairs: of systems.
        margin: δ > 0, in score units.
        asked: the law.

    Returns:
        For each pair both one-sided p.
    """
    found = []
    for _, block in units.blocks(pairs):
        for row, n in enumerate(block.spread.units.tolist()):
            se, df = float(block.spread.se[row]), float(block.spread.df[row])
            held = block.w[row] > 0
            sides = []
            for sign in (units.sample.score.sign, -units.sample.score.sign):
                moved = sign * block.e[row][held] + margin * block.w[row][held]
                x = sign * float(block.difference[row]) + margin
                sides.append(math.exp(signs.log_upper_tail(moved, x)) if asked.by_signs(n) else margin_by_t(x, se, df))
            found.append((sides[0], sides[1]))
    return found


def margin_by_t(x: float, se: float, df: float) -> float:
    """Return P(t_df >= x / se); of no spread whether x is below 0; 1 where the units do not tell se or df."""
    if se == 0:
        return float(x <= 0)
    return 1.0 if math.isnan(se) or math.isnan(df) else float(special.stdtr(df, -x / se))


class RunsTest(NamedTuple):
    """The test of one pair, and the terms of its formula.

    Attributes:
        test: p, the difference D that is tested, its standard error √V and df.
        v_units: the variance of D over units.
        v_runs: its variance over training runs.
    """

    test: Test
    v_units: float
    v_runs: float

    def document(self) -> dict[str, Json]:
        """Return the member of a pair's document."""
        v_units = self.v_units if math.isfinite(self.v_units) else None  # one unit alone shows no spread
        return {"runs_test": {"v_units": v_units, "v_runs": self.v_runs, "df": self.test.df}}

    def margin_p(self, margin: float, better: float) -> tuple[float, float]:
        """Return for the first and the second system the one-sided p of "not worse by the margin"."""
        favour = better * (self.test.difference or 0.0)
        se, df = math.sqrt(self.v_units + self.v_runs), self.test.df or math.nan
        return margin_by_t(favour + margin, se, df), margin_by_t(margin - favour, se, df)


def by_runs(
    units: Contributions,
    pairs: Sequence[tuple[int, int]],
    scores: Mapping[int, FloatArray],
    asked: Asked,
    sentences: Sample | None = None,
) -> list[RunsTest]:
    """Test pairs over training runs and units; arguments as of `by_law`, and the scores of each run."""
    found = []
    for chosen, block in units.blocks(pairs):
        for row, index in enumerate(chosen):
            v_units = float(block.spread.se[row]) ** 2
            terms = [(v_units, float(block.spread.df[row]))]
            of_runs = [scores[system] for system in pairs[index]]
            terms += [(float((each - each[0]).var(ddof=1)) / len(each), len(each) - 1.0) for each in of_runs]
            variance, weighed = sum(v for v, _ in terms), sum(v * v / df for v, df in terms if v)
            difference = float(of_runs[0].mean() - of_runs[1].mean())
            se, df = (math.sqrt(variance), variance**2 / weighed) if variance > 0 else (None, None)
            test = spread_test(block, row, pairs[index], sentences or units.sample)._replace(
                se=se, df=df, difference=difference
            )
            test = by_t(test, difference, asked.favour(units.sample.score, difference), asked)
            found.append(RunsTest(test, v_units, sum(v for v, _ in terms[1:])))
    return found
