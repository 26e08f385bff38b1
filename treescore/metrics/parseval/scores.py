"""Count names and scores of `parseval`: over spans, and (`GAP_...`) over constituents that may have gaps."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from treescore.core.arrays import Counts
from treescore.core.scores import Ratio, Score, ScoreTable, f1_score, matched_scores, ratio_score
from treescore.metrics.parseval.choices import Choices

COUNTS = (
    *("matched", "gold", "system", "crossing", "words", "correct_tags", "sentences", "error", "skip", "valid"),
    *("unlabelled_matched", "complete", "no_crossing", "two_or_fewer_crossing"),
)
"""Counts of a sentence; of sentences that EVALB leaves out of its totals only the status counts."""

SHOWN = COUNTS[:6]
"""The figures that EVALB shows of sentences that it does not count: under `unscored.`, in no score."""


PARSED = "parsed"
"""The count of valid sentences with a parse, where those without one are valid too."""


BARE = ("sentence_f1_sum", "sentence_f1_sentences")
"""The counts of the mean over sentences."""


def counts_of(choices: Choices) -> tuple[str, ...]:
    """Return the counts of a sentence."""
    return (*COUNTS, *((PARSED,) * choices.tells_unparsed), *(BARE * choices.bare_spans))


def table_of(choices: Choices) -> ScoreTable:
    """Return the counts and scores of a metric with these choices, of which constituents have no gaps."""
    return _score_table(counts_of(choices), zero=choices.zero)


@cache
def _score_table(counts: tuple[str, ...], *, zero: bool) -> ScoreTable:
    """Return the table.

    Args:
        counts: of a sentence.
        zero: shares and means over valid sentences are those over all sentences.
    """
    names = (*counts, *(f"cutoff.{name}" for name in counts), "length", *(f"unscored.{name}" for name in SHOWN))
    columns = {_AMONG: "sentences" if zero else "valid", _SCORED: PARSED if PARSED in counts else "valid"}
    made = _bare_scores if BARE[0] in counts else _scores
    cutoff_scores = made("cutoff.", " Sentences up to the cut-off length only.", columns)
    return ScoreTable(names, (*made("", "", columns), *cutoff_scores), _with_unscored)


def _with_unscored(rows: Counts) -> Counts:
    """Put the figures that EVALB shows of a sentence that it does not count into the place of its counts: (n, k)."""
    figures = rows[:, -len(SHOWN) :]
    uncounted = np.flatnonzero(figures.any(axis=1))
    shown = rows.copy()
    shown[uncounted, : len(SHOWN)] = figures[uncounted]
    return shown


_NO_GOLD = "no scored sentence of gold has a bracket"
_NO_SYSTEM = "no scored sentence of the output has a bracket"
_NEITHER, _NO_SENTENCE = "no scored sentence has a bracket", "no sentence could be scored"

_ONE_SIDED = (
    *("labelled_precision", "unlabelled_precision", "coverage"),
    *("mean_crossing", "no_crossing", "two_or_fewer_crossing", "relative_crossing"),
)
_AMONG, _SCORED = "among", "scored"
"""Stand for the sentences of a share, and for those with a parse that could be scored."""

_COVERED = "sentences that could be scored: neither error nor skipped"
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
    ("coverage", f"Share of {_COVERED}.", _SCORED, "sentences", "the text has no sentences"),
)


def _scores(prefix: str, suffix: str, columns: Mapping[str, str]) -> list[Score]:
    ratios = [
        ratio_score(
            prefix + name,
            doc + suffix,
            prefix + columns.get(numerator, numerator),
            prefix + columns.get(denominator, denominator),
            higher_is_better=name not in ("mean_crossing", "relative_crossing"),
            high=None if name == "mean_crossing" else 1.0,
            undefined=undefined,
            one_sided=name in _ONE_SIDED,
        )
        for name, doc, numerator, denominator, undefined in _RATIOS
    ]
    labelled, unlabelled = (
        f1_score(
            f"{prefix}{name}", f"F1 of {what}.{suffix}", prefix + matched, prefix + "gold", prefix + "system", _NEITHER
        )
        for name, what, matched in (
            ("labelled_f1", "labelled brackets", "matched"),
            ("unlabelled_f1", "spans, labels ignored", "unlabelled_matched"),
        )
    )
    return [labelled, *ratios[:2], unlabelled, *ratios[2:]]


def _bare_scores(prefix: str, suffix: str, columns: Mapping[str, str]) -> list[Score]:
    """Return the mean over sentences, and the scores that look at no label."""
    total, sentences = (prefix + name for name in BARE)
    doc = f"Mean over sentences of the F1 of their spans, without those of one word or of the whole sentence.{suffix}"
    mean = ratio_score(f"{prefix}sentence_f1", doc, total, sentences, undefined=_NO_SENTENCE)
    others = _scores(prefix, suffix, columns)
    return [mean, *(score for score in others if not score.name.startswith(f"{prefix}labelled_"))]


GAP_BRACKETS = (
    *("matched", "gold", "system", "unlabelled_matched", "disc_matched", "disc_gold", "disc_system"),
    *("distinct_gold", "distinct_system"),
)
"""Brackets of a sentence, those with a gap, and those that differ from each other, as disco-dop's summary has them."""
GAP_WORDS = ("words", "correct_tags", "function_matched", "function_gold", "function_system")
GAP_STATES = ("sentences", "error", "skip", "valid", "complete", "disc_sentences", "disc_complete")
GAP_COUNTS = (*GAP_BRACKETS, *GAP_WORDS, *GAP_STATES)
"""Counts of a sentence; of sentences that are not valid only the status counts."""

