"""Count names and scores of `parseval`."""

from __future__ import annotations

from functools import cache

from scoring.scores import Score, ScoreTable, f1_score, ratio_score

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
"""Counts of a sentence; what EVALB leaves out of its totals counts nothing but its status."""

SHOWN = COUNTS[:6]
"""The figures of a row that EVALB shows without counting it: under `unscored.`, in no score."""


@cache
def score_table(*, zero: bool) -> ScoreTable:
    """The table. Where errors score zero, shares of sentences are shares of all sentences, else of valid ones."""
    names = (
        *COUNTS,
        *(f"cutoff.{name}" for name in COUNTS),
        "length",
        *(f"unscored.{name}" for name in SHOWN),
    )
    among = "sentences" if zero else "valid"
    cut = tuple(_scores("cutoff.", " Sentences up to the cut-off length only.", among))
    return ScoreTable(names, (*_scores("", "", among), *cut))


def _scores(at: str, more: str, among: str) -> list[Score]:
    no_gold, no_system = "gold has no brackets", "the output has no brackets"
    neither, no_sentence = "neither gold nor output has brackets", "no sentence could be scored"
    matched, unlabelled, gold, system = f"{at}matched", f"{at}unlabelled_matched", f"{at}gold", f"{at}system"
    return [
        f1_score(f"{at}labelled_f1", f"F1 of labelled brackets.{more}", matched, gold, system, neither),
        ratio_score(
            f"{at}labelled_precision",
            f"Share of the output's brackets that gold has.{more}",
            matched,
            system,
            undefined=no_system,
        ),
        ratio_score(
            f"{at}labelled_recall",
            f"Share of gold's brackets that the output has.{more}",
            matched,
            gold,
            undefined=no_gold,
        ),
        f1_score(f"{at}unlabelled_f1", f"F1 of spans, labels ignored.{more}", unlabelled, gold, system, neither),
        ratio_score(
            f"{at}unlabelled_precision",
            f"Share of the output's spans that gold has.{more}",
            unlabelled,
            system,
            undefined=no_system,
        ),
        ratio_score(
            f"{at}unlabelled_recall",
            f"Share of gold's spans that the output has.{more}",
            unlabelled,
            gold,
            undefined=no_gold,
        ),
        ratio_score(
            f"{at}exact_match",
            f"Share of sentences all of whose brackets match.{more}",
            f"{at}complete",
            f"{at}{among}",
            undefined=no_sentence,
        ),
        ratio_score(
            f"{at}mean_crossing",
            f"Crossing brackets of the output for each valid sentence.{more}",
            f"{at}crossing",
            f"{at}valid",
            higher_is_better=False,
            high=None,
            undefined=no_sentence,
        ),
        ratio_score(
            f"{at}no_crossing",
            f"Share of sentences without a crossing bracket.{more}",
            f"{at}no_crossing",
            f"{at}{among}",
            undefined=no_sentence,
        ),
        ratio_score(
            f"{at}two_or_fewer_crossing",
            f"Share of sentences with two crossing brackets at most.{more}",
            f"{at}two_or_fewer_crossing",
            f"{at}{among}",
            undefined=no_sentence,
        ),
        ratio_score(
            f"{at}relative_crossing",
            f"Share of the output's brackets that cross one of gold's.{more}",
            f"{at}crossing",
            system,
            higher_is_better=False,
            undefined=no_system,
        ),
        ratio_score(
            f"{at}tagging_accuracy",
            f"Share of words with gold's tag.{more}",
            f"{at}correct_tags",
            f"{at}words",
            undefined="no word could be scored",
        ),
        ratio_score(
            f"{at}coverage",
            f"Share of sentences that could be scored: neither error nor skipped.{more}",
            f"{at}valid",
            f"{at}sentences",
            undefined="there are no sentences",
        ),
    ]
