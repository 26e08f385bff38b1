"""Compiled reader of discbracket text: one tree a line, whose leaves are `index=word`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, Bytes, Int32Array, IntArray
from treescore.core.jit import compiled
from treescore.core.structure import NONE
from treescore.formats.shared.interning import new_table, number_all, padded, secret, strings_of, with_room

(
    READABLE,
    UNCLOSED,
    UNOPENED,
    OUTSIDE,
    BAD_LEAF,
    EMPTY_NODE,
    REPEATED_INDEX,
    INDEX_GAP,
) = range(8)
"""Faults of a line."""

DEEP = 8
"""A line with more open brackets than allowed."""

UNNAMED = -1
"""Label of a root that the text does not name."""

_SPACE, _OPEN, _CLOSE, _TAB, _LINE_FEED, _EQUALS = 32, 40, 41, 9, 10, 61
_MOST_DIGITS = 9
_AT_ONCE = 4096


class Sizes(NamedTuple):
    """How many nodes and words the columns have so far."""

    nodes: int
    words: int


class Columns(NamedTuple):
    """What the reader fills; of the nodes the first of each sentence is its root.

    Attributes:
        labels: first byte of the label of each node and the byte after its last, UNNAMED: none, int64 (m, 2).
        parents: the node above each, counted over the file, NONE of roots, int64 (m,).
        forms: bytes of each word, int64 (w, 2).
        tags: bytes of its tag, UNNAMED where it has none, int64 (w, 2).
        anchors: the node above each word, int64 (w,).
        places: scratch memory for words in the order of the text: forms, tags, anchor, index, byte; int64 (w, 7).
        stack: scratch memory for open brackets: node, byte, words and brackets directly below, int64 (depth, 4).
    """

    labels: IntArray
    parents: IntArray
    forms: IntArray
    tags: IntArray
    anchors: IntArray
    places: IntArray
    stack: IntArray


class Scanned(NamedTuple):
    """A text in columns; labels, forms and tags are numbers of `strings`.

    Attributes:
        labels, parents, forms, tags, anchors: as in Columns, the numbers int32, UNNAMED where there is none.
        first_nodes, first_words: int64 (n + 1,).
        faults: int64 (n,), and the byte of each.
        strings: the distinct ones.
    """

    labels: Int32Array
    parents: IntArray
    forms: Int32Array
    tags: Int32Array
    anchors: IntArray
    first_nodes: IntArray
    first_words: IntArray
    faults: IntArray
    fault_bytes: IntArray
    strings: list[str]


def scan(text: bytes, max_depth: int) -> Scanned:
    """Read all lines; a line with a fault has no nodes and no words.

    Args:
        text: valid UTF-8 without a NUL, every line with a line feed.
        max_depth: open brackets at once.
    """
    characters, words = padded(text)
    starts = np.append(0, np.flatnonzero(characters == _LINE_FEED) + 1)
    brackets, equals = (int(np.count_nonzero(characters == byte)) for byte in (_OPEN, _EQUALS))
    columns = Columns(
        labels=np.empty((brackets + 1, 2), np.int64),
        parents=np.empty(brackets + 1, np.int64),
        forms=np.empty((equals, 2), np.int64),
        tags=np.empty((equals, 2), np.int64),
        anchors=np.empty(equals, np.int64),
        places=np.empty((equals, 7), np.int64),
        stack=np.empty((min(brackets, max_depth) + 1, 4), np.int64),
    )
    size = len(starts) - 1
    bounds = np.zeros((2, size + 1), np.int64)
    faults = np.zeros((2, size), np.int64)
    _scan(characters, starts, columns, bounds, faults)
    nodes, leaves = int(bounds[0, -1]), int(bounds[1, -1])
    spans = np.concatenate([columns.labels[:nodes], columns.forms[:leaves], columns.tags[:leaves]])
    codes = np.empty(len(spans), np.int32)
    places = _number(words, spans, codes, secret())
    return Scanned(
        labels=codes[:nodes],
        parents=columns.parents[:nodes],
        forms=codes[nodes : nodes + leaves],
        tags=codes[nodes + leaves :],
        anchors=columns.anchors[:leaves],
        first_nodes=bounds[0],
        first_words=bounds[1],
        faults=faults[0],
        fault_bytes=faults[1],
        strings=strings_of(characters, places),
    )


@compiled
def _number(words: Bits, spans: IntArray, codes: Int32Array, odd: np.uint64) -> IntArray:
    """Fill the number of each string, UNNAMED where it has no place; return the places of the distinct ones."""
    table = new_table(odd)
    starts, stops = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64)
    found = np.empty(_AT_ONCE, np.int32)
    for begin in range(0, len(spans), _AT_ONCE):
        count = min(_AT_ONCE, len(spans) - begin)
        for index in range(count):
            place = spans[begin + index, 0]
            starts[index] = place if place != UNNAMED else 0
            stops[index] = spans[begin + index, 1] if place != UNNAMED else 0
        table = with_room(table, count)
        number_all(words, starts, stops, count, table, found)
        for index in range(count):
            codes[begin + index] = found[index] if spans[begin + index, 0] != UNNAMED else UNNAMED
    return table.places[: table.size[0]]


@compiled
def _scan(text: Bytes, starts: IntArray, columns: Columns, bounds: IntArray, faults: IntArray) -> None:
    for line in range(len(starts) - 1):
        nodes, words = bounds[0, line], bounds[1, line]
        fault, byte, sizes = _tree(text, starts[line], starts[line + 1] - 1, columns, Sizes(nodes, words))
        if fault == READABLE:
            fault, byte = _placed(columns, words, sizes.words)
        if fault == READABLE:
            bounds[0, line + 1], bounds[1, line + 1] = sizes.nodes, sizes.words
        else:
            bounds[0, line + 1], bounds[1, line + 1] = nodes, words
        faults[0, line], faults[1, line] = fault, byte


@compiled
def _tree(text: Bytes, position: int, end: int, columns: Columns, sizes: Sizes) -> tuple[int, int, Sizes]:  # noqa: C901, PLR0912 - one loop over the bytes of a tree
    """Read the tree of one line; return its fault, the fault's byte, and the sizes with it."""
    labels, parents, _, _, _, places, stack = columns
    node, word, depth, closed = sizes.nodes, sizes.words, 0, False
    while position < end and text[position] != _TAB:
        byte = text[position]
        if byte == _SPACE or 11 <= byte <= 12:
            position += 1
        elif byte == _OPEN:
            if closed:
                return OUTSIDE, position, sizes
            if depth == len(stack) - 1:
                return DEEP, position, sizes
            begin = position + 1
            stop = _token_end(text, begin, end)
            labels[node, 0], labels[node, 1] = begin, stop
            parents[node] = NONE
            if depth:
                parents[node] = stack[depth - 1, 0]
                stack[depth - 1, 3] += 1
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = node, position, 0, 0
            depth, node, position = depth + 1, node + 1, stop
        elif byte == _CLOSE:
            if not depth:
                return UNOPENED, position, sizes
            depth -= 1
            top, begin, own, below = stack[depth]
            if not own and not below:
                return EMPTY_NODE, begin, sizes
            if own == 1 and not below:
                # A bracket around a word alone is its tag; it is the last node so far.
                places[word - 1, 2], places[word - 1, 3] = labels[top, 0], labels[top, 1]
                places[word - 1, 4] = parents[top]
                if depth:
                    node -= 1
                else:
                    labels[top, 0] = UNNAMED
                    places[word - 1, 4] = top
            closed = depth == 0
            position += 1
        elif closed or not depth:
            return OUTSIDE, position, sizes
        else:
            stop = _token_end(text, position, end)
            index, form = _leaf(text, position, stop)
            if index < 0:
                return BAD_LEAF, position, sizes
            places[word, 0], places[word, 1] = form, stop
            places[word, 2], places[word, 3] = UNNAMED, UNNAMED
            places[word, 4], places[word, 5], places[word, 6] = stack[depth - 1, 0], index, position
            stack[depth - 1, 2] += 1
            word, position = word + 1, stop
    if depth:
        return UNCLOSED, stack[depth - 1, 1], sizes
    return READABLE, 0, Sizes(node, word)


