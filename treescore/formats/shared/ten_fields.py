"""Texts of lines with ten fields (CoNLL-X, CoNLL-U) taken apart into streams of like fields, which compress better.

Streams with a line for each such line of the text: numbers (ID), heads (HEAD), words (FORM, LEMMA) and the rest (DEPS,
MISC). A number that is one more than the last, from 1 in each block, is left out; a lemma that is the form is 0x01, one
that is the form in lower case (of ASCII letters) 0x02. Any other line stands whole among the numbers, after 0x01. Its
tags (UPOS, XPOS, FEATS, DEPREL) a line has in common with many: each stands once, and lines have its number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, Bytes, Int32Array, IntArray
from treescore.core.jit import checked, compiled, unless_interpreted, weighing
from treescore.formats.shared.interning import (
    EIGHT,
    ONES,
    bytes_below,
    copied,
    joined,
    new_table,
    number_all,
    padded,
    secret,
    with_room,
    words_of,
    zeros,
)

SAME, LOWER = 1, 2
_TAB, _FEED, _FIELDS = 9, 10, 10
_TABS, _FEEDS = np.uint64(_TAB) * ONES, np.uint64(_FEED) * ONES
_MARKS = (bytes([SAME]), bytes([LOWER]))
_LONGEST = 4
"""A text has less than so many times the bytes of its streams, and its tags."""
_AT_ONCE = 4096
"""Lines numbered before the table of tags is asked for more room."""


class Streams(NamedTuple):
    """The streams, each line with its line feed; the distinct tags; the number of each line's tags, int32 (lines,)."""

    numbers: bytes
    heads: bytes
    words: bytes
    rest: bytes
    tags: bytes
    codes: Int32Array


def taken_apart(text: bytes) -> Streams | None:
    """Take a text apart; None where that is not worth it.

    It has few lines of ten fields, or a byte that marks something in the streams, or no machine code is at hand.
    """
    source = np.frombuffer(text, np.uint8)
    # of bytes that are frequent, five times as fast as `bytes.count`
    tabs, feeds = (int(np.count_nonzero(source == byte)) for byte in (_TAB, _FEED))
    if any(mark in text for mark in _MARKS) or 2 * tabs < (_FIELDS - 1) * feeds:
        return None
    # a line gets at most a mark and a line feed more than it has; what is copied is whole words
    room = len(text) + 2 * (feeds + 1) + EIGHT
    streams = np.empty(5 * room, np.uint8)
    ends = np.arange(5) * room
    tags = np.empty((feeds + 1, 2), np.int64)
    lines = unless_interpreted(split_lines, *padded(text, b"\n"), streams, words_of(streams), ends, tags)
    if not lines:
        return None
    codes = np.empty(lines, np.int32)
    distinct = number_tags(words_of(streams), tags[:lines], codes, secret())
    numbers, heads, words, rest = (streams[at * room : end].tobytes() for at, end in enumerate(ends[:4].tolist()))
    return Streams(numbers, heads, words, rest, joined(streams, distinct) + b"\n", codes)


def put_together(streams: Streams, size: int) -> bytes:
    """Return the text of `size` bytes that was taken apart.

    Raises:
        ValueError: no text was taken apart into these streams.
    """
    # at most a form stands twice in a text, and a line with its number left out has 7 bytes in the streams
    longest = max(map(len, streams.tags.split(b"\n")))
    if not 0 <= size <= _LONGEST * sum(map(len, streams[:4])) + longest * len(streams.codes):
        raise ValueError(f"no text of {size} bytes has these streams")
    try:
        return _joined_by_compiled(streams, size) or joined_again(streams)
    except (IndexError, StopIteration) as error:
        raise ValueError("one of the streams is too short") from error


def _joined_by_compiled(streams: Streams, size: int) -> bytes | None:
    tags = np.frombuffer(streams.tags, np.uint8)
    stops = np.flatnonzero(tags == _FEED) + 1
    places = np.stack([np.append(0, stops)[:-1], np.flatnonzero(tags == _TAB)[2::3] + 1, stops])
    heads, words, rest, others = (padded(stream)[1] for stream in streams[1:5])
    text = np.empty(size + 1 + EIGHT, np.uint8)
    end = unless_interpreted(
        join_lines, *padded(streams.numbers), heads, words, rest, others, streams.codes, places, text, words_of(text)
    )
    if end is None:
        return None
    if end != size + 1:
        raise ValueError(f"no text of {size} bytes has these streams")
    return text[:size].tobytes()


