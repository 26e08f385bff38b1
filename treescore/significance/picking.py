"""The step after the tests of a comparison: p that allow for the picking of the row ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from treescore.significance.permutation import Test
from treescore.significance.question import Candidate, Question
from treescore.significance.selection import selected_p
from treescore.significance.units import pooled

PICKED = 2
"""Submissions from which on a row is picked: of one there is nothing to pick."""


def allowing_for_picking(question: Question, tests: Sequence[Test]) -> list[Test]:
    """Return the tests of a question's pairs with p of the picked row ahead; `unselected` keeps the plain p.

    Only the two-sided permutation test allows for picking; others stay as they are.

    Where A is ahead, only A's picking is allowed for: that of B makes it harder for A. A system of one training run
    has p = min(1, 2 P(max_j T_j >= observed)) (`selection`). Runs that vary, and whole parts, have no law of the
    largest difference over fixed units; there p = min(1, k p) over the k submissions of the team (Bonferroni).
    """
    settings = question.settings
    if settings.test != "permutation" or settings.alternative != "two-sided":
        return list(tests)
    pairs = zip(question.pairs, tests, strict=True)
    return [_allowing(question, *_ahead(question, pair, test), test) for pair, test in pairs]


def _ahead(question: Question, pair: tuple[int, int], test: Test) -> tuple[Candidate, Candidate]:
    """Return the better system of a pair by what was tested, and the other; with equal scores the first is ahead."""
    first, second = pair
    difference = question.values[first] - question.values[second] if test.difference is None else test.difference
    behind = difference < 0 if question.sample.score.higher_is_better else difference > 0
    order = (second, first) if behind else (first, second)
    return question.candidates[order[0]], question.candidates[order[1]]


def _allowing(question: Question, ahead: Candidate, behind: Candidate, test: Test) -> Test:
    if test.p is None or len(ahead.considered) + ahead.unknown < PICKED:
        return test
    if len(ahead.runs) > 1 or question.unit == "part":
        return _bonferroni(test, test.p, len(ahead.considered) + ahead.unknown)
    others = [Candidate(ahead.name, (counts,)) for counts in ahead.considered]
    candidates = [behind, ahead, *others]
    sample = question.terms.alone(candidates, pooled([candidate.runs for candidate in candidates]))
    found = selected_p(sample, 1, test, question.plan, unknown=ahead.unknown)
    same = found.p == test.p
    return replace(
        test,
        p=found.p,
        kind=found.kind,
        how=found.how,
        error=test.error if same else found.error,
        shuffles=found.shuffles,
        log10_p=test.log10_p if same else None,
        unselected=test.p,
    )


def _bonferroni(test: Test, p: float, k: int) -> Test:
    log10_p = None if test.log10_p is None else min(0.0, test.log10_p + math.log10(k))
    how = f"{test.how}; times {k} for the picking"
    return replace(test, p=min(1.0, k * p), log10_p=log10_p, how=how, unselected=p)
