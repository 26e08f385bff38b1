"""What a pair's document says beside its test, and what depends on how many pairs there are.

What could have been detected, the interval that holds together with all others, and whether a system is not worse.
"""

from __future__ import annotations

from collections.abc import Sequence

from treescore.core.params import Json
from treescore.significance import training_runs
from treescore.significance.contributions import Contributions
from treescore.significance.correction import first_threshold
from treescore.significance.detectable import detectable
from treescore.significance.influence import contributions_of
from treescore.significance.intervals import Draws, interval_document, intervals_together
from treescore.significance.noninferiority import OneSide, noninferiority, over_runs, pair_documents
from treescore.significance.permutation import Test
from treescore.significance.question import Question
from treescore.significance.welch import RunsTest


def figures_of_all_pairs(question: Question, tests: Sequence[Test], draws: Draws) -> list[dict[str, Json]]:
    """Return for each pair the members `detectable`, `ci_simultaneous` and `noninferiority`, null where unknown."""
    together = intervals_together(question, draws)
    # one pair's contributions at a time: those of all pairs would fill the memory
    could: list[dict[str, Json] | None] = []
    sides: list[tuple[OneSide, OneSide]] = []
    over = {} if question.settings.margin is None else training_runs.runs_tests(question)
    for pair, test in zip(question.pairs, tests, strict=True):
        # p of swapped units, whose power is known; other tests ask something else
        swapped = question.settings.test == "permutation" and test.kind is not None
        asked = question.settings.margin is not None
        c = contributions_of(question.sample, *pair) if swapped or asked else None
        could.append(_detectable(question, c) if swapped and c is not None else None)
        if asked and c is not None:
            sides.append(_not_worse(question, c, pair, over.get(pair)))
    worse = _noninferiority(question, sides)
    return [
        {
            "detectable": could[at],
            "ci_simultaneous": interval_document(question, together[at], draws.systems),
            "noninferiority": worse[at],
        }
        for at in range(len(question.pairs))
    ]


def _detectable(question: Question, c: Contributions) -> dict[str, Json] | None:
    settings = question.settings
    alpha = first_threshold(len(question.pairs), settings.alpha, settings.correction)
    sides = 1.0 if settings.alternative == "two-sided" else 2.0  # one tail of alpha is two of 2 alpha
    difference = detectable(c, min(1.0, sides * alpha), settings.power)
    return None if difference is None else {"difference": difference, "power": settings.power, "alpha": alpha}


def _not_worse(
    question: Question, c: Contributions, pair: tuple[int, int], over: RunsTest | None
) -> tuple[OneSide, OneSide]:
    """Test both systems of a pair against the margin: by swaps of units, or over training runs where they vary."""
    margin = question.settings.margin or 0.0
    better = 1.0 if question.sample.score.higher_is_better else -1.0
    if over is not None:
        return over_runs(over, margin, better, question.sample.units)
    return noninferiority(c, margin, better, question.seed(*pair))


def _noninferiority(question: Question, sides: Sequence[tuple[OneSide, OneSide]]) -> Sequence[dict[str, Json] | None]:
    """Return the documents of all pairs; None for each where no margin is asked for."""
    settings = question.settings
    if settings.margin is None:
        return [None] * len(question.pairs)
    names = [(question.candidates[first].name, question.candidates[second].name) for first, second in question.pairs]
    return pair_documents(names, sides, settings.margin, settings.alpha, settings.correction)
