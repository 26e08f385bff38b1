"""Ranks with ties, rank ranges and clusters from significant differences, and the sizes of differences."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray
from treescore.core.scores import Score
from treescore.significance.other_tests import right_answers
from treescore.significance.question import Question
from treescore.significance.settings import ROUNDING

if TYPE_CHECKING:
    from treescore.core.params import Json

DEFINITIONS = {
    "separable": "separable: a boundary lies below rank r iff every system above differs from every system below at "
    "alpha after correction",
    "greedy": "greedy: a new cluster begins at the first system that differs at alpha after correction from a member "
    "of the cluster above",
}


def ranked_values(question: Question) -> tuple[FloatArray, bool]:
    """Return what systems are ranked by, (N,), NaN where the score is undefined, and whether more of it is better.

    It is the score, but under McNemar's test the share of units (tokens) right as a whole, which alone is tested.
    """
    if question.settings.test != "mcnemar" or not question.sample.units:
        return question.values, question.sample.score.higher_is_better
    bits = [candidate.tokens for candidate in question.candidates] if question.unit == "token" else None
    shares = right_answers(question.sample, bits).mean(axis=1)
    return np.where(np.isfinite(question.values), shares, np.nan), True


def better_of(question: Question, difference: float) -> str | None:
    """Tell which of a pair, a or b, is better by the difference that was tested; None where neither is."""
    if not math.isfinite(difference) or difference == 0:
        return None
    more_is_better = question.settings.test == "mcnemar" or question.sample.score.higher_is_better
    return "a" if (difference > 0) == more_is_better else "b"


def order_in(question: Question) -> list[int]:
    """Return the systems with a score from best to worst, as indices; equal ones in the order given."""
    values, higher_is_better = ranked_values(question)
    order = np.argsort(-values if higher_is_better else values, kind="stable")
    return [int(index) for index in order if math.isfinite(question.values[index])]


def ranks_of(ordered: FloatArray) -> list[int]:
    """Return ranks of values ordered from best to worst: equal values share the best of theirs (1, 2, 2, 4)."""
    ranks: list[int] = []
    for index, value in enumerate(ordered):
        ranks.append(ranks[-1] if index and value == ordered[index - 1] else index + 1)
    return ranks


def rank_ranges(better: BoolArray, ranked: int | None = None) -> list[list[int]]:
    """Return rank ranges: from 1 + the systems significantly better to R - the systems significantly worse.

    Args:
        better: (N, N), whether the row's system is significantly better than the column's.
        ranked: R, all systems with a rank, with those that were not tested; N unless given.
    """
    size = len(better)
    lowest = size if ranked is None else ranked
    return [[1 + int(better[:, system].sum()), lowest - int(better[system].sum())] for system in range(size)]


def separable(better: BoolArray) -> list[int]:
    """Return cluster numbers of systems ordered from best to worst: a line is drawn where all above beat all below."""
    size = len(better)
    lines = [1, *(int(better[:index, index:].all()) for index in range(1, size))]
    return list(accumulate(lines[:size]))


def greedy(better: BoolArray) -> list[int]:
    """Return cluster numbers as mt-metrics-eval does: a cluster ends where one of its members beats the next."""
    clusters: list[int] = []
    for index in range(len(better)):
        ends = [row for row, cluster in enumerate(clusters) if cluster == clusters[-1] and better[row, index]]
        clusters.append((clusters[-1] if clusters else 1) + bool(ends))
    return clusters


def effect_document(score: Score, a: tuple[float, FloatArray], b: tuple[float, FloatArray]) -> dict[str, Json]:
    """Compute relative error reduction, units won, tied and lost, and the standardised mean difference of units.

    Args:
        score: whose values these are.
        a: the first system's score, and that of each unit by itself, (n,), NaN where undefined; such units are ties.
        b: the second's.
    """
    (value_a, units_a), (value_b, units_b) = a, b
    differences = np.nan_to_num(units_a - units_b)
    better = score.sign * differences
    # equal unit scores may differ in the last bit where terms are real
    won = int((better > ROUNDING).sum())
    lost = int((better < -ROUNDING).sum())
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return {
        "relative_error_reduction": error_reduction(score, value_a, value_b),
        "units_won": won,
        "units_tied": len(differences) - won - lost,
        "units_lost": lost,
        "d_z": float(differences.mean()) / spread if spread > 0 else None,
    }


def error_reduction(score: Score, value_a: float, value_b: float) -> float | None:
    """Return the share of b's error that a avoids; None where the score has no best value or b makes no error."""
    if score.best is None:
        return None
    error_a, error_b = abs(score.best - value_a), abs(score.best - value_b)
    reduction = (error_b - error_a) / error_b if error_b > 0 else math.nan
    return reduction if math.isfinite(reduction) else None
