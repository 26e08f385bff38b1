"""What is wrong with a line that has other columns than it must, and with comments between words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treescore.core.counting import counted
from treescore.errors import Problem
from treescore.formats.shared.findings import Findings
from treescore.formats.shared.lines import Outline, short

SHOWN = 30
"""Characters of a field that a message shows."""
_LONGEST = 10_000
"""Bytes of a line that are looked at for a message."""


def other_columns(outline: Outline, row: int, columns: int) -> str:
    """Say how to fix a line that has not so many columns as it must."""
    start, end = int(outline.starts[row]), int(outline.ends[row])
    line = outline.text[start : min(end, start + _LONGEST)].decode("utf-8", "ignore")
    fields = line.split("\t")
    if not line.strip():
        return "It holds only spaces. End a sentence with an empty line."
    if len(fields) == 1 and " " in line:
        return "Separate the columns by tabs, not by spaces."
    if len(fields) > columns:
        return _surplus(fields, columns)
    spaced = [number for number, field in enumerate(fields, 1) if " " in field]
    if len(fields) < columns and len(spaced) == 1:
        shown = short(fields[spaced[0] - 1], SHOWN)
        return (
            f"Column {spaced[0]} is {shown!r}. If it holds two columns, put a tab between them; else write _ where a "
            "column has no value."
        )
    return "Write _ where a column has no value."


def _surplus(fields: list[str], columns: int) -> str:
    more = len(fields) - columns
    nth = f"The {columns + 1}th column"
    blank = [number for number, field in enumerate(fields, 1) if not field]
    if more == 1 and not fields[-1]:
        return f"{nth} is empty, since the line ends with a tab. Remove it."
    if more == 1 and len(blank) == 1:
        return f"Column {blank[0]} is empty. Remove one of the tabs around it."
    shown = f"{nth} is {short(fields[columns], SHOWN)!r}"
    return f"{shown}. Remove it." if more == 1 else f"{shown}, and {more - 1} more follow. Remove them."


def check_comments(outline: Outline, findings: Findings) -> None:
    """Add the comments that stand inside sentences; those that follow each other are one."""
    before = np.searchsorted(outline.lines, outline.misplaced) - 1
    rows, first, counts = np.unique(before, return_index=True, return_counts=True)

    def problem(row: int) -> Problem:
        at = int(np.searchsorted(rows, row))
        count = int(counts[at])
        what = "A comment stands" if count == 1 else f"{counted(count, 'line')} of comments stand"
        move = "it" if count == 1 else "them"
        detail = (
            f"{what} between the words of a sentence. Move {move} before the first word, or end the sentence before "
            f"{move} with a blank line."
        )
        placed = outline.problem(row, None, "conllu-comment-inside-sentence", detail)
        return replace(placed, line=int(outline.misplaced[first[at]]))

    findings.add(rows, problem)
