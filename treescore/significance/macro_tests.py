"""Tests of all pairs of a macro average, within budgets that are reckoned before starting, never by a clock.

Every pair is listed where few units differ, else inverted. Then the true T is sampled where inversion is not sure
enough, those p first that lie nearest to the decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.significance import macro, signed_sums
from treescore.significance.exact_ratios import LISTED_UNITS
from treescore.significance.exact_sums import ADDITIONS, MAX_ADDITIONS, TooLargeError, exact_p
from treescore.significance.families import adjusted
from treescore.significance.kernels import THREADS, in_threads

INVERTED_KINDS = 4e7
"""Kinds that all pairs together may invert (some 0.3 microseconds each, 12 s); pairs with more than their share have
Lugannani & Rice's p, unless it may decide."""
SAMPLED_WORK = 6e8
"""Draws times kinds of all pairs together (some 5 nanoseconds each, 3 s) where few units differ or p is not sure."""
NEAR_WORK = 6e9
"""Draws times kinds of all pairs together (some 5 nanoseconds each, 30 s) where the decision turns."""
NEAR_DRAWS = 200_000
"""Draws where the decision turns: a relative standard error of about 0.4 %."""
FEWEST_DRAWS = 5_000
"""Draws below which inversion is surer: their relative standard error is about 2 %."""
STEP_DRAWS = 1_000
"""Draws are given in steps of this, and one step in any case where T is not the formula."""
NEAR = 1.5
"""The decision may turn on an adjusted p within this factor of alpha."""
DECIDES = 100.0
"""An adjusted p within this factor of alpha is inverted also beyond the pair's share of the budget."""
MOST_ERROR = 0.05
"""An inverted p with a larger relative error is sampled."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the tests serve, and how long they may take.

    Attributes:
        alternative: two-sided, greater, less.
        alpha: the level of the decision.
        correction: over the family.
        family: pairs of it; 1 where each pair stands alone.
        seed: of the draws.
        share: of the budgets.
        sampled_below: units below which p is sampled, since inversion does not see the steps of a lattice.
    """

    alternative: str
    alpha: float
    correction: str
    family: int
    seed: int
    share: float = 1.0
    sampled_below: int = signed_sums.SAMPLED_BELOW


class Answer(NamedTuple):
    """The p of one pair: its tail, kind (exact, inversion, sampled), method in words, differing units and kinds."""

    tail: signed_sums.Tail
    kind: str
    how: str
    units: int
    kinds: int
    undefined: bool = False


def macro_answers(parts: macro.Parts, pairs: Sequence[tuple[int, int]], decision: Decision) -> list[Answer]:
    """Test each pair of systems, in order; the same for any number of threads."""
    answers = sure_answers(parts, pairs, decision)
    _redo(parts, pairs, answers, _near_samplings(answers, decision), decision)
    return answers


def sure_answers(parts: macro.Parts, pairs: Sequence[tuple[int, int]], decision: Decision) -> list[Answer]:
    """Do the same, but draw for those p alone that are not sure otherwise, not for those near the decision too."""
    share = decision.share / max(1, len(pairs))

    def first(pair: tuple[int, int]) -> Answer:
        return _first_answer(macro.macro_pair(parts, *pair), decision.alternative, share)

    answers = in_threads(first, pairs, THREADS)
    _redo(parts, pairs, answers, _inversions(answers, decision), decision)
    _redo(parts, pairs, answers, _samplings(answers, decision), decision)
    return answers


def _first_answer(pair: macro.MacroPair, alternative: str, share: float) -> Answer:
    kinds = len(pair.kinds.e)
    if not pair.units:
        return Answer(signed_sums.Tail(1.0, 0.0, None), "exact", signed_sums.HOW_SAME, 0, 0)
    if alternative == "two-sided" and pair.difference == 0.0:
        return Answer(signed_sums.Tail(1.0, 0.0, None), "exact", "no difference", pair.units, kinds)
    if pair.units <= LISTED_UNITS:
        p = macro.listed_p(pair, alternative)
        return Answer(signed_sums.Tail(p, math.log(p), None), "exact", signed_sums.HOW_LISTED, pair.units, kinds)
    whole = macro.whole_differences(pair)
    if whole is not None:
        try:
            p, log_p = exact_p(whole, alternative, min(MAX_ADDITIONS, ADDITIONS * share))
            return Answer(signed_sums.Tail(p, log_p, None), "exact", signed_sums.HOW_SUM_LAW, pair.units, kinds)
        except TooLargeError:
            pass
    if kinds <= INVERTED_KINDS * share:
        return _inverted(pair, alternative)
    tail = macro.normal_tail(pair, alternative)
    return Answer(tail, "inversion", signed_sums.HOW_NORMAL, pair.units, kinds, pair.undefined)