def joined_again(streams: Streams) -> bytes:
    """Put a text together without the compiler."""
    heads, words, rest = (iter(stream.split(b"\n")) for stream in streams[1:4])
    tags = streams.tags.split(b"\n")
    codes = iter(streams.codes.tolist())
    same, lower = _MARKS
    lines = []
    last = 0
    for number in streams.numbers.split(b"\n")[:-1]:
        if number.startswith(same):
            lines.append(number[1:])
            last = 0
            continue
        if not number:
            last += 1
            number = b"%d" % last  # noqa: PLW2901 - the one that was left out
        form, lemma = next(words).split(b"\t")
        if lemma == same:
            lemma = form
        elif lemma == lower:
            lemma = form.lower()
        others, _, deprel = tags[next(codes)].rpartition(b"\t")
        lines.append(b"\t".join((number, form, lemma, others, next(heads), deprel, next(rest))))
    return b"\n".join(lines)


@compiled
@weighing(0.01)
def split_lines(text: Bytes, source: Bits, streams: Bytes, target: Bits, ends: IntArray, tags: IntArray) -> int:
    """Fill the streams and return how many lines have ten fields.

    Args:
        text: padded, its last line with a line feed.
        source: words of the text.
        streams: numbers, heads, words, the rest and the tags of each line.
        target: words of the streams.
        ends: where each stream begins; becomes where it ends, int64 (5,).
        tags: filled with the first byte of each line's tags and the byte after their last, int64 (lines or more, 2).
    """
    numbers, heads, words, rest, others = ends
    tabs = np.empty(_FIELDS, np.int64)
    lines, last, start = 0, 0, 0
    while start < len(text) - EIGHT:
        count, end = 0, start
        while True:
            marks = zeros(source[end] ^ _TABS) | zeros(source[end] ^ _FEEDS)
            end += bytes_below(marks)
            if marks == 0:
                continue
            if text[end] == _FEED:
                break
            tabs[min(count, _FIELDS - 1)] = end
            count += 1
            end += 1
        if count != _FIELDS - 1 or tabs[0] == start:
            last = 0
            streams[numbers] = SAME
            numbers = copied(source, start, end + 1, target, numbers + 1)
            start = end + 1
            continue
        value = follows(text, start, tabs[0], last)
        if value > 0:
            last = value
        else:
            numbers = copied(source, start, tabs[0], target, numbers)
        streams[numbers] = _FEED
        numbers += 1
        heads = copied(source, tabs[5] + 1, tabs[6], target, heads)
        streams[heads] = _FEED
        heads += 1
        words = copied(source, tabs[0] + 1, tabs[1] + 1, target, words)
        kind = lemma_of(text, tabs[0] + 1, tabs[1], tabs[2])
        if kind:
            streams[words] = kind
            words += 1
        else:
            words = copied(source, tabs[1] + 1, tabs[2], target, words)
        streams[words] = _FEED
        words += 1
        tags[lines, 0] = others
        others = copied(source, tabs[2] + 1, tabs[5] + 1, target, others)
        others = copied(source, tabs[6] + 1, tabs[7], target, others)
        tags[lines, 1] = others
        rest = copied(source, tabs[7] + 1, end + 1, target, rest)
        lines += 1
        start = end + 1
    ends[:] = np.array([numbers, heads, words, rest, others])
    return lines


@compiled
def number_tags(words: Bits, tags: IntArray, codes: Int32Array, odd: np.uint64) -> IntArray:
    """Number tags, equal ones equally: fill `codes` and return the places of the distinct ones, int64 (distinct, 2)."""
    table = new_table(odd)
    for first in range(0, len(codes), _AT_ONCE):
        some = tags[first : first + _AT_ONCE]
        table = with_room(table, len(some))
        number_all(words, some[:, 0], some[:, 1], len(some), table, codes[first:])
    return table.places[: table.size[0]]


