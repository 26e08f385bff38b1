"""Whether the trees of a bracketed text stand each on a line or are spread over lines, as their margin shows."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import Bytes
from treescore.core.jit import compiled
from treescore.formats.shared.bracket_arrays import ROUND, SQUARE

LINES, FREE = "lines", "free"
"""The layouts."""

_BLANKS = b" \t\n\v\f\r"
_FEED, _TAB = ord("\n"), ord("\t")
_TAB_STOP = 8


def brackets_of(text: bytes) -> tuple[int, int]:
    """Return the kind of brackets of a text: square ones where it begins with one."""
    return SQUARE if text.lstrip(_BLANKS)[:1] == b"[" else ROUND


def layout_of(text: bytes) -> str:
    """Tell the layout of a text, as a reader sees it.

    The margin is the column of the first line that is not blank. A line at the margin, or left of it, and the deeper
    lines after it are a group. Trees are spread where some group of several lines is balanced and its first line is
    not, or where the text is balanced and its first line is not. Blank lines play no part.
    """
    opening, closing = brackets_of(text)
    return FREE if _is_spread(np.frombuffer(text, np.uint8), opening, closing) else LINES


def layout_advice(layout: str) -> str:
    """Say that a layout was not given, and how to give the other one."""
    if layout == LINES:
        meant, other = "if trees are spread over lines", FREE
    else:
        meant, other = "if every line is a sentence", LINES
    return f'The layout was taken to be "{layout}"; {meant}, set {{"layout": "{other}"}}.'


@compiled
def _is_spread(text: Bytes, opening: int, closing: int) -> bool:
    """Apply the rule of `layout_of` in one pass; of brackets only the numbers count, not the order."""
    size = len(text)
    margin = -1
    first_line = whole = 0
    group = group_first = group_lines = 0
    position = 0
    while position < size:
        column = 0
        while position < size and (text[position] == 32 or (9 <= text[position] <= 13 and text[position] != _FEED)):
            column = (column // _TAB_STOP + 1) * _TAB_STOP if text[position] == _TAB else column + 1
            position += 1
        if position < size and text[position] == _FEED:
            position += 1
            continue
        if position == size:
            break
        left_open = 0
        while position < size and text[position] != _FEED:
            left_open += text[position] == opening
            left_open -= text[position] == closing
            position += 1
        position += 1
        if margin < 0:
            margin, first_line = column, left_open
        if column <= margin:
            if group_lines > 1 and group == 0 and group_first != 0:
                return True
            group = group_lines = 0
            group_first = left_open
        group += left_open
        group_lines += 1
        whole += left_open
    if group_lines > 1 and group == 0 and group_first != 0:
        return True
    return bool(first_line != 0 and whole == 0)
