"""The p of a row that its team picked as the best of k submissions.

Of twenty equal submissions the best one beats another team's row in more than a tenth of all cases at 5 %. p of the
row ahead is at most k p of a row that was not picked (Bonferroni). Where A is ahead only A's picking is allowed for:
that of B makes it harder for A.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treescore.significance.law import Test
from treescore.significance.question import Question
from treescore.significance.settings import ROUNDING


def allowing_for_picking(question: Question, tests: Sequence[Test]) -> list[Test]:
    """Return the two-sided tests of the scores' differences with p of the picked row ahead; others stay as they are."""
    settings = question.settings
    if not settings.by_law or settings.alternative != "two-sided":
        return list(tests)
    return [
        _picked(test, _submissions_ahead(question, pair, test))
        for pair, test in zip(question.pairs, tests, strict=True)
    ]


def _submissions_ahead(question: Question, pair: tuple[int, int], test: Test) -> int:
    """Return from how many submissions the better row of a pair was picked, by what was tested; 1 of equal ones."""
    first, second = pair
    difference = question.values[first] - question.values[second] if test.difference is None else test.difference
    if abs(difference) <= ROUNDING * float(np.abs(question.values[list(pair)]).max()):
        return 1
    ahead = first if question.sample.score.sign * difference > 0 else second
    return question.candidates[ahead].submissions


def _picked(test: Test, submissions: int) -> Test:
    if test.p is None or submissions < 2:
        return test
    log_p = None if test.log_p is None else min(0.0, test.log_p + math.log(submissions))
    how = f"{test.how}; times {submissions} for the picking"
    return replace(test, p=min(1.0, submissions * test.p), log_p=log_p, how=how, unselected=test.p)
