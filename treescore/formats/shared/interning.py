"""Number the distinct strings of a text in compiled code: eight bytes at a time, by open addressing.

A string is known by its key. The key of a string of up to seven bytes is the string itself, padded with zeros: equal
keys are equal strings. The key of a longer one is a hash with the highest bit set; where two agree, the bytes decide.
A slot is given by the high bits of the key times a secret odd number of the process: a text made to collide in one
process collides in no other. The numbers of the strings do not depend on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, Bytes, Int32Array, IntArray
from treescore.core.jit import compiled

EIGHT = 8
"""Bytes in a word, and the padding of a text: a word can be read at any of its bytes."""

_ONE, _EIGHT = np.uint64(1), np.uint64(EIGHT)
_LONG = np.uint64(1 << 63)
_SECRET = np.uint64((hash("slots of strings") * 2 + 1) % (1 << 64))
_HALF = np.uint64(32)
_FIRST_BITS = 13


class StringTable(NamedTuple):
    """The distinct strings of a text.

    Attributes:
        keys: key in each slot, uint64 (slots,), a power of two of them.
        numbers: number of the string in each slot, -1 where free, int32 (slots,).
        places: first byte of each string and the byte after its last, int64 (capacity, 2).
        size: strings so far, int64 (1,).
        odd: the secret of the process.
        shift: 64 less the number of bits of a slot.
    """

    keys: Bits
    numbers: Int32Array
    places: IntArray
    size: IntArray
    odd: np.uint64
    shift: np.uint64


def padded(text: bytes, end: bytes = b"") -> tuple[Bytes, Bits]:
    """Return a text as bytes, with `end` and zeros behind it, and as words: uint8 (n,) and uint64 (n - 7,).

    Word i holds the eight bytes from byte i on, the first the lowest. Both share their memory.
    """
    characters = np.frombuffer(b"".join((text, end, bytes(EIGHT))), np.uint8)
    return characters, words_of(characters)


def words_of(characters: Bytes) -> Bits:
    """Return bytes as words that share their memory, as `padded` does: uint64 (n - 7,)."""
    return np.ndarray((len(characters) - EIGHT + 1,), "<u8", characters, 0, (1,))


def new_table(bits: int = _FIRST_BITS) -> StringTable:
    """Return an empty table of 2^bits slots, half as many strings."""
    slots = 1 << bits
    return StringTable(
        np.empty(slots, np.uint64),
        np.full(slots, -1, np.int32),
        np.empty((slots // 2, 2), np.int64),
        np.zeros(1, np.int64),
        _SECRET,
        np.uint64(64 - bits),
    )


def with_room(words: Bits, table: StringTable, strings: int) -> StringTable:
    """Return the table, or a larger one, with room for so many more strings of the text."""
    known = int(table.size[0])
    if known + strings <= len(table.places):
        return table
    larger = new_table((known + strings - 1).bit_length() + 1)
    starts, stops = table.places[:known].T.copy()
    number_all(words, starts, stops, known, larger, np.empty(known, np.int32))
    return larger


@compiled
def number_all(
    words: Bits, starts: IntArray, stops: IntArray, count: int, table: StringTable, found: Int32Array
) -> None:
    """Number strings in their order, equal ones equally, and enter those that are new.

    One loop over many strings, and not a function for each: unpacking the table would count its references each time.

    Args:
        words: of the text.
        starts: first byte of each string, int64 (count or more,).
        stops: the byte after its last.
        count: how many strings there are.
        table: of the strings before; it must have room.
        found: filled with the numbers.
    """
    keys, numbers, places, size, odd, shift = table
    mask, known = np.uint64(len(keys) - 1), size[0]
    for index in range(count):
        start = np.uint64(starts[index])
        length = np.uint64(stops[index]) - start
        last = start + length - _EIGHT
        if length < _EIGHT:
            key = words[start] & ((_ONE << (length * _EIGHT)) - _ONE)
        else:
            key = np.uint64(0)
            position = start
            while position < last + _EIGHT:
                key = (key ^ words[min(position, last)]) * odd
                key ^= key >> _HALF
                position += _EIGHT
            key |= _LONG
        slot = (key * odd) >> shift
        number = numbers[slot]
        while number >= 0:
            if keys[slot] == key:
                if length < _EIGHT:
                    break
                if np.uint64(places[number, 1] - places[number, 0]) == length:
                    away = np.uint64(places[number, 0]) - start
                    position = start
                    while position < last and words[position] == words[position + away]:
                        position += _EIGHT
                    if position >= last and words[last] == words[last + away]:
                        break
            slot = (slot + _ONE) & mask
            number = numbers[slot]
        if number < 0:
            number = np.int32(known)
            keys[slot], numbers[slot] = key, number
            places[known, 0], places[known, 1] = start, start + length
            known += 1
        found[index] = number
    size[0] = known


def strings_of(text: bytes, places: IntArray) -> list[str]:
    """Decode the strings at these places, all at once; none holds a line feed. Raises UnicodeDecodeError."""
    if not len(places):
        return []
    return b"\n".join([text[start:stop] for start, stop in places.tolist()]).decode("utf-8").split("\n")
