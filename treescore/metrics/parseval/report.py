"""Print EVALB's table and summary, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.registry import OK, SKIP, Outcome
from treescore.metrics.parseval.scores import SHOWN

_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n"
)
_LINE = "=" * 76 + "\n"


def evalb_report(outcome: Outcome, names: Sequence[str], cutoff: int) -> str:
    """Print what EVALB writes to its standard output; `names` are the columns of `outcome.rows`."""
    column_of = {name: column for column, name in enumerate(names)}
    counted = np.asarray(outcome.rows[:, [column_of[name] for name in SHOWN]], np.int64)
    figures = np.where(
        (outcome.status == OK)[:, None], counted, outcome.rows[:, [column_of[f"unscored.{name}"] for name in SHOWN]]
    )
    complete = outcome.rows[:, column_of["complete"]] > 0
    lengths = outcome.rows[:, column_of["length"]]
    rows = np.column_stack([lengths, outcome.status, figures]).tolist()
    all_sentences = np.ones(len(rows), np.bool_)
    return "".join(
        [
            _HEAD,
            _LINE,
            *(_row(number, *row) for number, row in enumerate(rows, start=1)),
            _LINE,
            _totals(counted[outcome.status == OK].sum(axis=0).tolist()),
            "=== Summary ===\n",
            _block("-- All --", all_sentences, outcome.status, counted, complete),
            _block(f"-- len<={cutoff} --", lengths <= cutoff, outcome.status, counted, complete),
        ]
    )


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole > 0 else 0.0


def _row(
    number: int, length: int, status: int, matched: int, gold: int, system: int, crossing: int, words: int, tags: int
) -> str:
    # EVALB's numbers are those of the status: 1 is an error, 2 a skipped sentence.
    return (
        f"{number:4d}  {length:3d}    {status:d}  {_percent(matched, gold):6.2f} {_percent(matched, system):6.2f}"
        f"   {matched:3d}    {gold:3d}  {system:3d}    {crossing:3d}   {words:4d}  {tags:4d}"
        f"   {_percent(tags, words):6.2f}\n"
    )


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
