"""A heap of whole numbers in an array, for compiled functions."""

from __future__ import annotations

from treescore.core.arrays import IntArray
from treescore.core.jit import compiled


@compiled
def push(heap: IntArray, size: int, key: int) -> int:
    """Put a key on the heap (lowest first); return the new size."""
    slot = size
    while slot > 0 and heap[(slot - 1) // 2] > key:
        heap[slot] = heap[(slot - 1) // 2]
        slot = (slot - 1) // 2
    heap[slot] = key
    return size + 1


@compiled
def pop(heap: IntArray, size: int) -> int:
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
