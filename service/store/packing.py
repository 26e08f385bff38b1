"""Bytes and arrays in few bytes."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from treescore.core.arrays import smallest
from treescore.core.text import digest_of

LEVEL = 3
"""Of zstd; docs/decisions/0004-results.md says why."""
_OF_TEXTS = zstandard.ZstdCompressionParameters(
    compression_level=LEVEL, write_content_size=True, write_checksum=True, hash_log=16, chain_log=12, min_match=6
)
"""The level's own tables are too large for the caches of a core: texts would take half as much time again."""


class PackedText(NamedTuple):
    """A text as it is stored.

    Attributes:
        digest: of its bytes, as `digest_of` returns it.
        size: of its bytes.
        body: these, compressed with zstd.
    """

    digest: str
    size: int
    body: bytes


class DamagedError(zstandard.ZstdError):
    """The checksum of packed bytes is right, but nothing here packs such bytes."""


@contextmanager
def damage_told() -> Iterator[None]:
    """Raise DamagedError where unpacked bytes are not what was packed."""
    try:
        yield
    except (EOFError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise DamagedError(f"packed bytes are damaged: {error}") from error


def pack(body: bytes) -> bytes:
    """Compress with zstd; a checksum tells `unpack` of a byte that the disk has changed."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True, write_checksum=True).compress(body)


def packed_text(text: bytes) -> PackedText:
    """Pack a text, for `unpack` too."""
    packer = zstandard.ZstdCompressor(compression_params=_OF_TEXTS)
    # copied, since what `compress` returns takes as much memory as the worst text of this size would
    return PackedText(digest_of(text), len(text), bytes(memoryview(packer.compress(text))))


def unpack(body: bytes) -> bytes:
    """Decompress what `pack` has compressed."""
    return zstandard.ZstdDecompressor().decompress(body)


def beginning(text: PackedText, most: int) -> bytes:
    """Return at most so many of a text's first bytes."""
    return zstandard.ZstdDecompressor().stream_reader(text.body).read(most)


def unpacked_size(body: bytes) -> int:
    """Return how many bytes `unpack` makes of a body."""
    return zstandard.frame_content_size(body)


def is_packed(body: bytes) -> bool:
    """Return whether `pack` made these bytes; no text in UTF-8 begins like them."""
    return body.startswith(zstandard.FRAME_HEADER)


def pack_array(array: NDArray[Any]) -> bytes:
    """Pack an array by columns: integers in the smallest type that holds them, float64, bool."""
    integers = np.issubdtype(array.dtype, np.integer) and array.size
    buffer = io.BytesIO()
    np.save(buffer, np.asfortranarray(smallest(array) if integers else array), allow_pickle=False)
    return pack(buffer.getvalue())


def unpack_array(body: bytes) -> NDArray[Any]:
    """Unpack what `pack_array` has packed, as int64, float64 or bool. Raises ZstdError where it is damaged."""
    raw = io.BytesIO(unpack(body))
    with damage_told():
        array = np.load(raw, allow_pickle=False)
        return np.ascontiguousarray(array, np.int64 if np.issubdtype(array.dtype, np.integer) else array.dtype)
