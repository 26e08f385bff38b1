"""Training runs of systems: which pairs are tested over them, and their test.

The question is the difference of expected scores over further training runs and further test units. Swapping pooled
counts takes the trained models as fixed, and calls up to a third of true nulls significant where models of one method
differ from run to run (Bouthillier et al. 2021). Here both sources of variance are added, V = V_units + var(f_A) / r_A
+ var(f_B) / r_B over the scores f of r runs, with Welch's degrees of freedom (Welch 1947): Student's t at any number
of units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.core.params import Json
from treescore.errors import InputError, Problem
from treescore.significance.contributions import Contributions
from treescore.significance.law import Asked, Test, by_t, margin_by_t, spread_test
from treescore.significance.question import Candidate, Question
from treescore.significance.settings import Settings
from treescore.significance.units import Sample

FEWEST_FOR_SPREAD = 2
"""Runs from which on their variance can be estimated."""
UNDEFINED = "the score of a training run is undefined: "
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RunsTest:
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
        known = math.isfinite(self.v_units)  # one unit alone shows no spread
        v_units = self.v_units if known else None
        return {"runs_test": {"v_units": v_units, "v_runs": self.v_runs, "df": self.test.df}}

    def margin_p(self, margin: float, better: float) -> tuple[float, float]:
        """Return for the first and the second system the one-sided p of "not worse by the margin"."""
        favour = better * (self.test.difference or 0.0)
        se, df = math.sqrt(self.v_units + self.v_runs), self.test.df or math.nan
        return margin_by_t(favour + margin, se, df), margin_by_t(margin - favour, se, df)


def by_runs(
    units: Contributions,
    pairs: Sequence[Pair],
    scores: Mapping[int, FloatArray],
    asked: Asked,
    sentences: Sample | None = None,
) -> list[RunsTest]:
    """Test pairs over training runs and units; arguments as of `law.by_law`, and the scores of each run."""
    found = []
    for chosen, block in units.blocks(pairs):
        for row, index in enumerate(chosen):
            v_units = float(block.spread.se[row]) ** 2
            terms = [(v_units, float(block.spread.df[row]))]
            of_runs = [scores[system] for system in pairs[index]]
            terms += [(_variance(each) / len(each), len(each) - 1.0) for each in of_runs]
            variance, weighed = sum(v for v, _ in terms), sum(v * v / df for v, df in terms if v)
            difference = float(of_runs[0].mean() - of_runs[1].mean())
            se, df = (math.sqrt(variance), variance**2 / weighed) if variance > 0 else (None, None)
            test = replace(
                spread_test(block, row, pairs[index], sentences or units.sample), se=se, df=df, difference=difference
            )
            test = by_t(test, difference, asked.favour(units.sample.score, difference), asked)
            found.append(RunsTest(test, v_units, sum(v for v, _ in terms[1:])))
    return found


def _variance(scores: FloatArray) -> float:
    """Return the variance (ddof 1) of scores (r,); exactly 0 where they are equal."""
    return float((scores - scores[0]).var(ddof=1))


def run_scores(question: Question, system: int, part: int | None = None) -> FloatArray:
    """Return the score of each run of one system, over all units or in one part: (r,); NaN where undefined."""
    candidate = question.candidates[system]
    sample = question.terms.sample([candidate] * len(candidate.runs), candidate.runs)
    return (sample if part is None else sample.part(part)).values()


def varying(question: Question) -> list[Pair]:
    """Return the pairs whose training runs are taken as random: both systems have two or more, each with a score."""
    return [pair for pair in question.pairs if vary(question, *pair)]


def vary(question: Question, first: int, second: int) -> bool:
    """Tell whether the training runs of two systems are taken as random: both have two or more."""
    settings = question.settings
    counts = [len(question.candidates[system].runs) for system in (first, second)]
    return settings.runs == "random" and settings.by_law and min(counts) >= FEWEST_FOR_SPREAD


def with_undefined_run(question: Question) -> set[int]:
    """Find the systems with a run that has no score: without it the spread of the runs is unknown."""
    several = [index for index, candidate in enumerate(question.candidates) if len(candidate.runs) >= FEWEST_FOR_SPREAD]
    return {system for system in several if not np.isfinite(run_scores(question, system)).all()}


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
