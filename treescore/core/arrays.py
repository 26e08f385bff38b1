"""Array types, the array operations that metrics share, numbers for equal values, and special functions.

Equal values are numbered alike without sorting them: in order of appearance, or of value. Two compiled functions keep
a heap of whole numbers in an array.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treescore.core.jit import compiled

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Int32Array = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Bits = NDArray[np.uint64]
"""64 in a number: one for each unit, or the state of a stream of random numbers."""
Counts = NDArray[np.int64] | NDArray[np.float64]
"""(units, count names): the counts of a metric, one row a sentence."""


class _Special:
    """The functions of `scipy.special`, which takes 15 MB and is loaded when one of them is first used."""

    def __getattr__(self, name: str) -> Any:
        from scipy import special as loaded  # noqa: PLC0415 - as the class says

        found = self.__dict__[name] = getattr(loaded, name)
        return found


special = _Special()


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


def sums_by(owners: IntArray | Int32Array, size: int, weights: IntArray | BoolArray | None = None) -> IntArray:
    """Count the values (or sum their integer weights) of each of `size` parts: int64 (size,)."""
    if weights is None:
        return np.bincount(owners, minlength=size).astype(np.int64)
    return np.bincount(owners, weights=weights, minlength=size).astype(np.int64)


def sums_of_rows(owners: IntArray, size: int, rows: Counts) -> Counts:
    """Sum the rows (n, k) of each of `size` groups: (size, k); real counts one by one, in the order of the rows."""
    if rows.dtype.kind == "f":
        real: FloatArray = np.zeros((size, rows.shape[1]))
        np.add.at(real, owners, rows)
        return real
    sums: IntArray = np.zeros((size, rows.shape[1]), np.int64)
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(size + 1))
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(rows[order], starts[filled], axis=0, dtype=np.int64)
    return sums


_SPAN = 16
"""Places for each value up to which counting over the span of the values is faster than sorting them."""
_LEAST_SPAN = 4096
_FACTOR = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio, odd: its powers spread the places of a list over 64 bits (Knuth 1998, 6.4)."""


def grouped(values: IntArray) -> tuple[IntArray, IntArray]:
    """Number equal values alike, in order of appearance.

    Args:
        values: int64 (n,).

    Returns:
        The group of each value, int64 (n,), and where each of the g groups appears first, int64 (g,).
    """
    low, span = _span_of(values)
    if span <= max(_LEAST_SPAN, _SPAN * len(values)):
        first_of = _first_places(values - low, span)
    else:
        _, firsts, numbers = np.unique(values, return_index=True, return_inverse=True)
        first_of = firsts[numbers]
    is_first = first_of == np.arange(len(values))
    return (np.cumsum(is_first) - 1)[first_of], np.flatnonzero(is_first)


