"""The summary of `discodop eval`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from treescore.core.registry import Outcome
from treescore.core.scores import ScoreTable

_FIGURES = (
    ("labeled recall:", "labelled_recall"),
    ("labeled precision:", "labelled_precision"),
    ("labeled f-measure:", "labelled_f1"),
    ("exact match:", "exact_match"),
    ("function tags:", "function_tags_f1"),
    ("pos accuracy:", "tagging_accuracy"),
)
_WIDTH, _FIGURE_WIDTH = 27, 6


def discodop_report(outcome: Outcome, table: ScoreTable) -> str:
    """Print the summary over all sentences; nan where there is nothing to divide by, or precision and recall are 0."""
    totals = dict(zip(table.count_names, outcome.totals.tolist(), strict=True))
    values = {name: float(value) for name, value in table.values(outcome.totals).items()}
    lengths = outcome.rows[:, -1]
    lines = [
        " Summary (ALL) __________",
        _line("number of sentences:", str(totals["valid"])),
        _line("longest sentence:", str(int(np.max(lengths, initial=0)))),
        *_brackets(totals),
    ]
    for title, name in _FIGURES:
        value = values[name]
        if name == "function_tags_f1" and math.isnan(value):
            continue
        undefined = math.isnan(value) or (name == "labelled_f1" and not value)
        lines.append(_line(title, "nan" if undefined else f"{100 * value:.2f}"))
    return "\n".join(lines) + "\n"


def _brackets(totals: Mapping[str, int]) -> Sequence[str]:
    """Return how many brackets each side has, and how many of them have gaps if there are any."""
    gaps = totals["disc_gold"] + totals["disc_system"] > 0
    lines = []
    for title, side in (("gold", "gold"), ("cand.", "system")):
        if gaps:
            line = _line(f"{title} brackets (disc.):", str(totals[side]))
            lines.append(f"{line} ({totals[f'disc_{side}']})")
        else:
            lines.append(_line(f"{title} brackets:", str(totals[side])))
    return lines


def _line(title: str, figure: str) -> str:
    return f"{title:<{_WIDTH}}{figure:>{_FIGURE_WIDTH}}"
