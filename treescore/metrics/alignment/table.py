"""What is counted of a sentence pair, and the scores made of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.core.scores import Joined, Ratio, Score, ScoreTable, f1_score, harmonic, ratio_score

LINK_COUNTS = ("links", "sure", "possible", "links_in_sure", "links_in_possible", "sure_links", "sure_links_in_sure")
OF_LINKS = ("aligned_source_words", "aligned_target_words", "internal_jumps", "external_jumps")
WORD_COUNTS = (*OF_LINKS, "source_words", "target_words")
"""What the links of an output say of its words, and how many words it has, 0 where lengths are not known."""
COUNT_NAMES = (*LINK_COUNTS, *WORD_COUNTS)
AER = Ratio({"links_in_sure": 1, "links_in_possible": 1}, {"links": 1, "sure": 1}, one_minus=True)
_OCH_NEY = (Ratio({"links_in_possible": 1}, {"links": 1}), Ratio({"links_in_sure": 1}, {"sure": 1}))
_NO_LINKS = "the output has no link"
_NO_SURE = "gold has no sure link"
_NO_LENGTHS = "the numbers of words are not known"
_UNDEFINED = "Och & Ney's precision or recall is undefined"


def weighted_harmonic(alpha: float) -> Joined:
    """Return a function that joins P and R to 1 / (alpha / P + (1 - alpha) / R): 0 where either is 0."""

    def mean(ratios: Sequence[FloatArray]) -> FloatArray:
        precision, recall = ratios
        product = np.asarray(precision * recall)
        total = alpha * recall + (1 - alpha) * precision
        return np.divide(product, total, out=np.where(np.isnan(product), np.nan, 0.0), where=product > 0)

    return mean


def table_of(alpha: float) -> ScoreTable:
    """Return the scores, with the F-measure of Fraser & Marcu for this weight of precision."""
    fraser_marcu = Score(
        name="alpha_f",
        doc="F-measure of Fraser & Marcu: 1 / (alpha / P + (1 - alpha) / R) of Och & Ney's precision and recall.",
        ratios=_OCH_NEY,
        join=weighted_harmonic(alpha),
        undefined=_UNDEFINED,
    )
    return ScoreTable(COUNT_NAMES, (*_SCORES, fraser_marcu, *_COVERAGE))


_SCORES = (
    Score(
        name="aer",
        doc="Alignment error rate: 1 - (|A&S| + |A&P|) / (|A| + |S|); lower is better.",
        ratios=(AER,),
        higher_is_better=False,
        undefined="neither gold has a sure link nor the output a link",
    ),
    ratio_score(
        "sure_precision",
        "Share of the output's own sure links that are sure in gold.",
        "sure_links_in_sure",
        "sure_links",
        undefined="the output has no sure link",
    ),
    ratio_score(
        "sure_recall",
        "Share of gold's sure links that the output has as sure.",
        "sure_links_in_sure",
        "sure",
        undefined=_NO_SURE,
    ),
    f1_score(
        "sure_f1",
        "F1 over sure links.",
        "sure_links_in_sure",
        "sure",
        "sure_links",
        "neither gold nor the output has a sure link",
    ),
    ratio_score(
        "possible_precision",
        "Share of the output's links that gold has, sure or possible.",
        "links_in_possible",
        "links",
        undefined=_NO_LINKS,
    ),
    ratio_score(
        "possible_recall",
        "Share of gold's links, sure and possible, that the output has.",
        "links_in_possible",
        "possible",
        undefined="gold has no link",
    ),
    f1_score(
        "possible_f1",
        "F1 over all links.",
        "links_in_possible",
        "possible",
        "links",
        "neither gold nor the output has a link",
    ),
    ratio_score(
        "och_ney_precision",
        "Och & Ney's precision: links that gold has, sure or possible, among the output's.",
        "links_in_possible",
        "links",
        undefined=_NO_LINKS,
    ),
    ratio_score(
        "och_ney_recall",
        "Och & Ney's recall: gold's sure links that the output has.",
        "links_in_sure",
        "sure",
        undefined=_NO_SURE,
    ),
    Score(
        name="och_ney_f1",
        doc="Harmonic mean of Och & Ney's precision and recall.",
        ratios=_OCH_NEY,
        join=harmonic,
        undefined=_UNDEFINED,
    ),
)
_COVERAGE = tuple(
    ratio_score(
        f"{side}_coverage",
        f"Share of the {side} words that the output links.",
        f"aligned_{side}_words",
        f"{side}_words",
        undefined=_NO_LENGTHS,
    )
    for side in ("source", "target")
)