def appearing(numbers: IntArray, size: int) -> IntArray:
    """Return the distinct ones of n numbers below `size` in order of appearance, int64 (g,), in O(n + size)."""
    places = np.full(size, len(numbers))
    places[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # of equal ones the last that is assigned stays
    firsts: IntArray = np.sort(places[places < len(numbers)])
    return numbers[firsts]


def _first_places(numbers: IntArray, size: int) -> IntArray:
    """Return where each of n numbers below `size` appears first: int64 (n,)."""
    places = np.empty(size, np.int64)
    places[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of equal ones the last that is assigned stays
    return places[numbers]


def grouped_lists(values: IntArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Number equal lists alike, in order of appearance.

    Args:
        values: of all lists, int64 (m,).
        offsets: list i is `values[offsets[i]:offsets[i + 1]]`, none is empty; int64 (n + 1,).

    Returns:
        As `grouped`, for each list. Should two lists that differ have the same hash, no two lists are numbered alike.
    """
    if not len(values):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    lengths = np.diff(offsets)
    places = np.arange(len(values)) - np.repeat(offsets[:-1], lengths)
    powers = np.cumprod(np.full(int(lengths.max()), _FACTOR, np.uint64))
    hashes = np.add.reduceat((values + 1).astype(np.uint64) * powers[places], offsets[:-1])
    groups, firsts = grouped(hashes.view(np.int64))
    first_of = firsts[groups]
    if np.array_equal(lengths, lengths[first_of]):
        same = np.repeat(offsets[first_of], lengths) + places
        if np.array_equal(values, values[same]):
            return groups, firsts
    return np.arange(len(lengths)), np.arange(len(lengths))


def ranked(values: IntArray) -> tuple[IntArray, IntArray]:
    """Number equal values alike, in order of value, as `np.unique` does: by counting where their span is small.

    Args:
        values: int64 (n,).

    Returns:
        The distinct values, ascending, int64 (g,), and the group of each value, int64 (n,).
    """
    low, span = _span_of(values)
    if span > max(_LEAST_SPAN, _SPAN * len(values)):
        distinct, groups = np.unique(values, return_inverse=True)
        return distinct, groups
    present = np.zeros(span, np.bool_)
    present[values - low] = True
    return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[values - low]


def placed(values: IntArray) -> tuple[IntArray, IntArray]:
    """Number equal values alike, in order of value, with numbers left over where their span is small.

    Args:
        values: int64 (n,).

    Returns:
        The value of each number, int64 (g,), and the number of each value, int64 (n,).
    """
    low, span = _span_of(values)
    if span > max(_LEAST_SPAN, _SPAN * len(values)):
        return ranked(values)
    return np.arange(low, low + span), values - low


def largest_first(sizes: IntArray) -> IntArray:
    """Return the groups that have a size above 0, by size; equal ones in their order: int64 (g,)."""
    present = np.flatnonzero(sizes)
    order = -sizes[present]
    # integers of 16 bits are sorted by their digits, in a tenth of the time
    small = len(order) and -int(order.min()) <= np.iinfo(np.int16).max
    return present[np.argsort(order.astype(np.int16) if small else order, kind="stable")]


def tallied(groups: IntArray, size: int, kinds: IntArray, width: int) -> IntArray:
    """Count the values (n,) of each of `size` groups by kind, a number below `width` (n,): int64 (width, size)."""
    return np.bincount(kinds * size + groups, minlength=width * size).reshape(width, size)


def _span_of(values: IntArray) -> tuple[int, int]:
    """Return the lowest of some values and 0, and how many whole numbers there are from it to the highest."""
    low = int(values.min(initial=0))
    return low, int(values.max(initial=0)) - low + 1


def paired_rows(gold: Sequence[IntArray], system: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Pair rows that agree in all columns, one to one, in order: row numbers of gold and of the system.

    Args:
        gold: columns of gold's rows, int64.
        system: the same columns of the system's.
    """
    golds, systems = len(gold[0]), len(system[0])
    if not golds or not systems:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys = np.concatenate(joint_keys(gold, system))
    # In sorted order gold's rows of a key precede the system's: the first of both are a pair, and so on.
    order = np.argsort(keys, kind="stable")
    new = np.diff(keys[order], prepend=-1) != 0
    begins, groups = np.flatnonzero(new), np.cumsum(new) - 1
    is_gold = order < golds
    golds_of = np.add.reduceat(is_gold, begins, dtype=np.int64)
    systems_of = np.diff(np.append(begins, len(order))) - golds_of
    indices = np.flatnonzero(is_gold)
    ranks = indices - begins[groups[indices]]
    paired = ranks < systems_of[groups[indices]]
    indices, partners = indices[paired], (indices + golds_of[groups[indices]])[paired]
    return order[indices], order[partners] - golds


def joint_keys(gold: Sequence[IntArray], system: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Number rows so that those that agree in all columns, whose values are 0 or more, have the same number.

    Args:
        gold: columns of gold's rows, int64.
        system: the same columns of the system's.
    """
    golds = len(gold[0])
    keys, bound = np.zeros(golds + len(system[0]), np.int64), 1
    for columns in zip(gold, system, strict=True):
        values = np.concatenate(columns)
        size = int(values.max(initial=0)) + 1
        if bound * size >= 1 << 62:
            keys, bound = np.unique(keys, return_inverse=True)[1], len(keys)
        keys, bound = keys * size + values, bound * size
    return keys[:golds], keys[golds:]


@compiled
def heap_push(heap: IntArray, size: int, key: int) -> int:
    """Put a key on the heap (lowest first); return the new size."""
    slot = size
    while slot > 0 and heap[(slot - 1) // 2] > key:
        heap[slot] = heap[(slot - 1) // 2]
        slot = (slot - 1) // 2
    heap[slot] = key
    return size + 1


@compiled
def heap_pop(heap: IntArray, size: int) -> int:
    """Move the lowest key of the heap to `heap[size - 1]`; return the new size."""
    lowest, last = heap[0], heap[size - 1]
    size -= 1
    slot = 0
    while 2 * slot + 1 < size:
        child = 2 * slot + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[slot] = heap[child]
        slot = child
    heap[slot] = last
    heap[size] = lowest
    return size
