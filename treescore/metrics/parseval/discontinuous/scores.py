"""Count names and scores of `parseval` over constituents that may have gaps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.core.scores import Ratio, Score, ScoreTable, f1_score, ratio_score

BRACKETS = (
    *("matched", "gold", "system", "unlabelled_matched", "disc_matched", "disc_gold", "disc_system"),
    *("distinct_gold", "distinct_system"),
)
"""Brackets of a sentence, those with a gap, and those that differ from each other, as disco-dop's summary has them."""
WORDS = ("words", "correct_tags", "function_matched", "function_gold", "function_system")
STATES = ("sentences", "error", "skip", "valid", "complete", "disc_sentences", "disc_complete")
COUNTS = (*BRACKETS, *WORDS, *STATES)
"""Counts of a sentence; of sentences that are not valid only the status counts."""

_NONE = "the text has no sentences"
_NO_GAPS = "neither gold nor output has a bracket with a gap"


@cache
def score_table(*, zero: bool, only_gaps: bool) -> ScoreTable:
    """Return the table.

    Args:
        zero: shares of valid sentences are those of all sentences.
        only_gaps: brackets without a gap are not compared, and sentences that have no others do not count as complete.
    """
    names = (*COUNTS, *(f"cutoff.{name}" for name in COUNTS), "length")
    among = "disc_sentences" if only_gaps else "sentences" if zero else "valid"
    complete = "disc_complete" if only_gaps else "complete"
    cutoff = _scores("cutoff.", " Sentences up to the cut-off length only.", complete, among)
    return ScoreTable(names, (*_scores("", "", complete, among), *cutoff))


def _scores(prefix: str, suffix: str, complete: str, among: str) -> list[Score]:
    function_tags = {name: f"{prefix}function_{name}" for name in ("matched", "gold", "system")}
    return [
        *_shares(prefix, "labelled_", "brackets", ("matched", "gold", "system"), suffix),
        *_shares(prefix, "unlabelled_", "brackets, labels ignored", ("unlabelled_matched", "gold", "system"), suffix),
        *_shares(prefix, "disc_", "brackets that have a gap", ("disc_matched", "disc_gold", "disc_system"), suffix),
        ratio_score(
            f"{prefix}exact_match",
            f"Share of sentences all of whose brackets match.{suffix}",
            f"{prefix}{complete}",
            f"{prefix}{among}",
            undefined=_NO_GAPS if among == "disc_sentences" else _NONE,
        ),
        ratio_score(
            f"{prefix}disc_exact_match",
            f"Share of sentences all of whose brackets with a gap match, of those in which a side has one.{suffix}",
            f"{prefix}disc_complete",
            f"{prefix}disc_sentences",
            undefined=_NO_GAPS,
        ),
        ratio_score(
            f"{prefix}tagging_accuracy",
            f"Share of words with gold's tag.{suffix}",
            f"{prefix}correct_tags",
            f"{prefix}words",
            undefined="no word could be scored",
        ),
        Score(
            name=f"{prefix}function_tags_f1",
            doc=f"F1 of function tags, of brackets that both sides have and of words whose tags agree.{suffix}",
            ratios=(
                Ratio({function_tags["matched"]: 2}, {function_tags["gold"]: 1, function_tags["system"]: 1}),
                Ratio({function_tags["system"]: 1}, {function_tags["system"]: 1}),
            ),
            join=_product,
            undefined="the output has no function tags",
        ),
        ratio_score(
            f"{prefix}coverage",
            f"Share of sentences that could be scored: neither error nor skipped.{suffix}",
            f"{prefix}valid",
            f"{prefix}sentences",
            undefined=_NONE,
        ),
    ]


def _product(ratios: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(ratios[0] * ratios[1], np.float64)


def _shares(prefix: str, name: str, what: str, counts: tuple[str, str, str], suffix: str) -> list[Score]:
    """Return F1, precision and recall of matched, gold's and the output's brackets."""
    matched, gold, system = (prefix + count for count in counts)
    begin = prefix + name
    return [
        f1_score(f"{begin}f1", f"F1 of {what}.{suffix}", matched, gold, system, f"neither side has {what}"),
        ratio_score(
            f"{begin}precision",
            f"Share of the output's {what} that gold has.{suffix}",
            matched,
            system,
            undefined=f"the output has no {what}",
        ),
        ratio_score(
            f"{begin}recall",
            f"Share of gold's {what} that the output has.{suffix}",
            matched,
            gold,
            undefined=f"gold has no {what}",
        ),
    ]
