"""Print EVALB's table and summary, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, IntArray
from treescore.core.registry import OK, SKIP, Outcome
from treescore.metrics.parseval.scores import SHOWN

_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n"
)
_ROW = "%4d  %3d    %d  %6.2f %6.2f   %3d    %3d  %3d    %3d   %4d  %4d   %6.2f\n"
_LINE = "=" * 76 + "\n"


def evalb_report(outcome: Outcome, names: Sequence[str], cutoff: int) -> str:
    """Print what EVALB writes to its standard output; `names` are the columns of `outcome.rows`."""
    column_of = {name: column for column, name in enumerate(names)}
    counted = np.asarray(outcome.rows[:, [column_of[name] for name in SHOWN]], np.int64)
    figures = np.where(
        (outcome.status == OK)[:, None], counted, outcome.rows[:, [column_of[f"unscored.{name}"] for name in SHOWN]]
    )
    complete = outcome.rows[:, column_of["complete"]] > 0
    lengths = np.asarray(outcome.rows[:, column_of["length"]], np.int64)
    all_sentences = np.ones(len(lengths), np.bool_)
    return "".join(
        [
            _HEAD,
            _LINE,
            *_rows(lengths, outcome.status, figures),
            _LINE,
            _totals(counted[outcome.status == OK].sum(axis=0).tolist()),
            "=== Summary ===\n",
            _block("-- All --", all_sentences, outcome.status, counted, complete),
            _block(f"-- len<={cutoff} --", lengths <= cutoff, outcome.status, counted, complete),
        ]
    )


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole > 0 else 0.0


def _rows(lengths: IntArray, status: Any, figures: IntArray) -> Iterator[str]:
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


def _totals(figures: Sequence[int]) -> str:
    matched, gold, system, crossing, words, tags = figures
    brackets = ""
    if gold > 0 and system > 0:
        brackets = (
            f"                {_percent(matched, gold):6.2f} {_percent(matched, system):6.2f}"
            f" {matched:6d} {gold:5d} {system:5d}  {crossing:5d}"
        )
    return f"{brackets}  {words:5d} {tags:5d}   {_percent(tags, words):6.2f}\n"


def _block(title: str, mask: BoolArray, status: Any, counted: IntArray, complete: BoolArray) -> str:
    valid = mask & (status == OK)
    matched, gold, system, crossing, words, tags = counted[valid].sum(axis=0).tolist()
    sentences, valids = int(mask.sum()), int(valid.sum())
    skipped = int((mask & (status == SKIP)).sum())
    recall, precision = _percent(matched, gold), _percent(matched, system)
    # EVALB divides 0 by 0 in C on x86-64, which prints the sign of the NaN.
    total = recall + precision
    f_measure = f"{2 * precision * recall / total:6.2f}" if total else "  -nan"
    crossings = counted[valid, SHOWN.index("crossing")]
    return (
        f"\n{title}\n"
        f"Number of sentence        = {sentences:6d}\n"
        f"Number of Error sentence  = {sentences - valids - skipped:6d}\n"
        f"Number of Skip  sentence  = {skipped:6d}\n"
        f"Number of Valid sentence  = {valids:6d}\n"
        f"Bracketing Recall         = {recall:6.2f}\n"
        f"Bracketing Precision      = {precision:6.2f}\n"
        f"Bracketing FMeasure       = {f_measure}\n"
        f"Complete match            = {_percent(int((valid & complete).sum()), valids):6.2f}\n"
        f"Average crossing          = {crossing / valids if valids else 0.0:6.2f}\n"
        f"No crossing               = {_percent(int((crossings == 0).sum()), valids):6.2f}\n"
        f"2 or less crossing        = {_percent(int((crossings <= 2).sum()), valids):6.2f}\n"
        f"Tagging accuracy          = {_percent(tags, words):6.2f}\n"
    )
