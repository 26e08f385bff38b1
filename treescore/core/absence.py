"""What a sentence costs for which an output has nothing: as if it had gold's units, all of them wrong.

Without it a score whose denominator counts the output's own units (precision, crossing brackets) would be taken over
the sentences that the output has, and one sentence that is certainly right would beat a complete output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treescore.core.params import Param

if TYPE_CHECKING:
    from collections.abc import Mapping

    from treescore.core.arrays import Counts
    from treescore.core.scores import Ratio, Score, ScoreTable

EXCLUDE, ZERO = "exclude", "zero"
"""Values of the parameter `errors` of a metric, and of the member `errors` of a benchmark."""


def errors_param(which: str, excluded: str = "left out and counted") -> Param:
    """Make the parameter `errors`: `which` says of which sentences, `excluded` what `exclude` does with them."""
    doc = f"{which}: {excluded}; or, with zero, scored as if the output had gold's units there, all of them wrong."
    return Param({"enum": [EXCLUDE, ZERO]}, EXCLUDE, doc)


def charged(table: ScoreTable, perfect: Counts) -> Counts:
    """Return the counts of sentences without an output, from those of an output that equals gold: both (n, k).

    What is right becomes 0, what is wrong as many as its denominator has, and every other count stays: a count is
    right or wrong by the score whose numerator it is, unless it is also a denominator.
    """
    rows = perfect.copy()
    column_of = {name: column for column, name in enumerate(table.count_names)}
    below = {name for score in table.scores for ratio in score.ratios for name in _used(ratio.denominator)}
    for score in table.scores:
        for ratio in score.ratios:
            for name in _used(ratio.numerator):
                if name not in below:
                    whole = ratio.terms(table.count_names, perfect)[1]
                    rows[:, column_of[name]] = whole if _is_fault(score, ratio) else 0
    return rows


def _used(weights: Mapping[str, float]) -> list[str]:
    return [name for name, weight in weights.items() if weight]


def _is_fault(score: Score, ratio: Ratio) -> bool:
    return ratio.one_minus == score.higher_is_better
