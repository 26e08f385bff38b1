"""The t over runs and units of two systems with several training runs each.

Its question is the difference of expected scores over further training runs and further test units. Swapping pooled
counts takes the trained models as fixed, and calls up to a third of true nulls significant where models of one method
differ from run to run (Bouthillier et al. 2021). Here both sources of variance are added, with Welch's degrees of
freedom (Welch 1947).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from treescore.core.arrays import BoolArray, Counts, FloatArray, IntArray
from treescore.core.params import Json
from treescore.significance.bootstrap import Interval
from treescore.significance.constants import SMALLEST
from treescore.significance.influence import influences
from treescore.significance.permutation import Test, smallest_p
from treescore.significance.units import Sample

FEWEST_FOR_SPREAD = 2
"""Runs, or units of a part, from which on their variance can be estimated."""
HOW = "t over training runs and test units (Welch 1947)"
INTERVAL = "t over training runs and test units"


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
    summed = _summed(sample)
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
        test = Test(p, None, HOW, differing=differing, smallest=smallest, difference=difference)
        return RunsTest(test, v_units, v_runs, None)
    df = variance**2 / sum(v * v / freedom for v, freedom in (*of_units, *of_runs) if v)
    spread = math.sqrt(variance)
    tail = float(stdtr(df, -favour / spread))
    p = min(1.0, max(smallest, SMALLEST, 2.0 * tail if alternative == "two-sided" else tail))
    margin = float(stdtrit(df, 0.5 * (1.0 + level))) * spread
    interval = Interval(difference - margin, difference + margin, INTERVAL)
    test = Test(p, None, HOW, differing=differing, smallest=smallest, difference=difference, ci=interval)
    return RunsTest(test, v_units, v_runs, df)


def _in_favour(better: float, alternative: str) -> float:
    """Return D as the alternative counts it: its size where two-sided, else positive where it is in its favour."""
    return {"two-sided": abs(better), "greater": better, "less": -better}[alternative]


def _variance(scores: FloatArray) -> float:
    """Return the variance (ddof 1) of scores (r,); exactly 0 where they are equal."""
    return float((scores - scores[0]).var(ddof=1))


def _summed(runs: Sample) -> Sample:
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
