"""Array types, and the array operations that metrics share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treescore.core.jit import compiled, plainly

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Int32Array = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Bits = NDArray[np.uint64]
"""64 in a number: one for each unit, or the state of a stream of random numbers."""
Counts = NDArray[np.int64] | NDArray[np.float64]
"""(units, count names): the counts of a metric, one row a sentence."""


def smallest(values: Counts) -> NDArray[Any]:
    """Return whole numbers in the smallest type that holds them all."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    kinds = (np.int8, np.int16, np.int32, np.int64)
    return values.astype(next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max))


def offsets_of(lengths: IntArray) -> IntArray:
    """Turn lengths (n,) into offsets (n + 1,): part i is `values[offsets[i]:offsets[i + 1]]`."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def owners_of(offsets: IntArray) -> IntArray:
    """Turn offsets (n + 1,) into the part number of each value, (offsets[-1],)."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def sums_by(owners: IntArray, size: int, weights: IntArray | BoolArray | None = None) -> IntArray:
    """Count the values (or sum their integer weights) of each of `size` parts: int64 (size,)."""
    if weights is None:
        return np.bincount(owners, minlength=size).astype(np.int64)
    return np.bincount(owners, weights=weights, minlength=size).astype(np.int64)


def sums_of_rows(owners: IntArray, size: int, rows: Counts) -> Counts:
    """Sum the rows (n, k) of each of `size` groups: (size, k); real counts one by one, in the order of the rows."""
    sums: Counts = np.zeros((size, rows.shape[1]), rows.dtype)  # type: ignore[assignment]
    if rows.dtype.kind == "f":
        np.add.at(sums, owners, rows)
        return sums
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(size + 1))
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(rows[order], starts[filled], axis=0)
    return sums


def _counted(word: np.uint64) -> np.uint64:
    return np.uint64(np.bitwise_count(word))


@compiled
@plainly(_counted)
def ones_in(word: np.uint64) -> np.uint64:
    """Count the set bits of a word. The compiler makes one machine instruction of it."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
