"""Training runs of systems: which pairs are tested over them, their test, and what is then assumed.

The test is the t over runs and units of two systems with several training runs each. Its question is the difference of
expected scores over further training runs and further test units. Swapping pooled counts takes the trained models as
fixed, and calls up to a third of true nulls significant where models of one method differ from run to run (Bouthillier
et al. 2021). Here both sources of variance are added, with Welch's degrees of freedom (Welch 1947).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray
from treescore.core.params import Json
from treescore.errors import InputError, Problem
from treescore.significance.bootstrap import Interval
from treescore.significance.contributions import influences
from treescore.significance.permutation import Test, smallest_p
from treescore.significance.question import Candidate, Question
from treescore.significance.settings import SMALLEST, Settings
from treescore.significance.units import Sample

FEWEST_FOR_SPREAD = 2
"""Runs, or units of a part, from which on their variance can be estimated."""
RUNS_HOW = "t over training runs and test units (Welch 1947)"
RUNS_INTERVAL = "t over training runs and test units"


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


@dataclass(frozen=True, slots=True)
class Runs:
    """What the runs of one system add to the tests of its pairs.

    Attributes:
        scores: f_sr of each run, (r_s,), two or more.
        z: z_s,i of each unit, (n,).
        parts: the score of the summed runs in each part, (P,); one where the score is not a mean of parts.
        missing: parts without an output, (P,); None where there is an output for all.
        strata: part of each unit, int64 (n,).
        higher_is_better: of the score.
    """

    scores: FloatArray
    z: FloatArray
    parts: FloatArray
    missing: BoolArray | None
    strata: IntArray
    higher_is_better: bool


def runs_of(sample: Sample) -> Runs | None:
    """Return what the runs of one system add, from their terms by unit; None where a run has no score.

    With f_s the score of the summed runs, z_s,i = sum_r (m - f_s n) / sum_(r,i) n, in a macro average with f_s and n of
    the part, / P; for a score of several ratios the sum of theirs, weighted by its derivatives (the delta method).
    """
    scores = sample.values()
    if not np.isfinite(scores).all():
        return None
    summed = _summed_counts(sample)
    return Runs(
        scores=scores,
        z=influences(summed, 0),
        parts=summed.part_values()[0],
        missing=None if summed.missing is None else summed.missing[0],
        strata=sample.strata,
        higher_is_better=sample.score.higher_is_better,
    )


def welch(a: Runs, b: Runs, differing: int, alternative: str, level: float) -> RunsTest:
    """Test the difference of expected scores over training runs and units.

    D: difference of the means of f_sr; d = z_A - z_B;
    V_u = n / (n - 1) sum_i (d_i - mean d)^2, V_s = var(f_s) / r_s (ddof 1), V = V_u + V_A + V_B;
    df = V^2 / (V_u^2 / (n - 1) + V_A^2 / (r_A - 1) + V_B^2 / (r_B - 1));
    p = 2 P(t_df >= |D| / sqrt(V)), one-sided P(t_df >= D / sqrt(V)) with D in favour of the alternative, but at least
    the smallest p of a swap test over the units that differ; the interval is D +- t_df sqrt(V).

    In a macro average V_u is the sum of this over the parts (/ P^2, which z holds), and each part's V_u^2 / (n - 1)
    enters df. The difference e of a part of one unit shows no spread; under the null its mean is 0, so that (e / P)^2
    estimates its variance, with one degree of freedom, as when the part is swapped as a whole. A part that a system
    lacks is one unit.

    Args:
        a: the first system, over the same units as the second.
        b: the second.
        differing: units in which the systems' pooled counts differ.
        alternative: two-sided, greater (the first is better), less.
        level: of the interval.
    """
    difference = float(a.scores.mean() - b.scores.mean())
    of_units = _unit_variances(a, b)
    of_runs = [(_variance(runs.scores) / len(runs.scores), len(runs.scores) - 1) for runs in (a, b)]
    v_units, v_runs = (sum(v for v, _ in terms) for terms in (of_units, of_runs))
    variance = v_units + v_runs
    smallest = smallest_p(differing, alternative)
    favour = _in_favour(difference if a.higher_is_better else -difference, alternative)
    if not variance:
        p = smallest if favour > 0 else 1.0
        test = Test(p, None, RUNS_HOW, differing=differing, smallest=smallest, difference=difference)
        return RunsTest(test, v_units, v_runs, None)
    df = variance**2 / sum(v * v / freedom for v, freedom in (*of_units, *of_runs) if v)
    spread = math.sqrt(variance)
    tail = float(stdtr(df, -favour / spread))
    p = min(1.0, max(smallest, SMALLEST, 2.0 * tail if alternative == "two-sided" else tail))
    margin = float(stdtrit(df, 0.5 * (1.0 + level))) * spread
    interval = Interval(difference - margin, difference + margin, RUNS_INTERVAL)
    test = Test(p, None, RUNS_HOW, differing=differing, smallest=smallest, difference=difference, ci=interval)
    return RunsTest(test, v_units, v_runs, df)


def _in_favour(better: float, alternative: str) -> float:
    """Return D as the alternative counts it: its size where two-sided, else positive where it is in its favour."""
    return {"two-sided": abs(better), "greater": better, "less": -better}[alternative]


def _variance(scores: FloatArray) -> float:
    """Return the variance (ddof 1) of scores (r,); exactly 0 where they are equal."""
    return float((scores - scores[0]).var(ddof=1))


def _summed_counts(runs: Sample) -> Sample:
    """Return the terms summed over the runs, as a sample of one system."""

    def summed(terms: Counts) -> Counts:
        return np.asarray(terms.sum(axis=0, keepdims=True))

    missing = None if runs.missing is None else runs.missing[:1]
    tops, bottoms = (tuple(map(summed, terms)) for terms in (runs.tops, runs.bottoms))
    return Sample(runs.score, tops, bottoms, runs.parts, runs.part_count, missing)


def _unit_variances(a: Runs, b: Runs) -> list[tuple[float, int]]:
    """Return V_u and degrees of freedom of each part, or of the one that all units are."""
    d = a.z - b.z
    parts = len(a.parts)
    sizes = np.bincount(a.strata, minlength=parts)
    means = np.bincount(a.strata, weights=d, minlength=parts) / np.maximum(sizes, 1)
    squares = np.bincount(a.strata, weights=(d - means[a.strata]) ** 2, minlength=parts)
    whole = sizes < FEWEST_FOR_SPREAD
    for runs in (a, b):
        if runs.missing is not None:
            whole |= runs.missing
    return [
        (((a.parts[part] - b.parts[part]) / parts) ** 2, 1)
        if whole[part]
        else (size / (size - 1) * float(squares[part]), size - 1)
        for part, size in enumerate(sizes.tolist())
    ]


Pair = tuple[int, int]
PAIR = (0, 1)
"""The systems of a question about two."""
UNDEFINED = "the score of a training run is undefined: "
BOTH_VARY = "Runs and test units both vary."
ONE_EACH = "One training run each: the claim is about these trained models, not the method."
FIXED = "Training runs are taken as fixed: the claim is about these trained models, not the method."
PARTLY_FIXED = (
    "Pairs with a system of one training run take runs as fixed: there the claim is about these trained models, not "
    "the method."
)


def vary(question: Question, first: int, second: int) -> bool:
    """Tell whether the training runs of two systems are taken as random: both have two or more."""
    settings = question.settings
    counts = [len(question.candidates[system].runs) for system in (first, second)]
    return settings.runs == "random" and settings.test == "permutation" and min(counts) >= FEWEST_FOR_SPREAD


def with_undefined_run(question: Question) -> set[int]:
    """Find the systems with a run that has no score: without it the spread of the runs is unknown."""
    several = [index for index, candidate in enumerate(question.candidates) if len(candidate.runs) >= FEWEST_FOR_SPREAD]
    return {system for system in several if runs_of(_terms(question, system)) is None}


def runs_tests(question: Question) -> dict[Pair, RunsTest]:
    """Test the pairs whose runs vary; all of these have a score."""
    varying = [pair for pair in question.pairs if vary(question, *pair)]
    if question.units_by_pair and len(question.candidates) > len(PAIR):
        alone = {pair: runs_tests(question.alone(*pair)) for pair in varying}
        return {pair: found[PAIR] for pair, found in alone.items()}
    runs = _runs_by_system({system: _terms(question, system) for system in _systems_of_pairs(varying)})
    return _tested(question, varying, question.sample, runs, question.settings.alternative)


def part_p(question: Question) -> dict[Pair, dict[str, list[float]]]:
    """Return the one-sided p of each part over runs and units, in both directions; 1 where a run has no score there."""
    varying = [pair for pair in question.pairs if vary(question, *pair)]
    found: dict[Pair, dict[str, list[float]]] = {pair: {"greater": [], "less": []} for pair in varying}
    terms = {system: _terms(question, system) for system in _systems_of_pairs(varying)}
    for part in range(question.sample.part_count if varying else 0):
        sample = question.sample.part(part)
        runs = _runs_by_system({system: of_system.part(part) for system, of_system in terms.items()})
        usable = [pair for pair in varying if runs.keys() >= set(pair)]
        for alternative in ("greater", "less"):
            tests = _tested(question, usable, sample, runs, alternative)
            for pair, of_pair in found.items():
                p = tests[pair].test.p if pair in tests else None
                of_pair[alternative].append(1.0 if p is None else p)
    return found


def assumed(question: Question) -> str:
    """Say what is taken of training runs."""
    if all(len(candidate.runs) < FEWEST_FOR_SPREAD for candidate in question.candidates):
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
    if settings.runs_required and all(len(candidate.runs) < FEWEST_FOR_SPREAD for candidate in candidates):
        raise InputError(no_runs())


def no_runs() -> Problem:
    """Return the problem of `runs: random` where no system has two runs."""
    detail = (
        'The setting runs "random" needs a system with two training runs or more: name the system of which an output '
        "is a further run by run_of. Or leave out runs."
    )
    return Problem("no-training-runs", detail, pointer="/runs")


def _systems_of_pairs(pairs: Sequence[Pair]) -> list[int]:
    return sorted({system for pair in pairs for system in pair})


def _terms(question: Question, system: int) -> Sample:
    """Return the terms of all runs of a system by unit."""
    candidate = question.candidates[system]
    return question.terms.alone([candidate] * len(candidate.runs), candidate.runs, question.candidates)


def _runs_by_system(terms: dict[int, Sample]) -> dict[int, Runs]:
    """Return the runs of those systems of which each run has a score."""
    runs = {system: runs_of(of_system) for system, of_system in terms.items()}
    return {system: of_system for system, of_system in runs.items() if of_system is not None}


def _tested(
    question: Question, pairs: Sequence[Pair], sample: Sample, runs: dict[int, Runs], alternative: str
) -> dict[Pair, RunsTest]:
    found = {}
    for first, second in pairs:
        differing = int(sample.differing_units(first, second).sum())
        found[first, second] = welch(runs[first], runs[second], differing, alternative, question.settings.level)
    return found
