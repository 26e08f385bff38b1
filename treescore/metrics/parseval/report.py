"""Print what other programs print: EVALB's table and summary, and those of EVALB_SPMRL, byte for byte.

Also the summary of `discodop eval`, and the most frequent errors, as in the table of Kikas & Treumuth (2007).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, IntArray
from treescore.core.params import Json
from treescore.core.registry import OK, Outcome
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.scores import SHOWN
from treescore.metrics.shared.words import aligned_text

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
        crossings = self.counted[valid, SHOWN.index("crossing")]
        numbers = [int(each.sum()) for each in (mask, mask & self.skipped, valid, valid & self.complete)]
        return _Sums._make([*self.counted[valid].sum(axis=0).tolist(), crossings, *numbers])


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
    short = _block(f"-- len<={cutoff} --", figures.chosen(figures.lengths <= cutoff))
    return f"{figures.table}{_LINE}{_totals(sums)}=== Summary ===\n{_block('-- All --', sums)}{short}"


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
    table = "".join([_REPORT_HEAD, _LINE, *_report_lines(lengths, status, shown)])
    skipped, complete = (outcome.rows[:, column_of[name]] > 0 for name in ("skip", "complete"))
    return _Figures(table, counted, lengths, valid, skipped, complete)


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


_DISCODOP_FIGURES = (
    ("labeled recall:", {"matched": 1}, {"gold": 1}),
    ("labeled precision:", {"matched": 1}, {"system": 1}),
    ("labeled f-measure:", {"matched": 2}, {"gold": 1, "system": 1}),
    ("exact match:", {"complete": 1}, {"valid": 1}),
    ("function tags:", {"function_matched": 2}, {"function_gold": 1, "function_system": 1}),
    ("pos accuracy:", {"correct_tags": 1}, {"words": 1}),
)
_WITH_GAPS_ALONE = {"complete": "disc_complete", "valid": "disc_sentences"}
_DIVIDED_BY_NOTHING = ("exact match:", "pos accuracy:")
"""Where disco-dop divides numbers, not sets, and prints 0DIV!."""
_DISCODOP_WIDTH, _FIGURE_WIDTH, _SPACE = 27, 6, 5

Counts = Mapping[str, int]


def discodop_report(outcome: Outcome, names: Sequence[str], choices: Choices) -> str:
    """Print the summary: over all sentences, and before that up to the cut-off length where one is longer.

    Brackets that stand twice count once in the numbers of brackets.
    """
    totals = dict(zip(names, outcome.totals.tolist(), strict=True))
    valid = outcome.rows[:, names.index("valid")] > 0
    lengths = outcome.rows[valid, -1]
    longest = int(lengths.max(initial=0))
    if longest <= choices.cutoff:
        columns: list[Counts] = [{**totals, "longest": longest}]
        heading = " Summary (ALL) ".center(35, "_")
    else:
        short = {name.removeprefix("cutoff."): count for name, count in totals.items() if name.startswith("cutoff.")}
        short["longest"] = int(lengths[lengths <= choices.cutoff].max(initial=0))
        columns = [short, {**totals, "longest": longest}]
        heading = f"{' Summary ':_^27} <= {choices.cutoff} ______ ALL"
    return "".join(f"{line}\n" for line in [heading, *_discodop_lines(columns, only_gaps=choices.only_gaps)])


def _discodop_lines(columns: Sequence[Counts], *, only_gaps: bool) -> Sequence[str]:
    renamed = _WITH_GAPS_ALONE if only_gaps else {}
    lines = [
        _discodop_line("number of sentences:", _whole(columns, renamed.get("valid", "valid"))),
        _discodop_line("longest sentence:", _whole(columns, "longest")),
        *_discodop_brackets(columns),
    ]
    for title, top, bottom in _DISCODOP_FIGURES:
        if "function_system" in bottom and not columns[-1]["function_system"]:
            continue
        parts = [
            [sum(times * counts[renamed.get(name, name)] for name, times in part.items()) for part in (top, bottom)]
            for counts in columns
        ]
        lines.append(_discodop_line(title, [_share(title, *part) for part in parts]))
    return lines


def _discodop_brackets(columns: Sequence[Counts]) -> Sequence[str]:
    """Return how many brackets each side has, and how many of them have gaps if there are any."""
    sides = {"gold": "gold", "cand.": "system"}
    numbers = {title: _whole(columns, f"distinct_{side}") for title, side in sides.items()}
    with_gaps = {title: _whole(columns, f"disc_{side}") for title, side in sides.items()}
    if len(columns) == 1 and any(columns[-1][f"disc_{side}"] for side in sides.values()):
        return [
            f"{_discodop_line(f'{title} brackets (disc.):', found)} ({with_gaps[title][0].strip()})"
            for title, found in numbers.items()
        ]
    lines = [_discodop_line(f"{title} brackets:", found) for title, found in numbers.items()]
    if any(columns[-1][f"disc_{side}"] for side in sides.values()):
        lines += [_discodop_line(f"disc. {title} brackets:", found) for title, found in with_gaps.items()]
    return lines


def _whole(columns: Sequence[Counts], name: str) -> list[str]:
    return [f"{counts[name]:>{_FIGURE_WIDTH}}" for counts in columns]


def _share(title: str, top: int, bottom: int) -> str:
    """Print a share in per cent; what disco-dop prints where it cannot divide, or precision and recall are 0."""
    if not bottom and title in _DIVIDED_BY_NOTHING:
        return "0DIV!".rjust(_FIGURE_WIDTH)
    undefined = not bottom or (not top and title in ("labeled f-measure:", "function tags:"))
    return "nan".rjust(_FIGURE_WIDTH) if undefined else f"{100 * top / bottom:>{_FIGURE_WIDTH}.2f}"


def _discodop_line(title: str, figures: Sequence[str]) -> str:
    return f"{title:<{_DISCODOP_WIDTH}}{(' ' * _SPACE).join(figures)}"


_ERRORS_HEAD = ("count", "kind", "label")
_NO_LABEL = "(none)"


def error_report(errors: Mapping[str, Json]) -> str:
    """Print a row for each kind of error and label, most frequent first, and how many there are of each kind.

    Args:
        errors: the member `errors` of the tables of a result.
    """
    kinds = ", ".join(f"{kind} {count}" for kind, count in errors["kinds"].items())
    rows = [(str(error["count"]), error["kind"], error["label"] or _NO_LABEL) for error in errors["frequent"]]
    return f"{aligned_text([_ERRORS_HEAD, *rows], right=1)}\nOf each kind: {kinds}.\n"
