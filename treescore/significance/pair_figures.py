"""What a pair's document says beside its test, and what depends on how many pairs there are.

What could have been detected, the interval that holds together with all others, and whether a system is not worse.
"""

from __future__ import annotations

from collections.abc import Sequence

from treescore.core.params import Json
from treescore.significance.contributions import Contributions, contributions
from treescore.significance.correction import first_threshold
from treescore.significance.detectable import detectable
from treescore.significance.influence import linear_contributions
from treescore.significance.intervals import Draws, interval_document, intervals_together
from treescore.significance.noninferiority import OneSide, noninferiority, pair_documents
from treescore.significance.permutation import Test
from treescore.significance.question import Question


def figures_of_all_pairs(question: Question, tests: Sequence[Test], draws: Draws) -> list[dict[str, Json]]:
    """Return for each pair the members `detectable`, `ci_simultaneous` and `noninferiority`, null where unknown."""
    together = intervals_together(question, draws)
    # one pair's contributions at a time: those of all pairs would fill the memory
    could: list[dict[str, Json] | None] = []
    not_worse: list[tuple[OneSide, OneSide] | None] = []
    for pair, test in zip(question.pairs, tests, strict=True):
        swapped, asked = _by_swaps(question, test), _asked_for_margin(question, test)
        c = contributions_of(question, *pair) if swapped or asked else None
        could.append(_detectable(question, c) if swapped else None)
        not_worse.append(_not_worse(question, c, pair) if asked and c is not None else None)
    worse = _noninferiority(question, not_worse)
    return [
        {
            "detectable": could[at],
            "ci_simultaneous": interval_document(question, together[at], draws.systems),
            "noninferiority": worse[at],
        }
        for at in range(len(question.pairs))
    ]


def contributions_of(question: Question, first: int, second: int) -> Contributions:
    """Return the contributions of a pair; those of a score that joins ratios are its linear terms."""
    sample = (
        question.alone(first, second).sample if question.units_by_pair else question.sample.of_systems([first, second])
    )
    c = contributions(sample, 0, 1)
    return linear_contributions(sample, 0, 1) if c is None else c


def _by_swaps(question: Question, test: Test) -> bool:
    """Tell whether p is that of swapped units, whose power is known; other tests ask something else."""
    return question.settings.test == "permutation" and test.kind is not None


def _detectable(question: Question, c: Contributions | None) -> dict[str, Json] | None:
    settings = question.settings
    alpha = first_threshold(len(question.pairs), settings.alpha, settings.correction)
    sides = 1.0 if settings.alternative == "two-sided" else 2.0  # one tail of alpha is two of 2 alpha
    difference = None if c is None else detectable(c, min(1.0, sides * alpha), settings.power)
    return None if difference is None else {"difference": difference, "power": settings.power, "alpha": alpha}


def _asked_for_margin(question: Question, test: Test) -> bool:
    """Tell whether a pair is tested against the margin: not over training runs, whose spread swaps leave out."""
    return question.settings.margin is not None and test.ci is None


def _not_worse(question: Question, c: Contributions, pair: tuple[int, int]) -> tuple[OneSide, OneSide]:
    better = 1.0 if question.sample.score.higher_is_better else -1.0
    return noninferiority(c, question.settings.margin or 0.0, better, question.seed(*pair))


def _noninferiority(
    question: Question, not_worse: Sequence[tuple[OneSide, OneSide] | None]
) -> Sequence[dict[str, Json] | None]:
    """Return the documents of the pairs tested against the margin, None for the others."""
    documents: list[dict[str, Json] | None] = [None] * len(not_worse)
    asked = [at for at, sides in enumerate(not_worse) if sides is not None]
    if not asked:
        return documents
    settings = question.settings
    pairs = [question.pairs[at] for at in asked]
    names = [(question.candidates[first].name, question.candidates[second].name) for first, second in pairs]
    found = [sides for sides in not_worse if sides is not None]
    corrected = pair_documents(names, found, settings.margin or 0.0, settings.alpha, settings.correction)
    for at, document in zip(asked, corrected, strict=True):
        documents[at] = document
    return documents
