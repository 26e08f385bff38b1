"""Texts of lines with ten fields (CoNLL-X, CoNLL-U) taken apart into streams of like fields, which compress better.

Four streams with a line for each such line of the text: numbers (ID), heads (HEAD), words (FORM, LEMMA, UPOS, XPOS,
FEATS, DEPREL) and the rest (DEPS, MISC). A number that is one more than the last, from 1 in each block, is left out; a
lemma that is the form is 0x01, one that is the form in lower case (of ASCII letters) 0x02. Any other line stands whole
among the numbers, after 0x01.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bytes, IntArray
from treescore.core.jit import checked, compiled, compiler_loaded

SAME, LOWER = 1, 2
_TAB, _FEED, _FIELDS = 9, 10, 10
_LONGEST = 4
"""A text has less than so many times the bytes of its streams."""
_MARKS = (bytes([SAME]), bytes([LOWER]))


class Streams(NamedTuple):
    """The four streams, each line with its line feed."""

    numbers: bytes
    heads: bytes
    words: bytes
    rest: bytes


def taken_apart(text: bytes) -> Streams | None:
    """Take a text apart; None where it has few lines of ten fields, or a byte that marks something in the streams."""
    source = np.frombuffer(text, np.uint8)
    # of bytes that are frequent, five times as fast as `bytes.count`
    tabs, feeds = (int(np.count_nonzero(source == byte)) for byte in (_TAB, _FEED))
    if any(mark in text for mark in _MARKS) or 2 * tabs < (_FIELDS - 1) * feeds:
        return None
    # a line gets at most a mark and a line feed more than it has
    room = len(text) + 2 * (feeds + 1)
    streams = np.empty((4, room), np.uint8)
    sizes = np.zeros(4, np.int64)
    split_lines(source, streams, sizes)
    return Streams(*(stream[:size].tobytes() for stream, size in zip(streams, sizes.tolist(), strict=True)))


def put_together(streams: Streams, size: int) -> bytes:
    """Return the text of `size` bytes that was taken apart.

    Raises:
        ValueError: no text was taken apart into these streams.
    """
    # at most a form stands twice in a text, and a line with its number left out has 11 bytes in the streams
    if not 0 <= size <= _LONGEST * sum(map(len, streams)):
        raise ValueError(f"no text of {size} bytes has these streams")
    try:
        return _joined_by_compiled(streams, size) if compiler_loaded() else joined(streams)
    except (IndexError, StopIteration) as error:
        raise ValueError("one of the streams is too short") from error


def _joined_by_compiled(streams: Streams, size: int) -> bytes:
    text = np.empty(size + 1, np.uint8)
    numbers, heads, words, rest = (np.frombuffer(stream, np.uint8) for stream in streams)
    end = join_lines(numbers, heads, words, rest, text)
    return text[: end - 1].tobytes()


def joined(streams: Streams) -> bytes:
    """Put a text together without the compiler."""
    heads, words, rest = (iter(stream.split(b"\n")) for stream in streams[1:])
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
        form, lemma, others = next(words).split(b"\t", 2)
        if lemma == same:
            lemma = form
        elif lemma == lower:
            lemma = form.lower()
        tags, _, deprel = others.rpartition(b"\t")
        lines.append(b"\t".join((number, form, lemma, tags, next(heads), deprel, next(rest))))
    return b"\n".join(lines)


@compiled
def split_lines(text: Bytes, streams: Bytes, sizes: IntArray) -> None:
    """Fill the streams, uint8 (4, room), and their sizes, int64 (4,)."""
    tabs = np.empty(_FIELDS, np.int64)
    last = 0
    start = 0
    while start <= len(text):
        count, end = 0, start
        while end < len(text) and text[end] != _FEED:
            if text[end] == _TAB:
                if count < _FIELDS:
                    tabs[count] = end
                count += 1
            end += 1
        if count == _FIELDS - 1 and tabs[0] > start:
            value = follows(text, start, tabs[0], last)
            if value > 0:
                last = value
            else:
                copy(text, start, tabs[0], streams[0], sizes, 0)
            copy(text, tabs[5] + 1, tabs[6], streams[1], sizes, 1)
            copy(text, tabs[0] + 1, tabs[1] + 1, streams[2], sizes, 2)
            kind = lemma_of(text, tabs[0] + 1, tabs[1], tabs[2])
            if kind:
                streams[2, sizes[2]] = kind
                sizes[2] += 1
            else:
                copy(text, tabs[1] + 1, tabs[2], streams[2], sizes, 2)
            copy(text, tabs[2], tabs[5] + 1, streams[2], sizes, 2)
            copy(text, tabs[6] + 1, tabs[7], streams[2], sizes, 2)
            copy(text, tabs[7] + 1, end, streams[3], sizes, 3)
            for stream in range(1, 4):
                streams[stream, sizes[stream]] = _FEED
                sizes[stream] += 1
        else:
            last = 0
            streams[0, sizes[0]] = SAME
            sizes[0] += 1
            copy(text, start, end, streams[0], sizes, 0)
        streams[0, sizes[0]] = _FEED
        sizes[0] += 1
        start = end + 1


@compiled
def copy(text: Bytes, start: int, end: int, stream: Bytes, sizes: IntArray, which: int) -> None:
    """Append a piece of the text to a stream."""
    size = sizes[which]
    for index in range(start, end):
        stream[size] = text[index]
        size += 1
    sizes[which] = size


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
def join_lines(numbers: Bytes, heads: Bytes, words: Bytes, rest: Bytes, text: Bytes) -> int:
    """Fill the text, uint8 (size + 1,), and return where it ends, after a last line feed.

    Raises IndexError where a stream ends too early, or the text is longer.
    """
    at, head, word, other, last, end = 0, 0, 0, 0, 0, 0
    while at < len(numbers):
        if numbers[at] == SAME:
            last = 0
            size = copy_to(numbers, at + 1, _FEED, text, end)
            at, end = at + size + 1, end + size
            continue
        if numbers[at] == _FEED:
            last += 1
            end = write_number(last, text, end)
            at += 1
        else:
            size = copy_to(numbers, at, _FEED, text, end)
            at, end = at + size, end + size - 1
        text[end] = _TAB
        end += 1
        size = copy_to(words, word, _TAB, text, end)
        form, word, end = end, word + size, end + size
        if words[word] in (SAME, LOWER):
            end = copy_form(text, form, size - 1, words[word] == LOWER, end)
            word += 1
            text[end] = words[word]
            word, end = word + 1, end + 1
        else:
            size = copy_to(words, word, _TAB, text, end)
            word, end = word + size, end + size
        for _ in range(3):
            size = copy_to(words, word, _TAB, text, end)
            word, end = word + size, end + size
        size = copy_to(heads, head, _FEED, text, end)
        head, end = head + size, end + size
        text[end - 1] = _TAB
        size = copy_to(words, word, _FEED, text, end)
        word, end = word + size, end + size
        text[end - 1] = _TAB
        size = copy_to(rest, other, _FEED, text, end)
        other, end = other + size, end + size
    return end


@compiled
def copy_to(stream: Bytes, start: int, last: int, text: Bytes, end: int) -> int:
    """Copy a stream from `start` to the byte `last`, with it, to the text; return how many bytes these are."""
    for size in range(min(len(stream) - start, len(text) - end)):
        text[end + size] = stream[start + size]
        if stream[start + size] == last:
            return size + 1
    raise IndexError("a stream ends too early")


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