@compiled
def _token_end(text: Bytes, position: int, end: int) -> int:
    while position < end:
        byte = text[position]
        if byte in (_SPACE, _TAB, _OPEN, _CLOSE) or 11 <= byte <= 12:
            break
        position += 1
    return position


@compiled
def _leaf(text: Bytes, position: int, stop: int) -> tuple[int, int]:
    """Return the index of a leaf and the first byte of its word; index -1 where it has not both."""
    index, first = 0, position
    while position < stop and 48 <= text[position] <= 57 and position - first < _MOST_DIGITS:
        index = 10 * index + text[position] - 48
        position += 1
    if position == first or position >= stop - 1 or text[position] != _EQUALS:
        return -1, position
    return index, position + 1


@compiled
def _placed(columns: Columns, first: int, stop: int) -> tuple[int, int]:
    """Move the words of a sentence to the places that their indices name; return fault and byte."""
    _, _, forms, tags, anchors, places, _ = columns
    forms[first:stop, 0] = UNNAMED
    for word in range(first, stop):
        index = first + places[word, 5]
        if index >= stop:
            return INDEX_GAP, places[word, 6]
        if forms[index, 0] != UNNAMED:
            return REPEATED_INDEX, places[word, 6]
        forms[index, 0], forms[index, 1] = places[word, 0], places[word, 1]
        tags[index, 0], tags[index, 1] = places[word, 2], places[word, 3]
        anchors[index] = places[word, 4]
    return READABLE, 0
