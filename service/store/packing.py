"""Bytes small, arrays compact."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from treescore.core.arrays import Counts

LEVEL = 3
SIZES = (np.int8, np.int16, np.int32, np.int64)


def pack(body: bytes) -> bytes:
    """Compressed with zstd."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True).compress(body)


def unpack(body: bytes) -> bytes:
    """What `pack` was given."""
    return zstandard.ZstdDecompressor().decompress(body)


def pack_array(array: Counts) -> bytes:
    """An array of two dimensions, column by column and in the smallest integer type that holds it."""
    small: NDArray[Any] = array
    if np.issubdtype(array.dtype, np.integer) and array.size:
        small = array.astype(next(kind for kind in SIZES if _fits(array, kind)))
    buffer = io.BytesIO()
    np.save(buffer, np.asfortranarray(small), allow_pickle=False)
    return pack(buffer.getvalue())


def unpack_array(body: bytes) -> Counts:
    """What `pack_array` was given: int64 or float64."""
    array = np.load(io.BytesIO(unpack(body)), allow_pickle=False)
    if np.issubdtype(array.dtype, np.integer):
        return np.ascontiguousarray(array, np.int64)
    return np.ascontiguousarray(array, np.float64)


def _fits(array: Counts, kind: type[np.signedinteger[Any]]) -> bool:
    bounds = np.iinfo(kind)
    return bool(bounds.min <= array.min() and array.max() <= bounds.max)
