"""Compiled reader of bracketed text: bytes to arrays.

Strings are numbered while reading (open addressing), and each distinct one is decoded once, at the end. One pass with
an explicit stack keeps the time proportional to the text, at any depth and length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

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
        known: strings so far, int64 (1,).
    """

    slots: Any
    strings: Any
    known: Any


class Columns(NamedTuple):
    """Arrays that the reader fills: of nodes, of words, and the open brackets (node and byte of each)."""

    labels: Any
    starts: Any
    ends: Any
    forms: Any
    tags: Any
    stack: Any


class ScannedSentences(NamedTuple):
    """The sentences of a text, columns int64 (n,), named as the columns of a row."""

    first_node: Any
    first_word: Any
    first_byte: Any
    fault: Any
    fault_byte: Any
    open: Any


def byte_classes(opening: int, closing: int, *, by_line: bool) -> Any:
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
def sizes(text: Any, classes: Any) -> tuple[int, int]:
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
def _token(text: Any, at: int, classes: Any, seed: int) -> tuple[int, int]:
    """Return the end of the token at `at`, and its hash."""
    value = seed
    while classes[text[at]] == LETTER:
        value = (value ^ text[at]) * _FNV_PRIME
        at += 1
    return at, value ^ (value >> 29)


@inlined
def _past_space(text: Any, at: int, classes: Any) -> int:
    while classes[text[at]] == SPACE:
        at += 1
    return at


@inlined
def _number(text: Any, start: int, stop: int, value: int, table: StringTable) -> int:
    """Return the number of the string text[start:stop] with hash `value`; a new string is entered."""
    slots, strings, known = table
    mask = len(slots) - 1
    slot = value & mask
    while True:
        found = slots[slot]
        if found < 0:
            found = known[0]
            known[0] += 1
            slots[slot] = found
            strings[found, START] = start
            strings[found, STOP] = stop
            strings[found, HASH] = value
            return int(found)
        first = strings[found, START]
        if strings[found, HASH] == value and strings[found, STOP] - first == stop - start:
            at = start
            while at < stop and text[first] == text[at]:
                first += 1
                at += 1
            if at == stop:
                return int(found)
        slot = (slot + 1) & mask


@compiled
def _grown(strings: Any, known: int) -> Any:
    """Return slots and strings with twice the capacity."""
    more = np.empty((2 * len(strings), 3), np.int64)
    more[:known] = strings[:known]
    slots = np.full(2 * len(more), -1, np.int32)
    mask = len(slots) - 1
    for number in range(known):
        slot = more[number, HASH] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
    return slots, more


@inlined
def _opened(text: Any, at: int, classes: Any, layout: Layout, table: StringTable) -> tuple[int, int, int]:
    """Read what the bracket at `at` opens: (label, -1, byte after the label) or (tag, word, byte after the bracket).

    EVALB's rules; beyond them, blanks before the label and before the closing bracket are skipped.
    """
    tagged, seed = layout.tagged, layout.seed
    start = at + 1
    stop, value = _token(text, start, classes, seed)
    after = stop
    if classes[text[stop]] == SPACE and (tagged or stop == start):
        word = _past_space(text, stop, classes)
        word_stop, word_value = _token(text, word, classes, seed)
        closing = _past_space(text, word_stop, classes)
        if stop == start and word_stop > word and classes[text[closing]] != CLOSING:
            start, stop, value = word, word_stop, word_value
            after = stop
            word = closing
            word_stop, word_value = _token(text, word, classes, seed)
            closing = _past_space(text, word_stop, classes)
        if tagged and word > stop and classes[text[closing]] == CLOSING:
            tag = _number(text, start, stop, value, table)
            return tag, _number(text, word, word_stop, word_value, table), closing + 1
    return _number(text, start, stop, value, table), -1, after


@compiled
def _sentence(  # noqa: C901, PLR0912, PLR0915 - one loop over bytes: calls would cost more than they do
    text: Any, at: int, classes: Any, layout: Layout, table: StringTable, columns: Columns, counts: Any, bounds: Bounds
) -> Any:
    """Read one sentence from byte `at`; return the byte after it, fault, fault's byte, brackets left open, limit.

    Arrays are never reassigned here: numba would count references at every byte.
    """
    by_line, resync = layout.by_line, layout.resync
    labels, starts, ends, forms, tags, stack = columns
    node, first_word = counts[0], counts[1]
    word = first_word
    fault, fault_at, limit, depth = READABLE, 0, NO_LIMIT, 0
    while limit == NO_LIMIT:
        kind = classes[text[at]]
        if kind == SPACE:
            at += 1
            continue
        if kind == END or (resync and depth > 0 and kind == OPENING and text[at - 1] == _LINE_FEED):
            break
        if table.known[0] + 2 > len(table.strings):
            limit = FULL
        elif kind == OPENING:
            label, form, after = _opened(text, at, classes, layout, table)
            if form >= 0:
                forms[word], tags[word] = form, label
                word += 1
            elif depth == bounds.depth:
                limit = DEEP
                break
            else:
                labels[node], starts[node] = label, word - first_word
                stack[depth, 0], stack[depth, 1] = node, at
                depth += 1
                node += 1
            at = after
        elif kind == CLOSING:
            if depth > 0:
                depth -= 1
                ends[stack[depth, 0]] = word - first_word
            elif fault == READABLE:
                fault, fault_at = UNOPENED, at
            at += 1
        else:
            stop, value = _token(text, at, classes, layout.seed)
            if depth > 0:
                forms[word], tags[word] = _number(text, at, stop, value, table), -1
                word += 1
            elif fault != OUTSIDE:
                fault, fault_at = OUTSIDE, at
            at = stop
        if word - first_word > bounds.words:
            limit = LONG
        if depth == 0 and not by_line:
            break
    if depth > 0 and fault != OUTSIDE:
        fault, fault_at = UNCLOSED, stack[depth - 1, 1]
    for level in range(depth):
        ends[stack[level, 0]] = word - first_word
    if fault != OUTSIDE and limit == NO_LIMIT:
        counts[0], counts[1] = node, word
    return at, fault, fault_at, 0 if fault == OUTSIDE else depth, limit


