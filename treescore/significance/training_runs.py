"""The test of two systems with several training runs each: t over runs and units.

Its question is the difference of expected scores over further training runs and further test units. Swapping pooled
counts takes the trained models as fixed, and calls up to a third of true nulls significant where models of one method
differ from run to run (Bouthillier et al. 2021). Here both sources of variance are added, with Welch's degrees of
freedom (Welch 1947).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.core.params import Json
from treescore.errors import InputError, Problem
from treescore.significance.bootstrap import Interval, jackknife_scores
from treescore.significance.permutation import SMALLEST, Test, smallest_p
from treescore.significance.question import Candidate, Question
from treescore.significance.settings import Settings
from treescore.significance.units import Sample

FEWEST = 2
"""Runs, or units of a part, from which on their variance can be estimated."""
HOW = "t over training runs and test units (Welch 1947)"
UNDEFINED = "the score of a training run is undefined: "
INTERVAL = "t over training runs and test units"
BOTH_VARY = "Runs and test units both vary."
ONE_EACH = "One training run each: the claim is about these trained models, not the method."
FIXED = "Training runs are taken as fixed: the claim is about these trained models, not the method."
PARTLY_FIXED = (
    "Pairs with a system of one training run take runs as fixed: there the claim is about these trained models, not "
    "the method."
)


@dataclass(frozen=True, slots=True)
class RunsTest:
    """The test of one pair, and the terms of its formula.

    Attributes:
        test: p, the difference D that is tested, and the interval D +- t sqrt(V).
        v_units: V_u, the variance of D over units.
        v_runs: V_A + V_B, its variance over training runs.
        df: degrees of freedom; None where V is 0.
    """

    test: Test
    v_units: float
    v_runs: float
    df: float | None

    def document(self) -> dict[str, Json]:
        """Return the member of a pair's document."""
        return {"runs_test": {"v_units": self.v_units, "v_runs": self.v_runs, "df": self.df}}


def welch(runs: Sample, of_first: int, differing: int, alternative: str, level: float) -> RunsTest | None:
    """Test the difference of expected scores over training runs and units; None where a run's score is undefined.

    f_sr: score of run r of system s, which has r_s runs; D: difference of their means; f_s: score of the summed runs.
    z_s,i = sum_r (m - f_s n) / sum_(r,i) n, d = z_A - z_B;
    V_u = n / (n - 1) sum_i (d_i - mean d)^2, V_s = var(f_s) / r_s (ddof 1), V = V_u + V_A + V_B;
    df = V^2 / (V_u^2 / (n - 1) + V_A^2 / (r_A - 1) + V_B^2 / (r_B - 1));
    p = 2 P(t_df >= |D| / sqrt(V)), one-sided P(t_df >= D / sqrt(V)) with D in favour of the alternative, but at least
    the smallest p of a swap test over the units that differ; the interval is D +- t_df sqrt(V).

    In a macro average V_u is the sum over its parts of the same with f_s, z and n of the part, / P^2, and each part's
    V_u^2 / (n - 1) enters df. The difference e of a part of one unit shows no spread; under the null its mean is 0, so
    that (e / P)^2 estimates its variance, with one degree of freedom, as when the part is swapped as a whole. A part
    that a system lacks is one unit.

    z of a score of several ratios is what the score loses without unit i (the jackknife's influence, Efron & Stein
    1981), which for one ratio is the formula above but for a factor 1 + O(1 / n).

    Args:
        runs: the terms of all runs by unit, the first system's runs before the second's.
        of_first: runs of the first system, r_A; it has two or more, and so has the second.
        differing: units in which the systems' pooled counts differ.
        alternative: two-sided, greater (the first is better), less.
        level: of the interval.
    """
    values = runs.values()
    if not np.isfinite(values).all():
        return None
    of_systems = (values[:of_first], values[of_first:])
    difference = float(of_systems[0].mean() - of_systems[1].mean())
    of_units = _unit_variances(_summed(runs, of_first))
    of_runs = [(_variance(scores) / len(scores), len(scores) - 1) for scores in of_systems]
    v_units, v_runs = (sum(v for v, _ in terms) for terms in (of_units, of_runs))
    variance = v_units + v_runs
    smallest = smallest_p(differing, alternative)
    if not variance:
        p = smallest if _in_favour(runs, difference, alternative) > 0 else 1.0
        test = Test(p, None, HOW, differing=differing, smallest=smallest, difference=difference)
        return RunsTest(test, v_units, v_runs, None)
    df = variance**2 / sum(v * v / freedom for v, freedom in (*of_units, *of_runs) if v)
    spread = math.sqrt(variance)
    tail = float(stdtr(df, -_in_favour(runs, difference, alternative) / spread))
    p = min(1.0, max(smallest, SMALLEST, 2.0 * tail if alternative == "two-sided" else tail))
    margin = float(stdtrit(df, 0.5 * (1.0 + level))) * spread
    interval = Interval(difference - margin, difference + margin, INTERVAL)
    test = Test(p, None, HOW, differing=differing, smallest=smallest, difference=difference, ci=interval)
    return RunsTest(test, v_units, v_runs, df)


def vary(question: Question, first: int, second: int) -> bool:
    """Tell whether the training runs of two systems are taken as random: both have two or more."""
    settings = question.settings
    counts = [len(question.candidates[system].runs) for system in (first, second)]
    return settings.runs == "random" and settings.test == "permutation" and min(counts) >= FEWEST


def with_undefined_run(question: Question) -> set[int]:
    """Find the systems with a run that has no score: without it the spread of the runs is unknown."""
    found = set()
    for index, candidate in enumerate(question.candidates):
        if len(candidate.runs) >= FEWEST:
            runs = question.terms.sample([candidate] * len(candidate.runs), candidate.runs)
            if not np.isfinite(runs.values()).all():
                found.add(index)
    return found


