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
from treescore.significance.noninferiority import noninferiority, pair_documents
from treescore.significance.permutation import Test
from treescore.significance.question import Question


def figures_of_all_pairs(question: Question, tests: Sequence[Test], draws: Draws) -> list[dict[str, Json]]:
    """Return for each pair the members `detectable`, `ci_simultaneous` and `noninferiority`, null where unknown."""
    together = intervals_together(question, draws)
    by_swaps = [_by_swaps(question, test) for test in tests]
    margin = question.settings.margin
    found = [
        contributions_of(question, *pair) if swapped or margin is not None else None
        for pair, swapped in zip(question.pairs, by_swaps, strict=True)
    ]
    could = [_detectable(question, c) if swapped else None for c, swapped in zip(found, by_swaps, strict=True)]
    worse = _noninferiority(question, tests, found)
    return [
        {
            "detectable": could[at],
            "ci_simultaneous": interval_document(question, together[at], pair),
            "noninferiority": worse[at],
        }
        for at, pair in enumerate(question.pairs)
    ]


def contributions_of(question: Question, first: int, second: int) -> Contributions:
    """Return the contributions of a pair; those of a score that joins ratios are its linear terms."""
    sample = question.sample.of_systems([first, second])
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


def _noninferiority(
    question: Question, tests: Sequence[Test], found: Sequence[Contributions | None]
) -> Sequence[dict[str, Json] | None]:
    """Test all pairs against the margin, but those over training runs: swaps of units leave their spread out."""
    settings = question.settings
    asked = [at for at, test in enumerate(tests) if settings.margin is not None and test.ci is None]
    documents: list[dict[str, Json] | None] = [None] * len(tests)
    if settings.margin is None or not asked:
        return documents
    better = 1.0 if question.sample.score.higher_is_better else -1.0
    names, sides = [], []
    for at in asked:
        c, pair = found[at], question.pairs[at]
        if c is not None:
            names.append((question.candidates[pair[0]].name, question.candidates[pair[1]].name))
            sides.append(noninferiority(c, settings.margin, better, question.seed(*pair)))
    corrected = pair_documents(names, sides, settings.margin, settings.alpha, settings.correction)
    for at, document in zip(asked, corrected, strict=True):
        documents[at] = document
    return documents