@compiled
def _scan(text: Any, classes: Any, layout: Layout, columns: Columns, unclosed: Any, bounds: Bounds) -> Any:
    by_line, stack = layout.by_line, columns.stack
    sentences = np.empty((1024, 6), np.int64)
    table = StringTable(np.full(2048, -1, np.int32), np.empty((1024, 3), np.int64), np.zeros(1, np.int64))
    _number(text, 0, 0, layout.seed ^ (layout.seed >> 29), table)
    counts = np.zeros(2, np.int64)
    at = sentence = left_open = limit = 0
    while True:
        if not by_line:
            at = _past_space(text, at, classes)
        if text[at] == 0:
            break
        if sentence == bounds.sentences:
            limit = MANY
            break
        if sentence == len(sentences):
            longer = np.empty((2 * sentence, 6), np.int64)
            longer[:sentence] = sentences
            sentences = longer
        row = sentences[sentence]
        row[FIRST_NODE], row[FIRST_WORD], row[FIRST_BYTE] = counts[0], counts[1], at
        at, row[FAULT], row[FAULT_BYTE], row[OPEN], limit = _sentence(
            text, at, classes, layout, table, columns, counts, bounds
        )
        if limit == FULL:
            slots, strings = _grown(table.strings, table.known[0])
            table = StringTable(slots, strings, table.known)
            at = row[FIRST_BYTE]
            continue
        if limit != NO_LIMIT:
            break
        for level in range(row[OPEN]):
            unclosed[left_open] = stack[level, 0] - row[FIRST_NODE]
            left_open += 1
        sentence += 1
        if by_line:
            at += 1
        elif row[FAULT] == OUTSIDE:
            while text[at] != 0 and text[at] != _LINE_FEED and classes[text[at]] != OPENING:
                at += 1
        elif row[FAULT] == UNOPENED and sentence > 1 and sentences[sentence - 2, FAULT] == READABLE:
            sentence -= 1
            sentences[sentence - 1, FAULT] = UNOPENED
            sentences[sentence - 1, FAULT_BYTE] = row[FAULT_BYTE]
    return counts[0], counts[1], sentences[:sentence], left_open, table.strings[: table.known[0]], limit, at


@dataclass(frozen=True, slots=True)
class Scan:
    """A text in columns: m nodes, w words, n sentences, s strings.

    Attributes:
        labels, starts, ends: of the nodes, int32 (m,); labels are numbers of `strings`.
        forms, tags: of the words, int32 (w,), numbers of `strings`; tag -1: none.
        sentences: where each sentence begins, and what is wrong with it.
        unclosed: numbers inside their sentences of the nodes left open, sentence by sentence, int32.
        strings: bytes of each distinct string, half-open, int64 (s, 2).
        limit: the bound that was exceeded, or NO_LIMIT, and `limit_at` its byte.
    """

    labels: Any
    starts: Any
    ends: Any
    forms: Any
    tags: Any
    sentences: ScannedSentences
    unclosed: Any
    strings: Any
    limit: int
    limit_at: int


def scan(text: Any, brackets: tuple[int, int], bounds: Bounds, *, by_line: bool, resync: bool, seed: int) -> Scan:
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
    opened, tokens = sizes(text, classes)
    # Allocated here: numpy asks for huge pages, numba does not, and half the time would go into page faults.
    nodes = np.empty((3, opened), np.int32)
    words = np.empty((2, opened + tokens), np.int32)
    unclosed = np.empty(opened, np.int32)
    stack = np.empty((min(opened, bounds.depth) + 1, 2), np.int64)
    layout = Layout(by_line, resync, brackets == ROUND, seed)
    m, w, sentences, left_open, strings, limit, at = _scan(
        text, classes, layout, Columns(nodes[0], nodes[1], nodes[2], words[0], words[1], stack), unclosed, bounds
    )
    return Scan(
        labels=nodes[0, :m],
        starts=nodes[1, :m],
        ends=nodes[2, :m],
        forms=words[0, :w],
        tags=words[1, :w],
        sentences=ScannedSentences(*sentences.T),
        unclosed=unclosed[:left_open],
        strings=strings[:, :HASH],
        limit=limit,
        limit_at=at,
    )
