"""Lines of fields, separated by tabs or by any white space, cut and numbered without making a string of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, BoolArray, Bytes, Int32Array, IntArray
from treescore.core.jit import compiled, inlined, unless_interpreted, weighing
from treescore.core.trees import Vocabulary
from treescore.formats.shared.interning import (
    ONES,
    StringTable,
    bytes_below,
    new_table,
    number_all,
    padded,
    secret,
    strings_of,
    with_room,
    zeros,
)

_TAB, _LINE_FEED = 9, 10
_TABS, _LINE_FEEDS = np.uint64(_TAB) * ONES, np.uint64(_LINE_FEED) * ONES
_LINES_AT_ONCE = 512
"""Lines whose fields are strings at once, 0.3 MB of them: eight times as many take no less time."""
_LINES_CUT = 256
"""Lines cut before their fields are numbered; their places stay in the cache."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of lines, each column made on demand: `fields[column]` is int64 (lines,).

    Attributes:
        codes: which of the text's distinct strings each field is, int32 (columns, lines).
        numbers: the vocabulary's number of each distinct string, int64.
    """

    codes: Int32Array
    numbers: IntArray

    def __getitem__(self, column: int) -> IntArray:
        numbered: IntArray = self.numbers[self.codes[column]]
        return numbered

    def of_lines(self, kept: BoolArray) -> Fields:
        """Return the fields of some of the lines, bool (lines,)."""
        return Fields(self.codes[:, kept], self.numbers)


def numbered_fields(
    text: bytes, starts: IntArray, ends: IntArray, columns: int, vocabulary: Vocabulary
) -> Fields | None:
    """Return the fields of lines as numbers of the vocabulary, None where a line has more or less of them.

    Args:
        text: valid UTF-8, every line with a line feed.
        starts: first byte of each line.
        ends: its line feed.
        columns: how many fields a line has.
        vocabulary: new strings are added to it, in the order of the text, unless the answer is None.
    """
    characters, words = padded(text)
    codes = np.empty((columns, len(starts)), np.int32)
    found = unless_interpreted(_intern, characters, words, starts, codes, secret())
    if found is None:
        regular = bool((tabs_of(text, starts, ends) == columns - 1).all())
        return _numbered_by_dict(text, starts, ends, columns, vocabulary) if regular else None
    table, even = found
    if not even:
        return None
    return Fields(codes, vocabulary.numbers_of_distinct(strings_of(characters, table.places[: table.size[0]])))


def _numbered_by_dict(text: bytes, starts: IntArray, ends: IntArray, columns: int, vocabulary: Vocabulary) -> Fields:
    """Do the same in Python, a few lines at a time, since each field becomes a string for a moment."""
    codes = np.empty((columns, len(starts)), np.int32)
    for first in range(0, len(starts), _LINES_AT_ONCE):
        piece = slice(first, first + _LINES_AT_ONCE)
        flat = vocabulary.numbers(_joined(text, starts[piece], ends[piece]).decode().split("\t"))
        codes[:, piece] = flat.reshape(-1, columns).T
    return Fields(codes, np.arange(len(vocabulary)))


def _joined(text: bytes, starts: IntArray, ends: IntArray) -> bytes:
    """Join lines by tabs, cutting out runs of adjacent lines."""
    gaps = starts[1:] != ends[:-1] + 1
    runs = zip(starts[np.append(True, gaps)].tolist(), ends[np.append(gaps, True)].tolist(), strict=True)
    return b"\t".join([text[start:end] for start, end in runs]).replace(b"\n", b"\t")


def tabs_of(text: bytes, starts: IntArray, ends: IntArray) -> IntArray:
    """Count the tabs of each line: int64 (lines,)."""
    characters = np.frombuffer(text, np.uint8)
    counts = np.empty(len(starts), np.int64)
    for first in range(0, len(starts), _LINES_AT_ONCE):
        begin, end = starts[first : first + _LINES_AT_ONCE], ends[first : first + _LINES_AT_ONCE]
        tabs = np.flatnonzero(characters[begin[0] : end[-1]] == _TAB) + begin[0]
        counts[first : first + _LINES_AT_ONCE] = np.searchsorted(tabs, end) - np.searchsorted(tabs, begin)
    return counts


@compiled
@weighing(0.05)  # what `_numbered_by_dict` takes
def _intern(text: Bytes, words: Bits, starts: IntArray, codes: Int32Array, odd: np.uint64) -> tuple[StringTable, bool]:
    """Number the fields of lines, equal ones equally, in the order of the text: fill `codes`, int32 (columns, lines).

    Returns:
        The distinct fields; whether each line has as many fields as there are columns, else nothing holds.
    """
    columns, lines = codes.shape
    table = new_table(odd)
    size = _LINES_CUT * columns
    firsts, stops, found = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int32)
    for line in range(0, lines, _LINES_CUT):
        cut = min(_LINES_CUT, lines - line)
        if not _cut(text, words, starts[line : line + cut], columns, firsts, stops):
            return table, False
        table = with_room(table, cut * columns)
        number_all(words, firsts, stops, cut * columns, table, found)
        for row in range(cut):
            for column in range(columns):
                codes[column, line + row] = found[row * columns + column]
    return table, True


@compiled
def _cut(text: Bytes, words: Bits, starts: IntArray, columns: int, firsts: IntArray, stops: IntArray) -> bool:
    """Cut lines into fields, and tell whether each has as many as there are columns.

    Args:
        text: padded.
        words: of the text.
        starts: first byte of each line.
        columns: fields of each line.
        firsts: filled with the first byte of each field.
        stops: filled with the byte after its last.
    """
    field = 0
    for line in range(len(starts)):
        position = starts[line]
        for column in range(columns):
            firsts[field] = position
            marks = np.uint64(0)
            while marks == 0:
                word = words[position]
                marks = zeros(word ^ _TABS) | zeros(word ^ _LINE_FEEDS)
                position += bytes_below(marks)
            if text[position] != (_TAB if column < columns - 1 else _LINE_FEED):
                return False
            stops[field] = position
            field += 1
            position += 1
    return True


_PERCENT = ord("%")
_SPACED_LINES_CUT = 512
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
    size = _SPACED_LINES_CUT * columns
    firsts, stops, found = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int32)
    position = 0
    for begin in range(0, lines, _SPACED_LINES_CUT):
        stop = min(begin + _SPACED_LINES_CUT, lines)
        fields = 0
        for line in range(begin, stop):
            counts[line] = _cut_at_spaces(text, position, ends[line], columns, firsts[fields:], stops[fields:])
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
def _cut_at_spaces(text: Bytes, position: int, end: int, columns: int, firsts: IntArray, stops: IntArray) -> int:
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
