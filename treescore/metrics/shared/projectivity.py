"""Find projective arcs: every word between head and dependent is below the head (compiled)."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import compiled


@compiled
def projective_arcs(heads: IntArray, depths: IntArray, offsets: IntArray) -> BoolArray:
    """Return whether the arc into each word is projective: bool (w,); False where its heads do not reach the root.

    Words are numbered in an order in which everything below a word follows it without a gap. Then the words between
    head and dependent are below the head iff their least and greatest numbers are. The time is n log n in the words
    of a sentence.

    Args:
        heads: int64 (w,).
        depths: as `treescore.metrics.shared.heads.Shape.depths`, int64 (w,).
        offsets: sentences, int64 (n + 1,).
    """
    projective = np.zeros(len(heads), np.bool_)
    for sentence in range(len(offsets) - 1):
        start = offsets[sentence]
        length = offsets[sentence + 1] - start
        first, size = _preorder(heads[start : start + length], depths[start : start + length])
        levels = 1
        while (1 << levels) < length:
            levels += 1
        least = np.empty((levels, length), np.int64)
        greatest = np.empty((levels, length), np.int64)
        least[0] = first[1:]
        greatest[0] = first[1:]
        for level in range(1, levels):
            half = 1 << (level - 1)
            for index in range(length - 2 * half + 1):
                least[level, index] = min(least[level - 1, index], least[level - 1, index + half])
                greatest[level, index] = max(greatest[level - 1, index], greatest[level - 1, index + half])
        for word in range(length):
            if depths[start + word] < 1:
                continue
            head = heads[start + word]
            # The words between the two are `low` to `high` - 1, counted from 0.
            low, high = (head, word) if head <= word else (word + 1, head - 1)
            if high <= low:
                projective[start + word] = True
                continue
            level = 0
            while (2 << level) <= high - low:
                level += 1
            smallest = min(least[level, low], least[level, high - (1 << level)])
            largest = max(greatest[level, low], greatest[level, high - (1 << level)])
            projective[start + word] = smallest > first[head] and largest < first[head] + size[head]
    return projective


@compiled
def _preorder(heads: IntArray, depths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the number of each node of one sentence and the size of its subtree; node 0 is the root.

    Nodes that do not reach the root have number -1.
    """
    length = len(heads)
    first = np.full(length + 1, -1, np.int64)
    size = np.ones(length + 1, np.int64)
    free = np.zeros(length + 1, np.int64)
    order = np.argsort(depths, kind="mergesort")
    for word in order[::-1]:
        if depths[word] > 0:
            size[heads[word]] += size[word + 1]
    first[0] = 0
    free[0] = 1
    for word in order:
        if depths[word] > 0:
            first[word + 1] = free[heads[word]]
            free[heads[word]] += size[word + 1]
            free[word + 1] = first[word + 1] + 1
    return first, size
