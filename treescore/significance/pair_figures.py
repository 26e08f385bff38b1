"""What a pair's document says beside its test, and what depends on how many pairs there are.

What could have been detected, the interval that holds together with all others, and whether a system is not worse.
"""

from __future__ import annotations

from collections.abc import Sequence

from treescore.core.params import Json
from treescore.significance import training_runs
from treescore.significance.correction import first_threshold
from treescore.significance.detectable import detectable_of, moments_of, moments_of_pairs
from treescore.significance.influence import contributions_of
from treescore.significance.intervals import Draws, interval_document, intervals_together
from treescore.significance.noninferiority import draws_of, noninferiority, over_runs, pair_documents
from treescore.significance.permutation import Test
from treescore.significance.question import Question


def figures_of_all_pairs(question: Question, tests: Sequence[Test], draws: Draws) -> list[dict[str, Json]]:
    """Return for each pair the members `detectable`, `ci_simultaneous` and `noninferiority`, null where unknown."""
    together = intervals_together(question, draws)
    could = _detectable(question, tests)
    worse = _noninferiority(question)
    return [
        {
            "detectable": could[at],
            "ci_simultaneous": interval_document(question, together[at], draws.systems),
            "noninferiority": worse[at],
        }
        for at in range(len(question.pairs))
    ]


def _detectable(question: Question, tests: Sequence[Test]) -> Sequence[dict[str, Json] | None]:
    """Tell what tests by swaps could have found; the power of others is not known."""
    settings = question.settings
    documents: list[dict[str, Json] | None] = [None] * len(tests)
    if settings.test != "permutation":
        return documents
    asked = [at for at, test in enumerate(tests) if test.kind is not None]
    alpha = first_threshold(len(question.pairs), settings.alpha, settings.correction)
    sides = 1.0 if settings.alternative == "two-sided" else 2.0  # one tail of alpha is two of 2 alpha
    pairs = [question.pairs[at] for at in asked]
    if question.units_by_pair:
        moments = [moments_of(contributions_of(question.alone(*pair).sample, 0, 1)) for pair in pairs]
    else:
        moments = moments_of_pairs(question.sample, pairs)
    for at, sums in zip(asked, moments, strict=True):
        difference = detectable_of(sums, min(1.0, sides * alpha), settings.power)
        if difference is not None:
            documents[at] = {"difference": difference, "power": settings.power, "alpha": alpha}
    return documents


def _noninferiority(question: Question) -> Sequence[dict[str, Json] | None]:
    """Test both systems of all pairs against the margin."""
    settings = question.settings
    if settings.margin is None:
        return [None] * len(question.pairs)
    better = question.sample.score.sign
    over = training_runs.runs_tests(question)
    draws = draws_of(len(question.pairs), question.sample.units, alone=question.seed_of is not None)
    names, sides = [], []
    for first, second in question.pairs:
        names.append((question.candidates[first].name, question.candidates[second].name))
        if (first, second) in over:
            sides.append(over_runs(over[first, second], settings.margin, better, question.sample.units))
        else:
            by_pair = question.units_by_pair
            sample = (question.alone(first, second) if by_pair else question).sample
            c = contributions_of(sample, 0, 1) if by_pair else contributions_of(sample, first, second)
            sides.append(noninferiority(c, settings.margin, better, question.seed(first, second), draws))
    return pair_documents(names, sides, settings.margin, settings.alpha, settings.correction)
