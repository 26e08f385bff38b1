"""Compiled comparison of two lists of brackets.

Matching hashes (start, end, label) and crossing takes range maxima over blocks of words: the time grows with the text,
not with the square of a sentence.
"""

from __future__ import annotations

from typing import NamedTuple

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import compiled, inlined

_BLOCK = 64


class Brackets(NamedTuple):
    """Brackets of a sentence: int64 (room, 3), rows start, end, label, of which the first `size` are used."""

    rows: IntArray
    size: int


class Equal(NamedTuple):
    """Strings that count as equal.

    Attributes:
        paired: whether a string stands in a pair, bool (vocabulary,).
        pairs: strings taken as equal in both directions, not transitively, int64 (p, 2).
    """

    paired: BoolArray
    pairs: IntArray


class Hash(NamedTuple):
    """Scratch memory of `matched`, all int64 (size,), size a power of 2 and at least twice the number of brackets.

    Attributes:
        stamps: the epoch in which a slot was last used.
        keys: a system bracket with the slot's start, end and label.
        heads: the first system bracket of the slot that is left, or -1.
        following: the next system bracket after each, or -1.
        partners: the system bracket that each gold bracket took, or -1.
    """

    stamps: IntArray
    keys: IntArray
    heads: IntArray
    following: IntArray
    partners: IntArray


@inlined
def alike(first: int, second: int, equal: Equal) -> bool:
    """Compare two strings as EVALB does: the same, or one of the given pairs in either direction; not transitive."""
    if first == second:
        return True
    if first < 0 or second < 0 or not equal.paired[first]:
        return False
    pairs = equal.pairs
    for row in range(len(pairs)):
        if (pairs[row, 0] == first and pairs[row, 1] == second) or (pairs[row, 0] == second and pairs[row, 1] == first):
            return True
    return False


@inlined
def _slot(start: int, end: int, label: int, rows: IntArray, epoch: int, stamps: IntArray, keys: IntArray) -> int:
    """Find the slot of a bracket: stamped with `epoch` where the bracket is known, else free."""
    mask = len(stamps) - 1
    value = ((start * 1000003) ^ end) * 998244353 + label * 805306457
    slot = (value ^ (value >> 17)) & mask
    while stamps[slot] == epoch:
        key = keys[slot]
        if rows[key, 0] == start and rows[key, 1] == end and rows[key, 2] == label:
            break
        slot = (slot + 1) & mask
    return slot


@compiled
def matched(gold: Brackets, system: Brackets, equal: Equal, table: Hash, epoch: int) -> int:
    """Count the gold brackets that find a system bracket; each takes the first one left, in pre-order (as EVALB).

    Args:
        gold: gold's brackets.
        system: the system's.
        equal: labels that count as equal.
        table: scratch memory; its `partners` become the system bracket that each gold bracket took.
        epoch: a number that was never used with `table` before.
    """
    stamps, keys, heads, following, partners = table
    rows, others, pairs = gold.rows, system.rows, equal.pairs
    for index in range(system.size - 1, -1, -1):
        slot = _slot(others[index, 0], others[index, 1], others[index, 2], others, epoch, stamps, keys)
        following[index] = heads[slot] if stamps[slot] == epoch else -1
        stamps[slot] = epoch
        keys[slot] = index
        heads[slot] = index
    count = 0
    for index in range(gold.size):
        start, end, label = rows[index, 0], rows[index, 1], rows[index, 2]
        slot = _slot(start, end, label, others, epoch, stamps, keys)
        best = slot if stamps[slot] == epoch and heads[slot] >= 0 else -1
        if equal.paired[label]:
            for row in range(len(pairs)):
                other = pairs[row, 1] if pairs[row, 0] == label else pairs[row, 0]
                if other == label or (pairs[row, 0] != label and pairs[row, 1] != label):
                    continue
                slot = _slot(start, end, other, others, epoch, stamps, keys)
                if stamps[slot] == epoch and heads[slot] >= 0 and (best < 0 or heads[slot] < heads[best]):
                    best = slot
        partners[index] = -1
        if best >= 0:
            partners[index] = heads[best]
            heads[best] = following[heads[best]]
            count += 1
    return count


@compiled
def crossing(gold: Brackets, system: Brackets, words: int, reach: IntArray) -> int:
    """Count the system brackets that cross a gold bracket: they overlap, and neither lies inside the other.

    Args:
        gold: gold's brackets.
        system: the system's.
        words: of the sentence.
        reach: scratch memory, int64 (4, more than words + 1): the furthest end of the gold brackets that start at a
            word, the nearest start of those that end there, and the same for blocks of words.
    """
    blocks = words // _BLOCK + 1
    reach[0, : words + 1] = -1
    reach[1, : words + 1] = words + 1
    reach[2, :blocks] = -1
    reach[3, :blocks] = words + 1
    for index in range(gold.size):
        start, end = gold.rows[index, 0], gold.rows[index, 1]
        if end > start:
            reach[0, start] = max(reach[0, start], end)
            reach[1, end] = min(reach[1, end], start)
            reach[2, start // _BLOCK] = max(reach[2, start // _BLOCK], end)
            reach[3, end // _BLOCK] = min(reach[3, end // _BLOCK], start)
    count = 0
    for index in range(system.size):
        start, end = system.rows[index, 0], system.rows[index, 1]
        word = start + 1
        while word < end:
            if word % _BLOCK == 0 and word + _BLOCK <= end:
                block = word // _BLOCK
                if reach[2, block] > end or reach[3, block] < start:
                    count += 1
                    break
                word += _BLOCK
            elif reach[0, word] > end or reach[1, word] < start:
                count += 1
                break
            else:
                word += 1
    return count
