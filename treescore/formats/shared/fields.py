"""Lines of tab-separated fields, cut and numbered without making a string of every field."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat

import numpy as np

from treescore.core.arrays import Bytes, Int32Array, IntArray
from treescore.core.jit import compiled, compiler_loaded
from treescore.core.vocabulary import Vocabulary

_TAB = 9
_LINES_AT_ONCE = 4096
_PROBES_PER_FIELD = 64
"""Beyond this average the text holds colliding strings on purpose, and a dict replaces the table."""


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


def numbered_fields(text: bytes, starts: IntArray, ends: IntArray, columns: int, vocabulary: Vocabulary) -> Fields:
    """Return the fields of lines as numbers of the vocabulary.

    Args:
        text: valid UTF-8.
        starts: first byte of each line.
        ends: byte after its last one. Each line has exactly `columns` fields.
        columns: how many fields a line has.
        vocabulary: new strings are added to it.
    """
    if not len(starts):
        return Fields(np.zeros((columns, 0), np.int32), np.zeros(0, np.int64))
    if not compiler_loaded():
        return _numbered_by_dict(text, starts, ends, columns, vocabulary)
    codes, first, last, good = _intern(np.frombuffer(text, np.uint8), starts, ends, columns)
    if not good:
        return _numbered_by_dict(text, starts, ends, columns, vocabulary)
    strings = [text[start:end].decode() for start, end in zip(first.tolist(), last.tolist(), strict=True)]
    return Fields(codes, vocabulary.numbers(strings))


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
    tabs = np.empty(len(starts), np.int64)
    for first in range(0, len(starts), _LINES_AT_ONCE):
        piece = slice(first, first + _LINES_AT_ONCE)
        tabs[piece] = list(map(text.count, repeat(b"\t"), starts[piece].tolist(), ends[piece].tolist()))
    return tabs


@compiled
def _intern(  # noqa: C901, PLR0912, PLR0915 - one loop over the bytes; compiled code calls nothing
    text: Bytes, starts: IntArray, ends: IntArray, columns: int
) -> tuple[Int32Array, IntArray, IntArray, bool]:
    """Number equal fields equally, in order of appearance, by open addressing on a hash of their bytes.

    Returns:
        codes int32 (columns, lines); first and last byte (half-open) of each distinct field; whether it went well.
    """
    lines = len(starts)
    codes = np.zeros((columns, lines), np.int32)
    size = 1 << 14
    table = np.full(size, -1, np.int32)
    capacity = 1 << 12
    first = np.zeros(capacity, np.int64)
    last = np.zeros(capacity, np.int64)
    hashes = np.zeros(capacity, np.uint64)
    count = 0
    budget = lines * columns * _PROBES_PER_FIELD + 100_000
    for line in range(lines):
        position = starts[line]
        for column in range(columns):
            begin = position
            value = np.uint64(14695981039346656037)
            while position < ends[line] and text[position] != _TAB:
                value = (value ^ np.uint64(text[position])) * np.uint64(1099511628211)
                position += 1
            value ^= value >> np.uint64(32)
            length = position - begin
            slot = np.int64(value & np.uint64(size - 1))
            while True:
                code = table[slot]
                if code < 0:
                    break
                if hashes[code] == value and last[code] - first[code] == length:
                    same = True
                    for step in range(length):
                        if text[first[code] + step] != text[begin + step]:
                            same = False
                            break
                    if same:
                        break
                slot = (slot + 1) & (size - 1)
                budget -= 1
                if budget < 0:
                    return codes, first[:count], last[:count], False
            if code < 0:
                if count == capacity:
                    capacity *= 2
                    first = np.append(first, np.zeros(count, np.int64))
                    last = np.append(last, np.zeros(count, np.int64))
                    hashes = np.append(hashes, np.zeros(count, np.uint64))
                code = np.int32(count)
                first[count] = begin
                last[count] = position
                hashes[count] = value
                table[slot] = code
                count += 1
                if count * 2 > size:
                    size *= 2
                    table = np.full(size, -1, np.int32)
                    for number in range(count):
                        slot = np.int64(hashes[number] & np.uint64(size - 1))
                        while table[slot] >= 0:
                            slot = (slot + 1) & (size - 1)
                            budget -= 1
                            if budget < 0:
                                return codes, first[:count], last[:count], False
                        table[slot] = number
            codes[column, line] = code
            position += 1
    return codes, first[:count], last[:count], True
