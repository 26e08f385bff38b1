"""The one-sided p of each part of a macro average by itself, for the partial conjunction over parts.

Exact as far as the budget allows. Beyond, a part of one ratio is inverted or drawn under a tilted law, as a macro
average of one part; a score that joins several ratios is shuffled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from treescore.significance import training_runs
from treescore.significance.constants import SMALLEST
from treescore.significance.macro import Parts, formula_holds, parts_of
from treescore.significance.macro_tests import Decision, sure_answers
from treescore.significance.permutation import ShufflePlan, Test, exact_tests, permutation
from treescore.significance.question import Question
from treescore.significance.units import Sample

PART_TESTS = 4_000
"""Limit of pairs times parts; up to it each part is tested by itself."""
ALONE_PART_TESTS = 40
"""Limit of parts where pairs have seeds of their own, so that the other pairs do not decide."""
SAMPLED_BELOW = 30
"""Units below which p is sampled where no exact law is affordable: at 18 units an inverted p was 7 % off.
The limits above leave room for as many draws as are surer, 5,000, over so few units."""
DIRECTIONS = ("greater", "less")


def tests_by_part(question: Question) -> list[dict[str, list[float]]] | None:
    """Compute for each pair the p of each part in both directions; None where pairs times parts are too many.

    A part in which the score of one of the two is undefined has p = 1.
    """
    sample, settings = question.sample, question.settings
    if not question.pairs:
        return []
    most = PART_TESTS if question.seed_of is None else ALONE_PART_TESTS
    if settings.test != "permutation" or question.unit == "part" or len(question.pairs) * sample.part_count > most:
        return None
    tests_of_pairs: list[dict[str, list[float]]] = [{name: [] for name in DIRECTIONS} for _ in question.pairs]
    plan = replace(question.plan, family=1, law_budget=question.plan.law_budget / max(1, sample.part_count))
    parts = parts_of(sample) if formula_holds(sample) else None
    for part in range(sample.part_count):
        part_sample, only = sample.part(part), None if parts is None else parts.only(part)
        values = part_sample.values()
        usable = [
            index
            for index, pair in enumerate(question.pairs)
            if all(math.isfinite(values[system]) for system in pair) and not training_runs.vary(question, *pair)
        ]
        pairs = [question.pairs[index] for index in usable]
        for alternative in DIRECTIONS:
            found = _p(part_sample, only, pairs, alternative, plan)
            p = dict(zip(usable, found, strict=True))
            for index in range(len(question.pairs)):
                tests_of_pairs[index][alternative].append(p.get(index, 1.0))
    varying = training_runs.part_p(question)
    return [varying.get(pair, tests_of_pairs[index]) for index, pair in enumerate(question.pairs)]


def _p(
    sample: Sample, part: Parts | None, pairs: Sequence[tuple[int, int]], alternative: str, plan: ShufflePlan
) -> list[float]:
    """Return the p of each pair in one part, given as a sample and, of one ratio, as a macro average of it alone."""
    if part is None:
        return [_p_of(test) for test in permutation(sample, pairs, alternative, plan)]
    p = {index: _p_of(test) for index, test in exact_tests(sample, pairs, alternative, plan).items()}
    rest = [index for index in range(len(pairs)) if index not in p]
    decision = Decision(
        alternative, plan.alpha, plan.correction, plan.family, plan.seed, plan.share, sampled_below=SAMPLED_BELOW
    )
    answers = sure_answers(part, [pairs[index] for index in rest], decision)
    p.update((index, max(answer.tail.p, SMALLEST)) for index, answer in zip(rest, answers, strict=True))
    return [p[index] for index in range(len(pairs))]


def _p_of(test: Test) -> float:
    return 1.0 if test.p is None else test.p
