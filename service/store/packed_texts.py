"""Texts in few bytes: compressed as they are, or taken apart into streams of like fields."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from service.store.packing import damage_told, pack, unpack
from treescore.core.arrays import offsets_of
from treescore.formats.shared.ten_fields import Streams, put_together, taken_apart

_APART = b"ten fields\0"
"""Before the compressed streams of a text that was taken apart; no zstd frame begins with it."""
_SIZES, _CODES = "<i8", "<i4"


def packed_apart(text: bytes) -> bytes | None:
    """Pack a text as streams; None where it cannot be taken apart. The result is checked to give the text back."""
    streams = taken_apart(text)
    if streams is None or put_together(streams, len(text)) != text:
        return None
    # the lowest bytes of all codes, then the next
    codes = streams.codes.astype(_CODES).view(np.uint8).reshape(-1, 4).T.tobytes()
    parts = [*streams[:-1], codes]
    sizes = np.array([len(text), *map(len, parts)], _SIZES)
    return _APART + pack(b"".join([sizes.tobytes(), *parts]))


def is_apart(body: bytes) -> bool:
    """Return whether `packed_apart` has packed this."""
    return body.startswith(_APART)


def unpack_text(body: bytes) -> bytes:
    """Unpack what `pack` or `packed_apart` has packed. Raises zstandard.ZstdError where it is damaged."""
    if not is_apart(body):
        return unpack(body)
    raw = unpack(body.removeprefix(_APART))
    with damage_told():
        size, streams = _streams(raw)
        text = put_together(streams, size)
        if len(text) != size:
            raise ValueError("their sizes are wrong")
    return text


def _streams(raw: bytes) -> tuple[int, Streams]:
    """Return the size of a text, and what it was taken apart into."""
    size, (numbers, heads, words, rest, tags, packed) = _parts(raw, len(Streams._fields))
    codes = np.frombuffer(packed, np.uint8).reshape(4, -1).T.copy().view(_CODES).reshape(-1)
    return size, Streams(numbers, heads, words, rest, tags, codes.astype(np.int32))


def _parts(raw: bytes, count: int) -> tuple[int, list[bytes]]:
    sizes = np.frombuffer(raw, _SIZES, 1 + count)
    bounds = (offsets_of(sizes[1:]) + sizes.nbytes).tolist()
    if sizes.min() < 0 or bounds[-1] != len(raw):
        raise ValueError("their sizes are wrong")
    return int(sizes[0]), [raw[start:stop] for start, stop in pairwise(bounds)]