def _inverted(pair: macro.MacroPair, alternative: str) -> Answer:
    tail = macro.inverted_p(pair, alternative)
    return Answer(tail, "inversion", signed_sums.HOW_INVERTED, pair.units, len(pair.kinds.e), pair.undefined)


def _inversions(answers: Sequence[Answer], decision: Decision) -> dict[int, int]:
    """Choose the pairs that go beyond their share of the budget, and may decide."""
    distances = _distances(answers, decision)
    normal = [index for index, answer in enumerate(answers) if answer.how == signed_sums.HOW_NORMAL]
    near = [index for index in normal if distances[index] <= math.log(DECIDES)]
    return _within_budget(near, distances, [answers[index].kinds for index in near], INVERTED_KINDS * decision.share)


def _samplings(answers: Sequence[Answer], decision: Decision) -> dict[int, int]:
    """Choose the pairs for which inversion is not sure enough: draws by their index."""
    distances = _distances(answers, decision)
    unsure = [
        index
        for index, answer in enumerate(answers)
        if answer.kind == "inversion"
        and (answer.units < decision.sampled_below or answer.undefined or (answer.tail.error or 0.0) > MOST_ERROR)
    ]
    return _draws(answers, unsure, distances, (FEWEST_DRAWS, signed_sums.DRAWS), SAMPLED_WORK * decision.share)


def _near_samplings(answers: Sequence[Answer], decision: Decision) -> dict[int, int]:
    """Choose the pairs on which the decision may turn: draws by their index."""
    distances = _distances(answers, decision)
    near = [
        index
        for index, answer in enumerate(answers)
        if answer.kind != "exact" and distances[index] <= math.log(NEAR) and answer.units > LISTED_UNITS
    ]
    return _draws(answers, near, distances, (signed_sums.DRAWS + STEP_DRAWS, NEAR_DRAWS), NEAR_WORK * decision.share)


def _draws(
    answers: Sequence[Answer], chosen: Sequence[int], distances: FloatArray, draws: tuple[int, int], work: float
) -> dict[int, int]:
    """Share out draws, nearest to the decision first, to each between the fewest and the most of `draws`.

    A T that is not the formula has no other p, so that one step of draws is given in any case.
    """
    fewest, most = draws
    result: dict[int, int] = {}
    for index in sorted(chosen, key=lambda index: (distances[index], index)):
        answer = answers[index]
        affordable = int(min(most, work // max(1, answer.kinds)))
        affordable -= affordable % STEP_DRAWS
        if affordable < fewest:
            affordable = STEP_DRAWS if answer.undefined and answer.kind != "sampled" else 0
        if affordable:
            result[index] = affordable
            work -= affordable * answer.kinds
    return result


def _within_budget(chosen: Sequence[int], distances: FloatArray, costs: Sequence[int], budget: float) -> dict[int, int]:
    """Return those chosen, nearest to the decision first, whose costs together stay within the budget."""
    result: dict[int, int] = {}
    for distance, index, cost in sorted(zip(distances[list(chosen)], chosen, costs, strict=True)):
        budget -= cost
        if budget < 0:
            break
        del distance
        result[index] = 0
    return result


def _distances(answers: Sequence[Answer], decision: Decision) -> FloatArray:
    """Return how far each adjusted p is from alpha, as the size of the logarithm of their ratio."""
    p = np.array([max(answer.tail.p, 1e-300) for answer in answers])
    method = decision.correction if decision.family > 1 else "none"
    return np.asarray(np.abs(np.log(adjusted(p, method) / decision.alpha)), np.float64)


def _redo(
    parts: macro.Parts,
    pairs: Sequence[tuple[int, int]],
    answers: list[Answer],
    chosen: dict[int, int],
    decision: Decision,
) -> None:
    """Replace the answers of those chosen, by their draws, or by inversion where these are 0.

    Their kinds are made again: those of all pairs would fill the memory.
    """

    def answer(index: int) -> Answer:
        pair, draws = macro.macro_pair(parts, *pairs[index]), chosen[index]
        if not draws:
            return _inverted(pair, decision.alternative)
        tail = macro.sampled_p(pair, decision.alternative, decision.seed, draws)
        return Answer(tail, "sampled", signed_sums.how_sampled(draws), pair.units, len(pair.kinds.e), pair.undefined)

    indices = list(chosen)
    for index, new in zip(indices, in_threads(answer, indices, THREADS), strict=True):
        answers[index] = new
