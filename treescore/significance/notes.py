"""The notes of a comparison document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treescore.core.conventions import IDENTICAL, UNDEFINED
from treescore.core.params import Json
from treescore.significance import compare_pl, noninferiority, training_runs
from treescore.significance.assumptions import too_few
from treescore.significance.constants import SMALLEST
from treescore.significance.permutation import Test
from treescore.significance.question import Question


def notes(question: Question, tests: Sequence[Test], smallest: Mapping[str, Json]) -> list[str]:
    """Return the notes of a comparison: conventions, what was changed of the settings, what could not be found.

    Args:
        question: what was compared.
        tests: of its pairs.
        smallest: the member `smallest_p` of the document.
    """
    settings = question.settings
    lines = [IDENTICAL, UNDEFINED]
    most_shuffles = max((test.shuffles for test in tests if test.shuffles), default=0)
    if most_shuffles > settings.shuffles:
        lines.append(
            f"Shuffles raised from {settings.shuffles} to {most_shuffles}: with fewer, {settings.correction} over "
            f"{len(question.pairs)} pair{'s' if len(question.pairs) != 1 else ''} could reject nothing, or only just."
        )
    fewest_shuffles = min((test.shuffles for test in tests if test.shuffles and test.unselected is None), default=0)
    if 0 < fewest_shuffles < settings.shuffles:
        lines.append(
            f"Shuffles lowered from {settings.shuffles} to {fewest_shuffles}: systems, units or parts are very many."
        )
    units = question.sample.units
    if question.unit == "block" and too_few(question):
        lines.append(
            f"With {units} document{'s' if units != 1 else ''} no two-sided p is below 2^(1-{units}) = "
            f"{2.0 ** (1 - units):.3g}, so that nothing can be significant at {settings.alpha:g} over "
            f"{len(question.pairs)} pair{'s' if len(question.pairs) != 1 else ''}. For a claim about these very "
            "documents, use `unit: sentence`."
        )
    elif smallest["significance_possible"] is False:
        lines.append(
            "No difference could have become significant here: too few units differ, or too few shuffles for so many "
            f"pairs (smallest adjusted p: {smallest['p_adjusted']:.3g}, alpha: {settings.alpha})."
        )
    if any(test.p is not None and test.p <= SMALLEST for test in tests):
        lines.append("p below 2.2e-308 is shown as that; log10_p holds it.")
    if settings.interval != "none" and question.resamples < settings.resamples:
        lines.append(
            f"Resamples lowered from {settings.resamples} to {question.resamples}: units, or systems and parts, are "
            "very many."
        )
    if settings.margin is not None and units < noninferiority.FEWEST_UNITS:
        lines.append(noninferiority.FEW_NOTE)
    if settings.test == "compare_pl":
        lines.append(compare_pl.NOTE)
    if settings.test == "bootstrap":
        lines.append("The bootstrap gives intervals; for a p use the permutation test.")
    swapped = [pair for pair in question.pairs if not training_runs.vary(question, *pair)]
    if any(len(question.candidates[system].runs) > 1 for pair in swapped for system in pair):
        lines.append("Where runs are fixed, those of one system are pooled by unit; their spread is shown beside it.")
    if question.terms.part_count and question.unit != "part":
        lines.append("Macro average: swaps and resamples stay within a part; an undefined part counts as worst.")
    return lines
