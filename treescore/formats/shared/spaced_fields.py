"""Lines whose fields are separated by any white space, cut and numbered without making a string of every field."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, Bytes, Int32Array, IntArray
from treescore.core.jit import compiled, inlined
from treescore.formats.shared.interning import StringTable, new_table, number_all, padded, secret, strings_of, with_room

_PERCENT = ord("%")
_LINES_CUT = 512
"""Lines cut before their fields are numbered; their places stay in the cache."""
_OTHER_SPACES = tuple(
    space.encode()
    for space in "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space that is neither a blank, tab, vertical tab or form feed nor the end of a line."""

_MAY_BE_SPACE = np.zeros(256, np.bool_)
_MAY_BE_SPACE[[space[0] for space in _OTHER_SPACES]] = True


class SpacedFields(NamedTuple):
    """The first fields of l lines.

    Attributes:
        counts: fields of each line without its comment, int64 (l,).
        codes: which of the strings each of the first fields is, -1 where the line has fewer, int32 (l, columns).
        strings: the distinct ones.
    """

    counts: IntArray
    codes: Int32Array
    strings: list[str]


def spaced_fields(text: bytes, columns: int) -> SpacedFields:
    """Cut the lines of a text; `%%` after white space begins a comment.

    Args:
        text: valid UTF-8, every line with a line feed.
        columns: how many fields of each line are kept.
    """
    if _MAY_BE_SPACE[np.frombuffer(text, np.uint8)].any():
        for space in _OTHER_SPACES:
            text = text.replace(space, b" ")
    characters, words = padded(text)
    ends = np.flatnonzero(characters == ord("\n"))
    codes = np.full((len(ends), columns), -1, np.int32)
    counts = np.empty(len(ends), np.int64)
    table = _numbered(characters, words, ends, codes, counts, secret())
    return SpacedFields(counts, codes, strings_of(characters, table.places[: table.size[0]]))


@compiled
def _numbered(
    text: Bytes, words: Bits, ends: IntArray, codes: Int32Array, counts: IntArray, odd: np.uint64
) -> StringTable:
    """Fill `codes` and `counts`; return the distinct fields."""
    lines, columns = codes.shape
    table = new_table(odd)
    size = _LINES_CUT * columns
    firsts, stops, found = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int32)
    position = 0
    for begin in range(0, lines, _LINES_CUT):
        stop = min(begin + _LINES_CUT, lines)
        fields = 0
        for line in range(begin, stop):
            counts[line] = _cut(text, position, ends[line], columns, firsts[fields:], stops[fields:])
            fields += min(counts[line], columns)
            position = ends[line] + 1
        table = with_room(table, fields)
        number_all(words, firsts, stops, fields, table, found)
        fields = 0
        for line in range(begin, stop):
            for column in range(min(counts[line], columns)):
                codes[line, column] = found[fields]
                fields += 1
    return table


@inlined
def _is_space(byte: int) -> bool:
    return byte == 32 or 9 <= byte <= 12


@compiled
def _cut(text: Bytes, position: int, end: int, columns: int, firsts: IntArray, stops: IntArray) -> int:
    """Fill the places of the first fields of a line; return how many it has."""
    begin, count = position, 0
    while True:
        while position < end and _is_space(text[position]):
            position += 1
        if position == end:
            return count
        if position > begin and text[position] == _PERCENT and text[position + 1] == _PERCENT:
            return count
        if count < columns:
            firsts[count] = position
        while position < end and not _is_space(text[position]):
            position += 1
        if count < columns:
            stops[count] = position
        count += 1
