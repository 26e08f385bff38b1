"""Print EVALB's table and summary, and those of EVALB_SPMRL, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, IntArray
from treescore.core.registry import OK, Outcome
from treescore.metrics.parseval.scores import SHOWN

_REPORT_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n"
)
_ROW = "%4d  %3d    %d  %6.2f %6.2f   %3d    %3d  %3d    %3d   %4d  %4d   %6.2f\n"
_LINE = "=" * 76 + "\n"


_UNPARSED = 3
"""The status that EVALB_SPMRL -X prints of a sentence that counts as missed."""


class _Figures(NamedTuple):
    """What is printed of n sentences.

    Attributes:
        table: the head, and a row for each sentence.
        counted: what is added up, in the order of `SHOWN`, int64 (n, 6).
        lengths: words of each, int64 (n,).
        valid, skipped, complete: bool (n,).
    """

    table: str
    counted: IntArray
    lengths: IntArray
    valid: BoolArray
    skipped: BoolArray
    complete: BoolArray

    def chosen(self, mask: BoolArray) -> _Sums:
        """Add up some of the sentences."""
        valid = mask & self.valid
        matched, gold, system, crossing, words, tags = self.counted[valid].sum(axis=0).tolist()
        return _Sums(
            matched,
            gold,
            system,
            crossing,
            words,
            tags,
            crossings=self.counted[valid, SHOWN.index("crossing")],
            sentences=int(mask.sum()),
            skipped=int((mask & self.skipped).sum()),
            valid=int(valid.sum()),
            complete=int((valid & self.complete).sum()),
        )


class _Sums(NamedTuple):
    """Sums over sentences, in the order of `SHOWN`; `crossings`, of each, int64; and numbers of sentences."""

    matched: int
    gold: int
    system: int
    crossing: int
    words: int
    tags: int
    crossings: IntArray
    sentences: int
    skipped: int
    valid: int
    complete: int

    @property
    def recall(self) -> float:
        """In percent."""
        return _percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """In percent."""
        return _percent(self.matched, self.system)

    @property
    def f_measure(self) -> str:
        """In percent, as printed: EVALB divides 0 by 0 in C on x86-64, which prints the sign of the NaN."""
        total = self.recall + self.precision
        return f"{2 * self.precision * self.recall / total:6.2f}" if total else "  -nan"

    @property
    def tagging(self) -> float:
        """In percent."""
        return _percent(self.tags, self.words)


def evalb_report(outcome: Outcome, names: Sequence[str], cutoff: int) -> str:
    """Print what EVALB writes to its standard output; `names` are the columns of `outcome.rows`."""
    figures = _figures(outcome, names)
    sums = figures.chosen(np.ones(len(figures.lengths), np.bool_))
    return "".join(
        [
            figures.table,
            _LINE,
            _totals(sums),
            "=== Summary ===\n",
            _block("-- All --", sums),
            _block(f"-- len<={cutoff} --", figures.chosen(figures.lengths <= cutoff)),
        ]
    )


def spmrl_report(outcome: Outcome, names: Sequence[str]) -> str:
    """Print what EVALB_SPMRL -L writes, with the right names of precision and recall and without that of the file."""
    figures = _figures(outcome, names)
    sums = figures.chosen(np.ones(len(figures.lengths), np.bool_))
    return (
        f"{figures.table}F1: {sums.f_measure} %\tPrec: {sums.precision:6.2f} %\tRec: {sums.recall:6.2f} %\t"
        f"POS: {sums.tagging:6.2f} %\tEX: {_percent(sums.complete, sums.valid):6.2f} %\t"
        f"Unparsed: {sums.sentences - sums.valid:6d}\tSent: {sums.sentences:6d}\n"
    )


def _figures(outcome: Outcome, names: Sequence[str]) -> _Figures:
    column_of = {name: column for column, name in enumerate(names)}
    counted = np.asarray(outcome.rows[:, [column_of[name] for name in SHOWN]], np.int64)
    scored, valid = outcome.status == OK, outcome.rows[:, column_of["valid"]] > 0
    shown = np.where(
        (scored | valid)[:, None], counted, outcome.rows[:, [column_of[f"unscored.{name}"] for name in SHOWN]]
    )
    lengths = np.asarray(outcome.rows[:, column_of["length"]], np.int64)
    status = np.where(valid & ~scored, _UNPARSED, outcome.status)
    return _Figures(
        table="".join([_REPORT_HEAD, _LINE, *_report_lines(lengths, status, shown)]),
        counted=counted,
        lengths=lengths,
        valid=valid,
        skipped=outcome.rows[:, column_of["skip"]] > 0,
        complete=outcome.rows[:, column_of["complete"]] > 0,
    )


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole > 0 else 0.0


def _report_lines(lengths: IntArray, status: Any, figures: IntArray) -> Iterator[str]:
    # EVALB's numbers are those of the status: 1 is an error, 2 a skipped sentence.
    matched, gold, system, crossing, words, tags = figures.T
    rates = _percents(matched, gold), _percents(matched, system)
    counts = matched, gold, system, crossing, words, tags
    columns = np.arange(1, len(lengths) + 1), lengths, status, *rates, *counts, _percents(tags, words)
    return map(_ROW.__mod__, zip(*(column.tolist() for column in columns), strict=True))


def _percents(parts: IntArray, wholes: IntArray) -> FloatArray:
    """Return what `_percent` returns of each pair, float64 (n,)."""
    percents = np.zeros(len(parts))
    np.divide(100.0 * parts, wholes, out=percents, where=wholes > 0)
    return percents


def _totals(sums: _Sums) -> str:
    brackets = ""
    if sums.gold > 0 and sums.system > 0:
        brackets = (
            f"                {sums.recall:6.2f} {sums.precision:6.2f}"
            f" {sums.matched:6d} {sums.gold:5d} {sums.system:5d}  {sums.crossing:5d}"
        )
    return f"{brackets}  {sums.words:5d} {sums.tags:5d}   {sums.tagging:6.2f}\n"


def _block(title: str, sums: _Sums) -> str:
    valid = sums.valid
    return (
        f"\n{title}\n"
        f"Number of sentence        = {sums.sentences:6d}\n"
        f"Number of Error sentence  = {sums.sentences - valid - sums.skipped:6d}\n"
        f"Number of Skip  sentence  = {sums.skipped:6d}\n"
        f"Number of Valid sentence  = {valid:6d}\n"
        f"Bracketing Recall         = {sums.recall:6.2f}\n"
        f"Bracketing Precision      = {sums.precision:6.2f}\n"
        f"Bracketing FMeasure       = {sums.f_measure}\n"
        f"Complete match            = {_percent(sums.complete, valid):6.2f}\n"
        f"Average crossing          = {sums.crossing / valid if valid else 0.0:6.2f}\n"
        f"No crossing               = {_percent(int((sums.crossings == 0).sum()), valid):6.2f}\n"
        f"2 or less crossing        = {_percent(int((sums.crossings <= 2).sum()), valid):6.2f}\n"
        f"Tagging accuracy          = {sums.tagging:6.2f}\n"
    )
