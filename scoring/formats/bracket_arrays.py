"""Bracketed text to arrays, byte by byte: what `bracketed` compiles.

Strings are numbered on the way (open addressing; each distinct one is decoded once, afterwards). Everything is one
loop over the text with an explicit stack, so that neither depth nor length costs more than time in proportion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

READABLE, UNCLOSED, UNOPENED, OUTSIDE = 0, 1, 2, 3
"""What can be wrong with a sentence: brackets left open, a closing bracket too many, text outside brackets."""

NO_LIMIT, DEEP, LONG, MANY = 0, 1, 2, 3
"""The bound that stopped the reading: depth, words of a sentence, sentences."""

_NEWLINE = 10


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_space(byte: int) -> bool:
    """The white space of C's isspace in the C locale, and nothing else (U+00A0 and U+3000 are letters)."""
    return byte == 32 or 9 <= byte <= 13


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def sizes(text: Any, opening: int, closing: int) -> tuple[int, int, int]:
    """How many opening brackets, bare tokens and line ends there are: bounds for the arrays."""
    brackets = tokens = newlines = 0
    inside = False
    for byte in text:
        if byte in (opening, closing):
            brackets += byte == opening
            inside = False
        elif _is_space(byte):
            newlines += byte == _NEWLINE
            inside = False
        elif not inside:
            inside = True
            tokens += 1
    return brackets, tokens, newlines


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _token_end(text: Any, at: int, stop: int, opening: int, closing: int) -> int:
    while at < stop and text[at] != opening and text[at] != closing and not _is_space(text[at]):
        at += 1
    return at


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _number(text: Any, start: int, stop: int, seed: int, slots: Any, hashes: Any, strings: Any, known: int) -> int:
    """The number of the string text[start:stop]; `known` where it is new, and then it is entered."""
    value = seed
    for at in range(start, stop):
        value = (value ^ text[at]) * 1099511628211
    value ^= value >> 29
    mask = len(slots) - 1
    slot = value & mask
    while True:
        found = slots[slot]
        if found < 0:
            slots[slot] = known
            hashes[known] = value
            strings[known, 0] = start
            strings[known, 1] = stop
            return known
        first = strings[found, 0]
        if hashes[found] == value and strings[found, 1] - first == stop - start:
            same = 0
            while start + same < stop and text[first + same] == text[start + same]:
                same += 1
            if start + same == stop:
                return int(found)
        slot = (slot + 1) & mask


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _grown(hashes: Any, strings: Any, known: int) -> Any:
    """Twice the room for strings."""
    size = 4 * len(hashes)
    slots = np.full(size, -1, np.int32)
    more_hashes = np.empty(2 * len(hashes), np.int64)
    more_strings = np.empty((2 * len(hashes), 2), np.int64)
    more_hashes[:known] = hashes[:known]
    more_strings[:known] = strings[:known]
    for number in range(known):
        slot = hashes[number] & (size - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = number
    return slots, more_hashes, more_strings


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def scan(  # noqa: C901, PLR0912, PLR0915 - one loop over bytes; split, every byte would pay for calls and state
    text: Any,
    opening: int,
    closing: int,
    by_line: bool,  # noqa: FBT001 - numba takes no keyword-only arguments
    resync: bool,  # noqa: FBT001 - as above
    tagged: bool,  # noqa: FBT001 - as above
    seed: int,
    bounds: tuple[int, int, int, int, int],
) -> Any:
    """Read a whole text.

    Args:
        text: uint8 (bytes,).
        opening: byte of the opening bracket.
        closing: byte of the closing bracket.
        by_line: a sentence is a line, else a sentence is an outermost bracket.
        resync: where not by line: an opening bracket in the first column ends what stands open.
        tagged: `(X y)` is a word y with tag X, else a constituent X over the word y.
        seed: of the hash; changes nothing but the order of probing.
        bounds: opening brackets, tokens (from `sizes`), most depth, most words a sentence, most sentences.

    Returns:
        nodes int32 (m, 3): label, start, end; words int32 (w, 2): form, tag or -1;
        sentences int64 (n, 8): first node, first word, line, fault, its byte, its line, the byte its line begins at,
        brackets left open; unclosed int32: numbers inside their sentences of the nodes left open, sentence by
        sentence; strings int64 (s, 2): where each distinct string stands; the limit passed, its byte, its line.
    """
    brackets, tokens, max_depth, max_words, max_sentences = bounds
    nodes = np.empty((brackets, 3), np.int32)
    words = np.empty((brackets + tokens, 2), np.int32)
    sentences = np.empty((1024, 8), np.int64)
    unclosed = np.empty(brackets, np.int32)
    stack = np.empty((min(brackets, max_depth) + 1, 2), np.int64)
    slots = np.full(2048, -1, np.int32)
    hashes = np.empty(1024, np.int64)
    strings = np.empty((1024, 2), np.int64)
    known = 1 + _number(text, 0, 0, seed, slots, hashes, strings, 0)

    size = len(text)
    at = node = word = sentence = left_open = depth = line_begin = 0
    line = 1
    first_node = first_word = 0
    begun = False
    fault, fault_at, fault_line, fault_begin = READABLE, 0, 0, 0
    limit = NO_LIMIT
    begin_line = 1
    while limit == NO_LIMIT:
        byte = text[at] if at < size else _NEWLINE
        over = at >= size
        if not over and _is_space(byte) and not (by_line and byte == _NEWLINE):
            at += 1
            if byte == _NEWLINE:
                line += 1
                line_begin = at
            if not (begun and fault == OUTSIDE and not by_line and byte == _NEWLINE and depth == 0):
                continue
            at -= 1
        if not begun:
            if over and (not by_line or at == line_begin):
                break
            first_node, first_word, begin_line, fault = node, word, line, READABLE
            begun = True
            if sentence >= max_sentences:
                limit = MANY
                break
        ends = over or (by_line and byte == _NEWLINE)
        if not ends and not by_line:
            ends = fault == OUTSIDE and depth == 0 and (byte == opening or _is_space(byte))
            ends = ends or (resync and byte == opening and depth > 0 and at == line_begin)
        if not ends:
            if byte == opening:
                label_from = at + 1
                label_to = _token_end(text, label_from, size, opening, closing)
                after = label_to
                is_word = False
                word_from = word_to = after
                for _ in range(2):
                    if after < size and _is_space(text[after]) and not (by_line and text[after] == _NEWLINE):
                        word_from = after
                        while word_from < size and _is_space(text[word_from]):
                            if by_line and text[word_from] == _NEWLINE:
                                break
                            word_from += 1
                        word_to = _token_end(text, word_from, size, opening, closing)
                        closes = word_to
                        while closes < size and _is_space(text[closes]) and not (by_line and text[closes] == _NEWLINE):
                            closes += 1
                        if tagged and closes < size and text[closes] == closing:
                            is_word = True
                            after = closes + 1
                            break
                        if (
                            label_to == label_from
                            and word_to > word_from
                            and not (closes < size and text[closes] == closing)
                        ):
                            label_from, label_to, after = word_from, word_to, word_to
                            continue
                    break
                if known + 2 >= len(hashes):
                    slots, hashes, strings = _grown(hashes, strings, known)
                label = _number(text, label_from, label_to, seed, slots, hashes, strings, known)
                known += label == known
                if is_word:
                    form = _number(text, word_from, word_to, seed, slots, hashes, strings, known)
                    known += form == known
                    words[word, 0] = form
                    words[word, 1] = label
                    word += 1
                else:
                    if depth >= max_depth:
                        limit = DEEP
                        break
                    nodes[node, 0] = label
                    nodes[node, 1] = word - first_word
                    stack[depth, 0] = node
                    stack[depth, 1] = at
                    depth += 1
                    node += 1
                if not by_line:
                    for passed in range(at, after):
                        if text[passed] == _NEWLINE:
                            line += 1
                            line_begin = passed + 1
                at = after
                if not by_line and depth == 0:
                    ends = True
            elif byte == closing:
                at += 1
                if depth > 0:
                    depth -= 1
                    nodes[stack[depth, 0], 2] = word - first_word
                    ends = not by_line and depth == 0
                elif fault == READABLE:
                    fault, fault_at, fault_line, fault_begin = UNOPENED, at - 1, line, line_begin
                    if not by_line:
                        if sentence > 0 and sentences[sentence - 1, 3] == READABLE:
                            sentence -= 1
                            first_node, first_word, begin_line = (
                                sentences[sentence, 0],
                                sentences[sentence, 1],
                                sentences[sentence, 2],
                            )
                        ends = True
            else:
                token_to = _token_end(text, at, size, opening, closing)
                if depth > 0:
                    if known + 2 >= len(hashes):
                        slots, hashes, strings = _grown(hashes, strings, known)
                    form = _number(text, at, token_to, seed, slots, hashes, strings, known)
                    known += form == known
                    words[word, 0] = form
                    words[word, 1] = -1
                    word += 1
                elif fault != OUTSIDE:
                    fault, fault_at, fault_line, fault_begin = OUTSIDE, at, line, line_begin
                at = token_to
            if word - first_word > max_words:
                limit = LONG
                break
            if not ends:
                continue
        if depth > 0:
            if fault == READABLE:
                fault, fault_at, fault_line, fault_begin = UNCLOSED, stack[depth - 1, 1], line, line_begin
            for level in range(depth):
                nodes[stack[level, 0], 2] = word - first_word
                unclosed[left_open + level] = stack[level, 0] - first_node
        opened = depth
        depth = 0
        if fault == OUTSIDE:
            node, word, opened = first_node, first_word, 0
        left_open += opened
        if sentence == len(sentences):
            more = np.empty((2 * sentence, 8), np.int64)
            more[:sentence] = sentences
            sentences = more
        row = sentences[sentence]
        row[0], row[1], row[2], row[3] = first_node, first_word, begin_line, fault
        row[4], row[5], row[6], row[7] = fault_at, fault_line, fault_begin, opened
        sentence += 1
        begun = False
        fault = READABLE
        if by_line and not over:
            at += 1
            line += 1
            line_begin = at
        elif over:
            break
    return (
        nodes[:node],
        words[:word],
        sentences[:sentence],
        unclosed[:left_open],
        strings[:known],
        limit,
        at,
        line,
        line_begin,
    )
