"""Bracketed text to arrays, byte by byte: what `bracketed` compiles.

Strings are numbered on the way (open addressing; each distinct one is decoded once, afterwards). One pass with an
explicit stack, so that neither depth nor length costs more than time in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treescore.core.jit import compiled, inlined

READABLE, UNCLOSED, UNOPENED, OUTSIDE = 0, 1, 2, 3
"""What can be wrong with a sentence: brackets left open, a closing bracket too many, text outside brackets."""

NO_LIMIT, DEEP, LONG, MANY, FULL = 0, 1, 2, 3, 4
"""What stopped the reading: a bound on depth, words of a sentence, sentences; or the table of strings is full."""

LETTER, SPACE, OPENING, CLOSING, END = 0, 1, 2, 3, 4
"""Classes of bytes. END is the NUL behind the text, and the line feed where a sentence is a line."""

ROUND, SQUARE = (ord("("), ord(")")), (ord("["), ord("]"))
"""The bytes of the two kinds of brackets."""

_LINE_FEED = 10
_FNV_PRIME = 1099511628211


def byte_classes(opening: int, closing: int, *, by_line: bool) -> Any:
    """The class of each byte, uint8 (256,). White space is C's in the C locale: U+00A0 and U+3000 are letters."""
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
    """How many opening brackets and how many tokens there are: bounds for the arrays."""
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
    """Where the token at `at` ends, and its hash."""
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
def _number(text: Any, start: int, stop: int, value: int, slots: Any, strings: Any, known: Any) -> int:
    """The number of the string text[start:stop] with hash `value`; a new one is entered."""
    mask = len(slots) - 1
    slot = value & mask
    while True:
        found = slots[slot]
        if found < 0:
            found = known[0]
            known[0] += 1
            slots[slot] = found
            strings[found, 0] = start
            strings[found, 1] = stop
            strings[found, 2] = value
            return int(found)
        first = strings[found, 0]
        if strings[found, 2] == value and strings[found, 1] - first == stop - start:
            at = start
            while at < stop and text[first] == text[at]:
                first += 1
                at += 1
            if at == stop:
                return int(found)
        slot = (slot + 1) & mask


@compiled
def _grown(strings: Any, known: int) -> Any:
    """Slots and strings with twice the room."""
    more = np.empty((2 * len(strings), 3), np.int64)
    more[:known] = strings[:known]
    slots = np.full(2 * len(more), -1, np.int32)
    mask = len(slots) - 1
    for number in range(known):
        slot = more[number, 2] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
    return slots, more


@inlined
def _opened(text: Any, at: int, classes: Any, how: Any, slots: Any, strings: Any, known: Any) -> tuple[int, int, int]:
    """What the bracket at `at` opens: (label, -1, byte after the label) or (tag, word, byte after the word's bracket).

    EVALB's rules, and where it stops: a blank before the label or before the closing bracket is passed over.
    """
    tagged, seed = how[2], how[3]
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
            tag = _number(text, start, stop, value, slots, strings, known)
            return tag, _number(text, word, word_stop, word_value, slots, strings, known), closing + 1
    return _number(text, start, stop, value, slots, strings, known), -1, after


