"""Classes of the bytes of bracketed text, and the places of all but letters."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import Bytes, Int32Array, IntArray
from treescore.core.jit import compiled

LETTER, SPACE, OPENING, CLOSING, END = 0, 1, 2, 3, 4
"""Classes of bytes. END is the NUL after the text, and the line feed where a sentence is a line."""

LINE_FEED = 10

_INT32 = 1 << 31


def byte_classes(opening: int, closing: int, *, by_line: bool) -> Bytes:
    """Return the class of each byte, uint8 (256,). White space is that of the C locale: U+00A0 is a letter."""
    classes = np.full(256, LETTER, np.uint8)
    classes[list(b" \t\n\v\f\r")] = SPACE
    classes[opening] = OPENING
    classes[closing] = CLOSING
    classes[0] = END
    if by_line:
        classes[LINE_FEED] = END
    return classes


def marked(text: Bytes, classes: Bytes, most: int) -> Int32Array | IntArray:
    """Return the places of all bytes that are no letters, at most so many, with room behind them.

    They are int32, of a text of 2 GiB int64.
    """
    marks: Int32Array | IntArray = np.empty(most + 1, np.int32)
    if len(text) > _INT32:
        marks = np.empty(most + 1, np.int64)
    _mark(text, classes, marks)
    return marks


@compiled
def _mark(text: Bytes, classes: Bytes, marks: Int32Array | IntArray) -> None:
    """Write the places without a branch: each over that of the letter before it."""
    count = 0
    for position in range(len(text)):
        marks[count] = position
        count += classes[text[position]] != LETTER