def runs_test(question: Question, first: int, second: int) -> RunsTest:
    """Test a pair whose runs vary and all have a score."""
    settings = question.settings
    differing = int(question.sample.differing_units(first, second).sum())
    of_first = len(question.candidates[first].runs)
    found = welch(_runs_of(question, first, second), of_first, differing, settings.alternative, settings.level)
    assert found is not None  # noqa: S101 - pairs with an undefined run are not asked
    return found


def part_p(question: Question, first: int, second: int) -> dict[str, list[float]]:
    """Return the one-sided p of each part over runs and units, in both directions; 1 where a run has no score."""
    runs, of_first = _runs_of(question, first, second), len(question.candidates[first].runs)
    found: dict[str, list[float]] = {"greater": [], "less": []}
    for part in range(runs.part_count):
        differing = int(question.sample.part(part).differing_units(first, second).sum())
        for alternative, of_parts in found.items():
            test = welch(runs.part(part), of_first, differing, alternative, question.settings.level)
            of_parts.append(1.0 if test is None or test.test.p is None else test.test.p)
    return found


def assumed(question: Question) -> str:
    """Say what is taken of training runs."""
    if all(len(candidate.runs) < FEWEST for candidate in question.candidates):
        return ONE_EACH
    varying = [vary(question, first, second) for first, second in question.pairs]
    if not any(varying):
        return FIXED
    return BOTH_VARY if all(varying) else f"{BOTH_VARY} {PARTLY_FIXED}"


def require_runs(candidates: Sequence[Candidate], settings: Settings) -> None:
    """Refuse runs that are asked to be random where every system has one.

    Raises:
        InputError: no system has two runs (pointer /runs).
    """
    if settings.runs_required and all(len(candidate.runs) < FEWEST for candidate in candidates):
        raise InputError(no_runs())


def no_runs() -> Problem:
    """Return the problem of `runs: random` where no system has two runs."""
    detail = (
        'The setting runs "random" needs a system with two training runs or more: name the system of which an output '
        "is a further run by run_of. Or leave out runs."
    )
    return Problem("no-training-runs", detail, pointer="/runs")


def _runs_of(question: Question, first: int, second: int) -> Sample:
    """Return the terms of all runs of two systems by unit, the first system's before the second's."""
    a, b = question.candidates[first], question.candidates[second]
    return question.terms.sample([a] * len(a.runs) + [b] * len(b.runs), [*a.runs, *b.runs])


def _in_favour(runs: Sample, difference: float, alternative: str) -> float:
    """Return D as the alternative counts it: its size where two-sided, else positive where it is in its favour."""
    if alternative == "two-sided":
        return abs(difference)
    better = difference if runs.score.higher_is_better else -difference
    return better if alternative == "greater" else -better


def _variance(scores: FloatArray) -> float:
    """Return the variance (ddof 1) of scores (r,); exactly 0 where they are equal."""
    return float((scores - scores[0]).var(ddof=1))


def _summed(runs: Sample, of_first: int) -> Sample:
    """Return the two systems' terms, summed over their runs: (2, n)."""

    def summed(terms: Counts) -> Counts:
        return np.stack([terms[:of_first].sum(axis=0), terms[of_first:].sum(axis=0)])

    missing = None if runs.missing is None else runs.missing[[0, of_first]]
    tops, bottoms = (tuple(map(summed, terms)) for terms in (runs.tops, runs.bottoms))
    return Sample(runs.score, tops, bottoms, runs.parts, runs.part_count, missing)


def _unit_variances(systems: Sample) -> list[tuple[float, int]]:
    """Return V_u and degrees of freedom of each part, or of the one that all units are."""
    z = _influences(systems)
    d = z[0] - z[1]
    strata, parts = _strata(systems)
    sizes = np.bincount(strata, minlength=parts)
    means = np.bincount(strata, weights=d, minlength=parts) / np.maximum(sizes, 1)
    squares = np.bincount(strata, weights=(d - means[strata]) ** 2, minlength=parts)
    values = systems.part_values()
    whole = sizes < FEWEST if systems.missing is None else (sizes < FEWEST) | systems.missing.any(axis=0)
    variances = []
    for part, size in enumerate(sizes.tolist()):
        if whole[part]:
            variances.append((float((values[0, part] - values[1, part]) / parts) ** 2, 1))
        else:
            variances.append((size / (size - 1) * float(squares[part]), size - 1))
    return variances


def _influences(systems: Sample) -> FloatArray:
    """Return z, (2, n): what each unit adds to the score of each system, 0 on average within a part."""
    if systems.score.join is not None:
        return np.asarray(systems.values()[:, None] - jackknife_scores(systems), np.float64)
    top, bottom = systems.tops[0].astype(np.float64), systems.bottoms[0].astype(np.float64)
    strata, parts = _strata(systems)
    tops, bottoms = systems.summed(systems.tops[0]), systems.summed(systems.bottoms[0])
    sums = np.where(bottoms == 0, 1.0, bottoms)
    score = (tops / sums)[:, strata]
    z = (top - score * bottom) / (sums[:, strata] * parts)
    return np.asarray(-z if systems.score.ratios[0].one_minus else z, np.float64)


def _strata(systems: Sample) -> tuple[IntArray, int]:
    """Return the part of each unit, (n,), and the number of parts; one part unless the score is a mean of parts."""
    if systems.parts is None:
        return np.zeros(systems.units, np.int64), 1
    return systems.parts, systems.part_count