@compiled
def _sentence(  # noqa: C901, PLR0912, PLR0915 - one loop over bytes: calls would cost more than they do
    text: Any, at: int, classes: Any, how: Any, table: Any, columns: Any, counts: Any, bounds: Any
) -> Any:
    """Read one sentence from byte `at`: the byte behind it, fault, the fault's byte, brackets left open, limit."""
    by_line, resync = how[0], how[1]
    slots, strings, known = table  # never assigned anew in here: that would count references at every byte
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
        if known[0] + 2 > len(strings):
            limit = FULL
        elif kind == OPENING:
            label, form, after = _opened(text, at, classes, how, slots, strings, known)
            if form >= 0:
                forms[word], tags[word] = form, label
                word += 1
            elif depth == bounds[0]:
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
            stop, value = _token(text, at, classes, how[3])
            if depth > 0:
                forms[word], tags[word] = _number(text, at, stop, value, slots, strings, known), -1
                word += 1
            elif fault != OUTSIDE:
                fault, fault_at = OUTSIDE, at
            at = stop
        if word - first_word > bounds[1]:
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
def _scan(text: Any, classes: Any, how: Any, columns: Any, unclosed: Any, bounds: Any) -> Any:
    by_line = how[0]
    max_depth, max_words, max_sentences = bounds
    stack = columns[5]
    sentences = np.empty((1024, 6), np.int64)
    slots, strings = np.full(2048, -1, np.int32), np.empty((1024, 3), np.int64)
    known = np.zeros(1, np.int64)
    _number(text, 0, 0, how[3] ^ (how[3] >> 29), slots, strings, known)
    counts = np.zeros(2, np.int64)
    at = sentence = left_open = limit = 0
    while True:
        if not by_line:
            at = _past_space(text, at, classes)
        if text[at] == 0:
            break
        if sentence == max_sentences:
            limit = MANY
            break
        if sentence == len(sentences):
            longer = np.empty((2 * sentence, 6), np.int64)
            longer[:sentence] = sentences
            sentences = longer
        row = sentences[sentence]
        row[0], row[1], row[2] = counts[0], counts[1], at
        at, row[3], row[4], row[5], limit = _sentence(
            text, at, classes, how, (slots, strings, known), columns, counts, (max_depth, max_words)
        )
        if limit == FULL:
            slots, strings = _grown(strings, known[0])
            at = row[2]
            continue
        if limit != NO_LIMIT:
            break
        for level in range(row[5]):
            unclosed[left_open] = stack[level, 0] - row[0]
            left_open += 1
        sentence += 1
        if by_line:
            at += 1
        elif row[3] == OUTSIDE:
            while text[at] != 0 and text[at] != _LINE_FEED and classes[text[at]] != OPENING:
                at += 1
        elif row[3] == UNOPENED and sentence > 1 and sentences[sentence - 2, 3] == READABLE:
            sentence -= 1
            sentences[sentence - 1, 3] = UNOPENED
            sentences[sentence - 1, 4] = row[4]
    return counts[0], counts[1], sentences[:sentence], left_open, strings[: known[0]], limit, at


@dataclass(frozen=True, slots=True)
class Scan:
    """A text in columns: m nodes, w words, n sentences, s strings.

    Attributes:
        labels, starts, ends: of the nodes, int32 (m,); labels are numbers of `strings`.
        forms, tags: of the words, int32 (w,), numbers of `strings`; tag -1: none.
        sentences: int64 (n, 6): first node, first word, first byte, fault, its byte, brackets left open.
        unclosed: numbers inside their sentences of the nodes left open, sentence by sentence, int32.
        strings: where each distinct string begins and ends, and its hash, int64 (s, 3).
        limit: the bound that was passed, or NO_LIMIT, and `limit_at` its byte.
    """

    labels: Any
    starts: Any
    ends: Any
    forms: Any
    tags: Any
    sentences: Any
    unclosed: Any
    strings: Any
    limit: int
    limit_at: int


def scan(
    text: Any, brackets: tuple[int, int], bounds: tuple[int, int, int], *, by_line: bool, resync: bool, seed: int
) -> Scan:
    """Read a whole text that ends with a NUL, and before it, where a sentence is a line, with a line feed.

    Args:
        text: uint8 (bytes,).
        brackets: bytes of the two brackets. In round ones `(X y)` is a word y with tag X, in others a constituent.
        bounds: most depth, most words a sentence, most sentences.
        by_line: whether a sentence is a line, else an outermost bracket.
        resync: whether, if not, an opening bracket in the first column ends what stands open.
        seed: of the hash; changes nothing but the order of probing.
    """
    classes = byte_classes(*brackets, by_line=by_line)
    opened, tokens = sizes(text, classes)
    # Allocated here: numpy asks for huge pages, numba does not, and half the time would go into page faults.
    nodes = np.empty((3, opened), np.int32)
    words = np.empty((2, opened + tokens), np.int32)
    unclosed = np.empty(opened, np.int32)
    stack = np.empty((min(opened, bounds[0]) + 1, 2), np.int64)
    how = (by_line, resync, brackets == ROUND, seed)
    m, w, sentences, left_open, strings, limit, at = _scan(
        text, classes, how, (*nodes, *words, stack), unclosed, bounds
    )
    return Scan(
        labels=nodes[0, :m],
        starts=nodes[1, :m],
        ends=nodes[2, :m],
        forms=words[0, :w],
        tags=words[1, :w],
        sentences=sentences,
        unclosed=unclosed[:left_open],
        strings=strings,
        limit=limit,
        limit_at=at,
    )