_NO_SENTENCES = "the text has no sentences"
_ALL_GAPS = "sentences all of whose brackets with a gap match"
_NO_GAPS = "neither gold nor output has a bracket with a gap"


@cache
def gap_score_table(*, zero: bool, only_gaps: bool) -> ScoreTable:
    """Return the table.

    Args:
        zero: shares of valid sentences are those of all sentences.
        only_gaps: brackets without a gap are not compared, and sentences that have no others do not count as complete.
    """
    names = (*GAP_COUNTS, *(f"cutoff.{name}" for name in GAP_COUNTS), "length")
    among = "disc_sentences" if only_gaps else "sentences" if zero else "valid"
    complete = "disc_complete" if only_gaps else "complete"
    cutoff = _gap_scores("cutoff.", " Sentences up to the cut-off length only.", complete, among)
    return ScoreTable(names, (*_gap_scores("", "", complete, among), *cutoff))


def _gap_scores(prefix: str, suffix: str, complete: str, among: str) -> list[Score]:
    function_tags = {name: f"{prefix}function_{name}" for name in ("matched", "gold", "system")}
    why = _NO_GAPS if among == "disc_sentences" else _NO_SENTENCES
    gaps = ("disc_complete", "disc_sentences")

    def share(name: str, what: str, part: str, whole: str, undefined: str) -> Score:
        return ratio_score(
            prefix + name, f"Share of {what}.{suffix}", prefix + part, prefix + whole, undefined=undefined
        )

    return [
        *_shares(prefix, "labelled_", "brackets", ("matched", "gold", "system"), suffix),
        *_shares(prefix, "unlabelled_", "brackets, labels ignored", ("unlabelled_matched", "gold", "system"), suffix),
        *_shares(prefix, "disc_", "brackets that have a gap", ("disc_matched", "disc_gold", "disc_system"), suffix),
        share("exact_match", "sentences all of whose brackets match", complete, among, why),
        share("disc_exact_match", f"{_ALL_GAPS}, of those in which a side has one", *gaps, _NO_GAPS),
        share("tagging_accuracy", "words with gold's tag", "correct_tags", "words", "no word could be scored"),
        Score(
            name=f"{prefix}function_tags_f1",
            doc=f"F1 of function tags, of brackets that both sides have and of words whose tags agree.{suffix}",
            ratios=(
                Ratio({function_tags["matched"]: 2}, {function_tags["gold"]: 1, function_tags["system"]: 1}),
                Ratio({function_tags["system"]: 1}, {function_tags["system"]: 1}),
            ),
            join=lambda ratios: np.asarray(ratios[0] * ratios[1], np.float64),
            undefined="the output has no function tags",
        ),
        share("coverage", _COVERED, "valid", "sentences", _NO_SENTENCES)._replace(one_sided=True),
    ]


def _shares(prefix: str, name: str, what: str, counts: tuple[str, str, str], suffix: str) -> list[Score]:
    """Return F1, precision and recall of matched, gold's and the output's brackets."""
    own, golds = f"Share of the output's {what} that gold has.", f"Share of gold's {what} that the output has."
    return matched_scores(
        prefix + name,
        (f"F1 of {what}.{suffix}", own + suffix, golds + suffix),
        [prefix + count for count in counts],
        (f"neither side has {what}", f"the output has no {what}", f"gold has no {what}"),
    )
