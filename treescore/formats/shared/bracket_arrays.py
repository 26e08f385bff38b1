"""Compiled reader of bracketed text: bytes to arrays.

Strings are numbered while reading (open addressing), and each distinct one is decoded once, at the end. One pass with
an explicit stack keeps the time proportional to the text, at any depth and length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bytes, Int32Array, IntArray
from treescore.core.jit import compiled, inlined

READABLE, UNCLOSED, UNOPENED, OUTSIDE = 0, 1, 2, 3
"""Faults of a sentence: brackets left open, a closing bracket too many, text outside brackets."""

NO_LIMIT, DEEP, LONG, MANY, FULL = 0, 1, 2, 3, 4
"""Why reading stopped: a bound on depth, on words of a sentence or on sentences; or the string table is full."""

LETTER, SPACE, OPENING, CLOSING, END = 0, 1, 2, 3, 4
"""Classes of bytes. END is the NUL after the text, and the line feed where a sentence is a line."""

FIRST_NODE, FIRST_WORD, FIRST_BYTE, FAULT, FAULT_BYTE, OPEN = range(6)
"""Columns of a row of sentences: offsets of its nodes, words and bytes; what is wrong, at which byte, open brackets."""

START, STOP, HASH = range(3)
"""Columns of a row of strings: its bytes, half-open, and its hash."""

ROUND, SQUARE = (ord("("), ord(")")), (ord("["), ord("]"))
"""The bytes of the two kinds of brackets."""

_LINE_FEED = 10
_FNV_PRIME = 1099511628211


class Bounds(NamedTuple):
    """Bounds on nested brackets, on words of a sentence and on sentences."""

    depth: int
    words: int
    sentences: int


class Layout(NamedTuple):
    """How to read a text.

    Attributes:
        by_line: a sentence is a line, else an outermost bracket.
        resync: where a sentence is a bracket: an opening bracket in the first column ends what is open.
        tagged: `(X y)` is the word y with the tag X, else a constituent.
        seed: of the hash; changes only the order of probing.
    """

    by_line: bool
    resync: bool
    tagged: bool
    seed: int


class StringTable(NamedTuple):
    """Distinct strings by open addressing.

    Attributes:
        slots: number of the string in each slot, -1 where free, int32, a power of two of them.
        strings: START, STOP and HASH of each string, int64 (capacity, 3).
        size: strings so far, int64 (1,).
    """

    slots: Int32Array
    strings: IntArray
    size: IntArray


class Columns(NamedTuple):
    """Arrays that the reader fills: of nodes, of words, and the open brackets (node and byte of each)."""

    labels: Int32Array
    starts: Int32Array
    ends: Int32Array
    forms: Int32Array
    tags: Int32Array
    stack: IntArray


class ScannedSentences(NamedTuple):
    """The sentences of a text, columns int64 (n,), named as the columns of a row."""

    first_node: IntArray
    first_word: IntArray
    first_byte: IntArray
    fault: IntArray
    fault_byte: IntArray
    open: IntArray


def byte_classes(opening: int, closing: int, *, by_line: bool) -> Bytes:
    """Return the class of each byte, uint8 (256,). White space is that of the C locale: U+00A0 is a letter."""
    classes = np.full(256, LETTER, np.uint8)
    classes[list(b" \t\n\v\f\r")] = SPACE
    classes[opening] = OPENING
    classes[closing] = CLOSING
    classes[0] = END
    if by_line:
        classes[_LINE_FEED] = END
    return classes


@compiled
def sizes(text: Bytes, classes: Bytes) -> tuple[int, int]:
    """Count opening brackets and tokens, which bound the sizes of the arrays."""
    brackets = tokens = 0
    before = SPACE
    for byte in text:
        kind = classes[byte]
        brackets += kind == OPENING
        tokens += kind == LETTER and before != LETTER
        before = kind
    return brackets, tokens


@inlined
def _token(text: Bytes, position: int, classes: Bytes, seed: int) -> tuple[int, int]:
    """Return the end of the token at `position`, and its hash."""
    value = seed
    while classes[text[position]] == LETTER:
        value = (value ^ text[position]) * _FNV_PRIME
        position += 1
    return position, value ^ (value >> 29)


@inlined
def _skip_space(text: Bytes, position: int, classes: Bytes) -> int:
    while classes[text[position]] == SPACE:
        position += 1
    return position


@inlined
def _number(text: Bytes, start: int, stop: int, value: int, table: StringTable) -> int:
    """Return the number of the string text[start:stop] with hash `value`; a new string is entered."""
    slots, strings, size = table
    mask = len(slots) - 1
    slot = value & mask
    while True:
        number = slots[slot]
        if number < 0:
            number = size[0]
            size[0] += 1
            slots[slot] = number
            strings[number, START] = start
            strings[number, STOP] = stop
            strings[number, HASH] = value
            return int(number)
        first = strings[number, START]
        if strings[number, HASH] == value and strings[number, STOP] - first == stop - start:
            position = start
            while position < stop and text[first] == text[position]:
                first += 1
                position += 1
            if position == stop:
                return int(number)
        slot = (slot + 1) & mask


@compiled
def _enlarged(strings: IntArray, count: int) -> tuple[Int32Array, IntArray]:
    """Return slots and strings with twice the capacity."""
    larger = np.empty((2 * len(strings), 3), np.int64)
    larger[:count] = strings[:count]
    slots = np.full(2 * len(larger), -1, np.int32)
    mask = len(slots) - 1
    for number in range(count):
        slot = larger[number, HASH] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
    return slots, larger


@inlined
def _read_opening(
    text: Bytes, position: int, classes: Bytes, layout: Layout, table: StringTable
) -> tuple[int, int, int]:
    """Read what the bracket at `position` opens: (label, -1, byte after it) or (tag, word, byte after the bracket).

    EVALB's rules; beyond them, blanks before the label and before the closing bracket are skipped.
    """
    tagged, seed = layout.tagged, layout.seed
    start = position + 1
    stop, value = _token(text, start, classes, seed)
    after = stop
    if classes[text[stop]] == SPACE and (tagged or stop == start):
        word = _skip_space(text, stop, classes)
        word_stop, word_value = _token(text, word, classes, seed)
        close = _skip_space(text, word_stop, classes)
        if stop == start and word_stop > word and classes[text[close]] != CLOSING:
            start, stop, value = word, word_stop, word_value
            after = stop
            word = close
            word_stop, word_value = _token(text, word, classes, seed)
            close = _skip_space(text, word_stop, classes)
        if tagged and word > stop and classes[text[close]] == CLOSING:
            tag = _number(text, start, stop, value, table)
            return tag, _number(text, word, word_stop, word_value, table), close + 1
    return _number(text, start, stop, value, table), -1, after


@compiled
def _sentence(  # noqa: C901, PLR0912, PLR0915 - one loop over bytes: calls would cost more than they do
    text: Bytes,
    position: int,
    classes: Bytes,
    layout: Layout,
    table: StringTable,
    columns: Columns,
    counts: IntArray,
    bounds: Bounds,
) -> tuple[int, int, int, int, int]:
    """Read one sentence from byte `position`; return the byte after it, fault, fault's byte, brackets left open, limit.

    Arrays are never reassigned here: numba would count references at every byte.
    """
    by_line, resync = layout.by_line, layout.resync
    labels, starts, ends, forms, tags, stack = columns
    node, first_word = counts[0], counts[1]
    word = first_word
    fault, fault_position, limit, depth = READABLE, 0, NO_LIMIT, 0
    while limit == NO_LIMIT:
        kind = classes[text[position]]
        if kind == SPACE:
            position += 1
            continue
        if kind == END or (resync and depth > 0 and kind == OPENING and text[position - 1] == _LINE_FEED):
            break
        if table.size[0] + 2 > len(table.strings):
            limit = FULL
        elif kind == OPENING:
            label, form, after = _read_opening(text, position, classes, layout, table)
            if form >= 0:
                forms[word], tags[word] = form, label
                word += 1
            elif depth == bounds.depth:
                limit = DEEP
                break
            else:
                labels[node], starts[node] = label, word - first_word
                stack[depth, 0], stack[depth, 1] = node, position
                depth += 1
                node += 1
            position = after
        elif kind == CLOSING:
            if depth > 0:
                depth -= 1
                ends[stack[depth, 0]] = word - first_word
            elif fault == READABLE:
                fault, fault_position = UNOPENED, position
            position += 1
        else:
            stop, value = _token(text, position, classes, layout.seed)
            if depth > 0:
                forms[word], tags[word] = _number(text, position, stop, value, table), -1
                word += 1
            elif fault != OUTSIDE:
                fault, fault_position = OUTSIDE, position
            position = stop
        if word - first_word > bounds.words:
            limit = LONG
        if depth == 0 and not by_line:
            break
    if depth > 0 and fault != OUTSIDE:
        fault, fault_position = UNCLOSED, stack[depth - 1, 1]
    for level in range(depth):
        ends[stack[level, 0]] = word - first_word
    if fault != OUTSIDE and limit == NO_LIMIT:
        counts[0], counts[1] = node, word
    return position, fault, fault_position, 0 if fault == OUTSIDE else depth, limit


class _Extent(NamedTuple):
    """How much of the columns a text fills.

    Attributes:
        nodes, words: used of the columns of nodes and of words.
        sentences: int64 (n, 6), columns as the constants above.
        unclosed: how many nodes were left open.
        strings: START, STOP and HASH of each string, int64 (s, 3).
        limit: the bound that was exceeded, or NO_LIMIT.
        byte: where reading stopped.
    """

    nodes: int
    words: int
    sentences: IntArray
    unclosed: int
    strings: IntArray
    limit: int
    byte: int


@compiled
def _scan(
    text: Bytes, classes: Bytes, layout: Layout, columns: Columns, unclosed: Int32Array, bounds: Bounds
) -> _Extent:
    """Read all sentences into `columns` and `unclosed`."""
    by_line, stack = layout.by_line, columns.stack
    sentences = np.empty((1024, 6), np.int64)
    table = StringTable(np.full(2048, -1, np.int32), np.empty((1024, 3), np.int64), np.zeros(1, np.int64))
    _number(text, 0, 0, layout.seed ^ (layout.seed >> 29), table)
    counts = np.zeros(2, np.int64)
    position = sentence = left_open = limit = 0
    while True:
        if not by_line:
            position = _skip_space(text, position, classes)
        if text[position] == 0:
            break
        if sentence == bounds.sentences:
            limit = MANY
            break
        if sentence == len(sentences):
            larger = np.empty((2 * sentence, 6), np.int64)
            larger[:sentence] = sentences
            sentences = larger
        row = sentences[sentence]
        row[FIRST_NODE], row[FIRST_WORD], row[FIRST_BYTE] = counts[0], counts[1], position
        position, row[FAULT], row[FAULT_BYTE], row[OPEN], limit = _sentence(
            text, position, classes, layout, table, columns, counts, bounds
        )
        if limit == FULL:
            slots, strings = _enlarged(table.strings, table.size[0])
            table = StringTable(slots, strings, table.size)
            position = row[FIRST_BYTE]
            continue
        if limit != NO_LIMIT:
            break
        for level in range(row[OPEN]):
            unclosed[left_open] = stack[level, 0] - row[FIRST_NODE]
            left_open += 1
        sentence += 1
        if by_line:
            position += 1
        elif row[FAULT] == OUTSIDE:
            while text[position] != 0 and text[position] != _LINE_FEED and classes[text[position]] != OPENING:
                position += 1
        elif row[FAULT] == UNOPENED and sentence > 1 and sentences[sentence - 2, FAULT] == READABLE:
            sentence -= 1
            sentences[sentence - 1, FAULT] = UNOPENED
            sentences[sentence - 1, FAULT_BYTE] = row[FAULT_BYTE]
    strings = table.strings[: table.size[0]]
    return _Extent(counts[0], counts[1], sentences[:sentence], left_open, strings, limit, position)


@dataclass(frozen=True, slots=True)
class Scan:
    """A text in columns: m nodes, w words, n sentences, s strings.

    Attributes:
        labels, starts, ends: of the nodes, int32 (m,); labels are numbers of `strings`.
        forms, tags: of the words, int32 (w,), numbers of `strings`; tag -1: none.
        sentences: where each sentence begins, and what is wrong with it.
        unclosed: numbers inside their sentences of the nodes left open, sentence by sentence, int32.
        strings: bytes of each distinct string, half-open, int64 (s, 2).
        limit: the bound that was exceeded, or NO_LIMIT, and `limit_byte` its byte.
    """

    labels: Int32Array
    starts: Int32Array
    ends: Int32Array
    forms: Int32Array
    tags: Int32Array
    sentences: ScannedSentences
    unclosed: Int32Array
    strings: IntArray
    limit: int
    limit_byte: int


def scan(text: Bytes, brackets: tuple[int, int], bounds: Bounds, *, by_line: bool, resync: bool, seed: int) -> Scan:
    """Read a whole text that ends with a NUL, and before it, where a sentence is a line, with a line feed.

    Args:
        text: uint8 (bytes,).
        brackets: ROUND, in which `(X y)` is a word y with the tag X, or SQUARE, in which it is a constituent.
        bounds: of the text.
        by_line: as in Layout, like `resync` and `seed`.
        resync: used only where a sentence is a bracket.
        seed: of the hash.
    """
    classes = byte_classes(*brackets, by_line=by_line)
    opening_count, tokens = sizes(text, classes)
    # Allocated here: numpy asks for huge pages, numba does not, and half the time would go into page faults.
    nodes = np.empty((3, opening_count), np.int32)
    words = np.empty((2, opening_count + tokens), np.int32)
    unclosed = np.empty(opening_count, np.int32)
    stack = np.empty((min(opening_count, bounds.depth) + 1, 2), np.int64)
    layout = Layout(by_line, resync, brackets == ROUND, seed)
    columns = Columns(nodes[0], nodes[1], nodes[2], words[0], words[1], stack)
    extent = _scan(text, classes, layout, columns, unclosed, bounds)
    return Scan(
        labels=columns.labels[: extent.nodes],
        starts=columns.starts[: extent.nodes],
        ends=columns.ends[: extent.nodes],
        forms=columns.forms[: extent.words],
        tags=columns.tags[: extent.words],
        sentences=ScannedSentences(*extent.sentences.T),
        unclosed=unclosed[: extent.unclosed],
        strings=extent.strings[:, :HASH],
        limit=extent.limit,
        limit_byte=extent.byte,
    )