@compiled
def follows(text: Bytes, start: int, end: int, last: int) -> int:
    """Return the number that is written from `start` to `end` if it is plainly one more than `last`; else 0."""
    value = 0
    if end - start > 9 or end == start or text[start] == 48:
        return 0
    for index in range(start, end):
        if text[index] < 48 or text[index] > 57:
            return 0
        value = 10 * value + text[index] - 48
    return value if value == last + 1 else 0


@compiled
def lemma_of(text: Bytes, form: int, form_end: int, lemma_end: int) -> int:
    """Return SAME or LOWER where the lemma, which follows the form, is the form or its lower case; else 0."""
    lemma = form_end + 1
    if lemma_end - lemma != form_end - form:
        return 0
    same, lower = True, True
    for index in range(form_end - form):
        byte = text[form + index]
        same &= text[lemma + index] == byte
        lower &= text[lemma + index] == (byte + 32 if 65 <= byte <= 90 else byte)
    return SAME if same else LOWER if lower else 0


@checked
@weighing(0.01)
def join_lines(
    marks: Bytes,
    numbers: Bits,
    heads: Bits,
    words: Bits,
    rest: Bits,
    tags: Bits,
    codes: Int32Array,
    places: IntArray,
    text: Bytes,
    target: Bits,
) -> int:
    """Fill the text and return where it ends, after a last line feed.

    Raises IndexError where a stream ends too early, or the text is longer.

    Args:
        marks: the numbers, padded.
        numbers: their words.
        heads: words of that stream.
        words: likewise.
        rest: likewise.
        tags: likewise.
        codes: the number of each line's tags.
        places: where tags begin, their last field begins, and the next begin; int64 (3, distinct).
        text: room for the text with a line feed, and padding.
        target: its words.
    """
    at, head, word, other, line, last, end = 0, 0, 0, 0, 0, 0, 0
    while at < len(marks) - EIGHT:
        if marks[at] == SAME:
            last = 0
            at, end = copied_through(numbers, at + 1, _FEEDS, target, end)
            continue
        if marks[at] == _FEED:
            last += 1
            end = write_number(last, text, end)
            at += 1
        else:
            at, end = copied_through(numbers, at, _FEEDS, target, end)
            end -= 1
        text[end] = _TAB
        form = end + 1
        word, end = copied_through(words, word, _TABS, target, form)
        kind = words[word] & np.uint64(255)
        if kind in (SAME, LOWER):
            end = copy_form(text, form, end - form - 1, kind == LOWER, end)
            word += 2
        else:
            word, end = copied_through(words, word, _FEEDS, target, end)
            end -= 1
        text[end] = _TAB
        begin, middle, stop = places[:, codes[line]]
        end = copied(tags, begin, middle, target, end + 1)
        head, end = copied_through(heads, head, _FEEDS, target, end)
        text[end - 1] = _TAB
        end = copied(tags, middle, stop, target, end)
        text[end - 1] = _TAB
        other, end = copied_through(rest, other, _FEEDS, target, end)
        line += 1
    return end


@checked
def copied_through(source: Bits, start: int, mark: np.uint64, target: Bits, end: int) -> tuple[int, int]:
    """Copy through the byte of which `mark` is a word; return where it ends in the source and in the target."""
    marks = np.uint64(0)
    while marks == 0:
        target[end] = source[start]
        marks = zeros(source[start] ^ mark)
        size = bytes_below(marks)
        start += size
        end += size
    return start + 1, end + 1


@checked
def write_number(number: int, text: Bytes, end: int) -> int:
    """Write a number above 0 at `end`, and return where it ends."""
    tens = 1
    while 10 * tens <= number:
        tens *= 10
    while tens:
        text[end] = 48 + number // tens % 10
        tens //= 10
        end += 1
    return end


@checked
def copy_form(text: Bytes, form: int, size: int, lower: bool, end: int) -> int:  # noqa: FBT001 - compiled code has no keywords
    """Write the form that stands at `form` again at `end`, its ASCII letters in lower case if asked."""
    for index in range(form, form + size):
        byte = text[index]
        text[end] = byte + 32 if lower and 65 <= byte <= 90 else byte
        end += 1
    return end
