"""Rows, counts and scores of the CoNLL 2018 shared task."""

from __future__ import annotations

from typing import Any

from treescore.core.scores import Score, ScoreTable, f1_score, ratio_score

SPANS = ("tokens", "sentences", "words")
ALIGNED = ("upos", "xpos", "ufeats", "alltags", "lemmas", "uas", "las", "clas", "mlas", "blex")
ROWS = SPANS + ALIGNED
TITLES = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS",
           "BLEX")  # fmt: skip


def _table() -> ScoreTable:
    names = [f"{row}.{count}" for row in SPANS for count in ("correct", "gold", "system")]
    names += [f"{row}.{count}" for row in ALIGNED for count in ("correct", "gold", "system", "aligned")]
    scores: list[Score] = []
    for row, title in zip(ROWS, TITLES, strict=True):
        correct, gold, system = f"{row}.correct", f"{row}.gold", f"{row}.system"
        aligned: Any = f"{row}.aligned" if row in ALIGNED else {correct: 0}
        why = "no words are aligned" if row in ALIGNED else f"{title} have no alignment"
        scores += [
            f1_score(f"{row}_f1", f"{title}: F1.", correct, gold, system, "both sides have none"),
            ratio_score(f"{row}_precision", f"{title}: precision.", correct, system, undefined="the output has none"),
            ratio_score(f"{row}_recall", f"{title}: recall.", correct, gold, undefined="gold has none"),
            ratio_score(
                f"{row}_aligned_accuracy", f"{title}: accuracy on aligned words.", correct, aligned, undefined=why
            ),
        ]
    scores.sort(key=lambda score: score.name != "las_f1")
    return ScoreTable(tuple(names), tuple(scores))


TABLE = _table()
