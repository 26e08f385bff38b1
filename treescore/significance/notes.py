"""The notes of a comparison document, and what it takes as random and what as fixed: the member `assumed`.

A p is exact for one null only. Each sentence of `assumed` says what the claim is about; together they are the estimand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.params import Json
from treescore.core.wording import IDENTICAL_OUTPUTS, UNDEFINED_SCORES, counted
from treescore.significance import other_tests, pair_figures, training_runs
from treescore.significance.families import adjusted
from treescore.significance.permutation import Test, smallest_p
from treescore.significance.question import Question
from treescore.significance.settings import FEWEST_PARTS, SMALLEST

TWO_SIDED = "two-sided"
DECIDES_FAMILIES = ("holm", "hochberg", "bonferroni")
"""Corrections that bound the chance of any false claim, so that rank intervals hold together."""

TOO_FEW = (
    "They are too few for any difference to be significant here; `unit: sentence` asks about these very documents."
)
_WHOSE = {
    "holm": "Holm's p",
    "hochberg": "Hochberg's p",
    "bh": "Benjamini and Hochberg's p",
    "by": "Benjamini and Yekutieli's p",
    "bonferroni": "Bonferroni's p",
    "none": "p",
}


def assumed(question: Question, tests: Sequence[Test]) -> str:
    """Return the sentences that say what the claims of a comparison are about."""
    return " ".join(
        (*_about_units(question), *_about_parts(question), *_about_runs(question), *_readings(question, tests))
    )


def _about_units(question: Question) -> list[str]:
    units = question.terms.units
    if units.name == "block":
        sentences = ["Documents are the units: the claim is about other documents of this kind."]
        if units.by_sentence:
            sentences.append(
                f"In {units.by_sentence} of {units.of_parts} parts gold marks fewer than two documents: sentences are "
                "the units."
            )
        return [*sentences, TOO_FEW] if too_few(question) else sentences
    if units.name == "part":
        return ["Whole parts are the units: the claim is about other parts like these."]
    if units.name == "token":
        return ["Tokens are the units: the tokens of a sentence are taken as independent."]
    if units.documents:
        return ["Sentences are the units: the claim is about these very documents."]
    return ["Gold marks no documents: sentences are taken as independent."]


def too_few(question: Question) -> bool:
    """Tell whether no pair could be significant though all G units differed: two-sided p is then at least 2^(1-G)."""
    settings, pairs = question.settings, len(question.pairs)
    if settings.test != "permutation" or not pairs:
        return False
    least = smallest_p(question.sample.units, settings.alternative)
    return bool(adjusted(np.full(pairs, least), settings.correction).min() > settings.alpha)


def _about_parts(question: Question) -> list[str]:
    parts = question.terms.part_count
    sentences = []
    if parts and question.unit != "part":
        more = "; for parts like these p is `p_parts`" if parts >= FEWEST_PARTS else ""
        sentences.append(f"The claim is about these {parts} parts{more}.")
    if any(candidate.missing for candidate in question.candidates):
        sentences.append("A missing part counts as the worst value and as one unit.")
    return sentences


def _about_runs(question: Question) -> list[str]:
    sentences = [training_runs.assumed(question)]
    if question.settings.test == "mcnemar" and any(len(candidate.runs) > 1 for candidate in question.candidates):
        sentences.append("A sentence is right where all runs of a system have it right.")
    return sentences


def _readings(question: Question, tests: Sequence[Test]) -> list[str]:
    settings = question.settings
    sentences = []
    if settings.test == "mcnemar":
        whole = "documents" if question.unit == "block" else "sentences"
        what = "tokens right" if question.unit == "token" else f"{whole} right as a whole"
        sentences.append(f"Tested: {what}, not the score.")
    if any(test.unselected is not None for test in tests):
        sentences.append("A row is the best of k submissions; p allows for the picking.")
    ranked = settings.alternative == TWO_SIDED and settings.test not in ("bootstrap", "compare_pl")
    if ranked and len(question.pairs) > 1 and settings.correction in DECIDES_FAMILIES:
        sentences.append(f"Rank intervals hold together at {100 * (1 - settings.alpha):g} %.")
    if len(question.pairs) > 1 and settings.interval != "none":
        decides = f"; {_WHOSE[settings.correction]} decides" if any(test.p is not None for test in tests) else ""
        sentences.append(f"Each interval holds by itself at {100 * settings.level:g} %{decides}.")
    if settings.margin is not None:
        sentences.append(pair_figures.MARGIN_NOTE)
    return sentences


def _notes(question: Question, tests: Sequence[Test], smallest: Mapping[str, Json]) -> list[str]:
    """Return the notes of a comparison: conventions, what was changed of the settings, what could not be found.

    Args:
        question: what was compared.
        tests: of its pairs.
        smallest: the member `smallest_p` of the document.
    """
    settings = question.settings
    lines = [IDENTICAL_OUTPUTS, UNDEFINED_SCORES]
    most_shuffles = max((test.shuffles for test in tests if test.shuffles), default=0)
    if most_shuffles > settings.shuffles:
        lines.append(
            f"Shuffles raised from {settings.shuffles} to {most_shuffles}: with fewer, {settings.correction} over "
            f"{counted(len(question.pairs), 'pair')} could reject nothing, or only just."
        )
    fewest_shuffles = min((test.shuffles for test in tests if test.shuffles and test.unselected is None), default=0)
    if 0 < fewest_shuffles < settings.shuffles:
        lines.append(
            f"Shuffles lowered from {settings.shuffles} to {fewest_shuffles}: systems, units or parts are very many."
        )
    units = question.sample.units
    if question.unit == "block" and too_few(question):
        lines.append(
            f"With {counted(units, 'document')} no two-sided p is below 2^(1-{units}) = "
            f"{2.0 ** (1 - units):.3g}, so that nothing can be significant at {settings.alpha:g} over "
            f"{counted(len(question.pairs), 'pair')}. For a claim about these very "
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
    if settings.margin is not None and units < pair_figures.FEWEST_UNITS:
        lines.append(pair_figures.FEW_UNITS_NOTE)
    if settings.test == "compare_pl":
        lines.append(other_tests.COMPARE_PL_NOTE)
    if settings.test == "bootstrap":
        lines.append("The bootstrap gives intervals; for a p use the permutation test.")
    swapped = [pair for pair in question.pairs if not training_runs.vary(question, *pair)]
    if any(len(question.candidates[system].runs) > 1 for pair in swapped for system in pair):
        lines.append("Where runs are fixed, those of one system are pooled by unit; their spread is shown beside it.")
    if question.terms.part_count and question.unit != "part":
        lines.append("Macro average: swaps and resamples stay within a part; an undefined part counts as worst.")
    return lines


def notes(document: Mapping[str, Json]) -> list[str]:
    """Return the notes of a document."""
    return list(document.get("notes", []))
