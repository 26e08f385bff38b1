"""Count names and scores of `parseval`."""

from __future__ import annotations

from functools import cache

import numpy as np

from treescore.core.arrays import Counts
from treescore.core.scores import Score, ScoreTable, f1_score, ratio_score

COUNTS = (
    "matched",
    "gold",
    "system",
    "crossing",
    "words",
    "correct_tags",
    "sentences",
    "error",
    "skip",
    "valid",
    "unlabelled_matched",
    "complete",
    "no_crossing",
    "two_or_fewer_crossing",
)
"""Counts of a sentence; of sentences that EVALB leaves out of its totals only the status counts."""

SHOWN = COUNTS[:6]
"""The figures that EVALB shows of sentences that it does not count: under `unscored.`, in no score."""


@cache
def score_table(*, zero: bool) -> ScoreTable:
    """Return the table; `zero` makes shares and means over valid sentences those over all sentences."""
    names = (*COUNTS, *(f"cutoff.{name}" for name in COUNTS), "length", *(f"unscored.{name}" for name in SHOWN))
    denominator_of_shares = "sentences" if zero else "valid"
    cutoff_scores = tuple(_scores("cutoff.", " Sentences up to the cut-off length only.", denominator_of_shares))
    return ScoreTable(names, (*_scores("", "", denominator_of_shares), *cutoff_scores), _with_unscored)


def _with_unscored(rows: Counts) -> Counts:
    """Put the figures that EVALB shows of a sentence that it does not count into the place of its counts: (n, k)."""
    figures = rows[:, -len(SHOWN) :]
    uncounted = np.flatnonzero(figures.any(axis=1))
    shown = rows.copy()
    shown[uncounted, : len(SHOWN)] = figures[uncounted]
    return shown


_NO_GOLD, _NO_SYSTEM = "gold has no brackets", "the output has no brackets"
_NEITHER, _NO_SENTENCE = "neither gold nor output has brackets", "no sentence could be scored"

_AMONG = "among"
"""Stands for `sentences` or `valid`."""

_RATIOS = (
    ("labelled_precision", "Share of the output's brackets that gold has.", "matched", "system", _NO_SYSTEM),
    ("labelled_recall", "Share of gold's brackets that the output has.", "matched", "gold", _NO_GOLD),
    ("unlabelled_precision", "Share of the output's spans that gold has.", "unlabelled_matched", "system", _NO_SYSTEM),
    ("unlabelled_recall", "Share of gold's spans that the output has.", "unlabelled_matched", "gold", _NO_GOLD),
    ("exact_match", "Share of sentences all of whose brackets match.", "complete", _AMONG, _NO_SENTENCE),
    ("mean_crossing", "Crossing brackets of the output for each valid sentence.", "crossing", _AMONG, _NO_SENTENCE),
    ("no_crossing", "Share of sentences without a crossing bracket.", "no_crossing", _AMONG, _NO_SENTENCE),
    (
        "two_or_fewer_crossing",
        "Share of sentences with two crossing brackets at most.",
        "two_or_fewer_crossing",
        _AMONG,
        _NO_SENTENCE,
    ),
    ("relative_crossing", "Share of the output's brackets that cross one of gold's.", "crossing", "system", _NO_SYSTEM),
    ("tagging_accuracy", "Share of words with gold's tag.", "correct_tags", "words", "no word could be scored"),
    (
        "coverage",
        "Share of sentences that could be scored: neither error nor skipped.",
        "valid",
        "sentences",
        "the text has no sentences",
    ),
)


def _scores(prefix: str, suffix: str, denominator_of_shares: str) -> list[Score]:
    ratios = [
        ratio_score(
            prefix + name,
            doc + suffix,
            prefix + numerator,
            prefix + (denominator_of_shares if denominator == _AMONG else denominator),
            higher_is_better=name not in ("mean_crossing", "relative_crossing"),
            high=None if name == "mean_crossing" else 1.0,
            undefined=undefined,
        )
        for name, doc, numerator, denominator, undefined in _RATIOS
    ]
    gold, system = f"{prefix}gold", f"{prefix}system"
    labelled = f1_score(
        f"{prefix}labelled_f1", f"F1 of labelled brackets.{suffix}", f"{prefix}matched", gold, system, _NEITHER
    )
    unlabelled = f1_score(
        f"{prefix}unlabelled_f1",
        f"F1 of spans, labels ignored.{suffix}",
        f"{prefix}unlabelled_matched",
        gold,
        system,
        _NEITHER,
    )
    return [labelled, *ratios[:2], unlabelled, *ratios[2:]]
