"""Compiled comparison of two lists of brackets.

Matching hashes (start, end, label) and crossing takes range maxima over blocks of words: the time grows with the text,
not with the square of a sentence.
"""

from __future__ import annotations

from typing import NamedTuple

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.jit import compiled, inlined

_BLOCK = 6
"""A block has 2^6 words."""


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
def _hash(start: int, end: int, label: int) -> int:
    value = ((start * 1000003) ^ end) * 998244353 + label * 805306457
    return value ^ (value >> 17)


@compiled
def matched(gold: Brackets, system: Brackets, equal: Equal, table: Hash, epoch: int) -> int:
    """Count the gold brackets that find a system bracket; each takes the first one left, in pre-order (as EVALB).

    A slot stamped with `epoch` holds a bracket, any other is free. Slots are looked for in the loops themselves: a
    function that is given the arrays counts their references each time.

    Args:
        gold: gold's brackets.
        system: the system's.
        equal: labels that count as equal.
        table: scratch memory; its `partners` become the system bracket that each gold bracket took.
        epoch: a number that was never used with `table` before.
    """
    stamps, keys, heads, following, partners = table
    rows, others = gold.rows, system.rows
    paired, pairs = equal
    mask = len(stamps) - 1
    for index in range(system.size - 1, -1, -1):
        start, end, label = others[index, 0], others[index, 1], others[index, 2]
        slot = _hash(start, end, label) & mask
        head = -1
        while stamps[slot] == epoch:
            key = keys[slot]
            if others[key, 0] == start and others[key, 1] == end and others[key, 2] == label:
                head = heads[slot]
                break
            slot = (slot + 1) & mask
        following[index] = head
        stamps[slot], keys[slot], heads[slot] = epoch, index, index
    count = 0
    for index in range(gold.size):
        start, end, label = rows[index, 0], rows[index, 1], rows[index, 2]
        best = -1
        # Row -1 stands for the label itself.
        for row in range(-1, len(pairs) if paired[label] else 0):
            other = label
            if row >= 0:
                other = pairs[row, 1] if pairs[row, 0] == label else pairs[row, 0]
                if other == label or (pairs[row, 0] != label and pairs[row, 1] != label):
                    continue
            slot = _hash(start, end, other) & mask
            while stamps[slot] == epoch:
                key = keys[slot]
                if others[key, 0] == start and others[key, 1] == end and others[key, 2] == other:
                    if heads[slot] >= 0 and (best < 0 or heads[slot] < heads[best]):
                        best = slot
                    break
                slot = (slot + 1) & mask
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
    ends, starts, block_ends, block_starts = reach[0], reach[1], reach[2], reach[3]
    rows, others = gold.rows, system.rows
    for word in range(words + 1):
        ends[word], starts[word] = -1, words + 1
    for block in range((words >> _BLOCK) + 1):
        block_ends[block], block_starts[block] = -1, words + 1
    for index in range(gold.size):
        start, end = rows[index, 0], rows[index, 1]
        if end > start:
            ends[start] = max(ends[start], end)
            starts[end] = min(starts[end], start)
            block_ends[start >> _BLOCK] = max(block_ends[start >> _BLOCK], end)
            block_starts[end >> _BLOCK] = min(block_starts[end >> _BLOCK], start)
    count = 0
    for index in range(system.size):
        start, end = others[index, 0], others[index, 1]
        # The words after the first: those before the first whole block, whole blocks, those after the last.
        first_block = (start + (1 << _BLOCK)) >> _BLOCK
        head = min(end, first_block << _BLOCK)
        last_block = end >> _BLOCK
        tail = max(head, last_block << _BLOCK)
        crosses = False
        for word in range(start + 1, head):
            crosses |= (ends[word] > end) | (starts[word] < start)
        for block in range(first_block, last_block):
            crosses |= (block_ends[block] > end) | (block_starts[block] < start)
        for word in range(tail, end):
            crosses |= (ends[word] > end) | (starts[word] < start)
        count += crosses
    return count
