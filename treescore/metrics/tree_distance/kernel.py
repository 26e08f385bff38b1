"""Ordered trees of constituents and tags, and the edit distance between two of them (Zhang & Shasha 1989), compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, Int32Array, IntArray, owners_of, sums_by
from treescore.core.discontinuity import extents_of
from treescore.core.jit import compiled, weighing
from treescore.core.structure import NONE
from treescore.core.trees import NO_TAG, DiscontinuousTreebank
from treescore.metrics.shared.discodop import Deletions, listed, representatives


class Units(NamedTuple):
    """The e units of n trees: constituents that are not deleted, then tags, one a word.

    Attributes:
        parents: the constituent above each, counted over the file, NONE for roots, int64 (m + w,); constituents first.
        labels: what is compared; of tags that of the constituents' numbers, plus tag and place, int64 (m + w,).
        firsts: first word of each constituent, int64 (m,).
        kept: which constituents there are, bool (m,).
        node_offsets, word_offsets: int64 (n + 1,).
    """

    parents: IntArray
    labels: IntArray
    firsts: IntArray
    kept: BoolArray
    node_offsets: IntArray
    word_offsets: IntArray


def units_of(treebank: DiscontinuousTreebank, deletions: Deletions) -> Units:
    """Return the units of trees whose words are those that are compared; roots stay."""
    vocabulary = treebank.vocabulary
    roots = treebank.parents == NONE
    extents = extents_of(treebank)
    deleted = listed(vocabulary, deletions.labels)[treebank.labels]
    kept = roots | (~deleted & (extents.sizes > 0))
    same = representatives(vocabulary, deletions.equal_labels)
    places = np.arange(len(treebank.words)) - np.repeat(treebank.word_offsets[:-1], np.diff(treebank.word_offsets))
    tags = (places + 1) * (len(vocabulary) + 1) + np.append(same, NO_TAG)[treebank.tags] + 1
    parents = _raised(treebank.parents, treebank.anchors, kept)
    return Units(
        parents,
        np.concatenate([same[treebank.labels], tags + len(vocabulary)]),
        extents.firsts,
        kept,
        treebank.node_offsets,
        treebank.word_offsets,
    )


def sizes_of(units: Units) -> IntArray:
    """Return how many units each tree has, int64 (n,)."""
    nodes = sums_by(owners_of(units.node_offsets)[units.kept], len(units.node_offsets) - 1)
    return np.asarray(nodes + np.diff(units.word_offsets), np.int64)


@compiled
def _raised(parents: IntArray, anchors: IntArray, kept: BoolArray) -> IntArray:
    """Return the nearest kept constituent above each constituent and each word, NONE for roots: int64 (m + w,)."""
    nodes = len(parents)
    found = np.empty(nodes + len(anchors), np.int64)
    for unit in range(len(found)):
        above = parents[unit] if unit < nodes else anchors[unit - nodes]
        found[unit] = above if above == NONE or kept[above] else found[above]
    return found


class Distances(NamedTuple):
    """Distances of n trees.

    Attributes:
        distances: int64 (n,), 0 in sentences that are not compared.
        failed: the sentence whose tables exceed a bound, or -1; those from there on have no distance.
    """

    distances: IntArray
    failed: int


class _Scratch(NamedTuple):
    """Memory for one tree of u units: its units as the first child of each and the next one beside, and in post-order.

    Attributes:
        below, beside: by unit: constituents of the sentence, then words, int64 (u,).
        labels, leftmost: in post-order: label, and number of the leftmost leaf below, int64 (u,).
        roots: numbers of the key roots, int64 (u,).
        stack: int64 (u,).
    """

    below: IntArray
    beside: IntArray
    labels: IntArray
    leftmost: IntArray
    roots: IntArray
    stack: IntArray


@compiled
def _scratch(size: int) -> _Scratch:
    return _Scratch(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )


@compiled
def _post_order(units: Units, sentence: int, tree: _Scratch) -> tuple[int, int]:
    """Put the units of a tree into post-order; return how many there are, and how many key roots."""
    first, last = units.node_offsets[sentence], units.node_offsets[sentence + 1]
    begin, end = units.word_offsets[sentence], units.word_offsets[sentence + 1]
    nodes, all_nodes = last - first, len(units.kept)
    below, beside, stack, begun = tree.below, tree.beside, tree.stack, tree.roots
    for unit in range(nodes + end - begin):
        below[unit], beside[unit] = NONE, NONE
    # Each word, and the constituents that begin with it, before those that begin later.
    for word in range(end - 1, begin - 1, -1):
        unit, above = nodes + word - begin, units.parents[all_nodes + word] - first
        while True:
            beside[unit], below[above] = below[above], unit
            if units.firsts[first + above] != word or units.parents[first + above] == NONE:
                break
            unit, above = above, units.parents[first + above] - first
    size = depth = unit = 0  # unit 0 is the root
    while True:
        while below[unit] != NONE:
            stack[depth], begun[depth] = unit, size
            depth += 1
            unit = below[unit]
        tree.leftmost[size] = size
        tree.labels[size] = units.labels[first + unit if unit < nodes else all_nodes + begin + unit - nodes]
        size += 1
        while depth > 0 and beside[unit] == NONE:
            depth -= 1
            unit = stack[depth]
            tree.leftmost[size], tree.labels[size] = begun[depth], units.labels[first + unit]
            size += 1
        if depth == 0:
            break
        unit = beside[unit]
    return size, _key_roots(tree, size)


@compiled
def _key_roots(tree: _Scratch, size: int) -> int:
    """Number the units whose leftmost leaf is that of no unit above them, in rising order; return how many."""
    seen = tree.stack
    seen[:size] = NONE
    keys = 0
    for number in range(size - 1, -1, -1):
        if seen[tree.leftmost[number]] == NONE:
            seen[tree.leftmost[number]] = number
            keys += 1
    place = keys
    for number in range(size - 1, -1, -1):
        if seen[tree.leftmost[number]] == number:
            place -= 1
            tree.roots[place] = number
    return keys


@compiled
def _same(one: _Scratch, other: _Scratch, size: int) -> bool:
    """Tell whether two trees of one size are equal."""
    for number in range(size):
        if one.labels[number] != other.labels[number] or one.leftmost[number] != other.leftmost[number]:
            return False
    return True


@compiled
def _cells(tree: _Scratch, keys: int) -> int:
    """Return how many units are below the key roots, with repetitions."""
    total = 0
    for key in range(keys):
        total += tree.roots[key] - tree.leftmost[tree.roots[key]] + 1
    return total


@compiled
def _distance(one: _Scratch, keys: int, other: _Scratch, other_keys: int, trees: Int32Array, table: Int32Array) -> int:
    """Return the distance of two trees; insertion, deletion and replacement of a unit cost 1.

    Args:
        one: a tree.
        keys: how many key roots it has.
        other: the other tree.
        other_keys: how many key roots it has.
        trees: scratch, for distances of subtrees.
        table: scratch, for distances of forests.
    """
    last = 0
    for key in range(keys):
        root = one.roots[key]
        begin = one.leftmost[root]
        for other_key in range(other_keys):
            other_root = other.roots[other_key]
            other_begin = other.leftmost[other_root]
            table[0, 0] = 0
            for row in range(1, root - begin + 2):
                table[row, 0] = row
            for column in range(1, other_root - other_begin + 2):
                table[0, column] = column
            for row in range(1, root - begin + 2):
                unit = begin + row - 1
                whole = one.leftmost[unit] == begin
                for column in range(1, other_root - other_begin + 2):
                    other_unit = other_begin + column - 1
                    best = min(table[row - 1, column], table[row, column - 1]) + 1
                    if whole and other.leftmost[other_unit] == other_begin:
                        best = min(best, table[row - 1, column - 1] + (one.labels[unit] != other.labels[other_unit]))
                        trees[unit, other_unit] = best
                    else:
                        before = table[one.leftmost[unit] - begin, other.leftmost[other_unit] - other_begin]
                        best = min(best, before + trees[unit, other_unit])
                    table[row, column] = best
                    last = best
    return int(last)


@compiled
@weighing(100)
def distances(gold: Units, system: Units, usable: BoolArray, bound: int, text_bound: int) -> Distances:
    """Return the distances of the trees of sentences that are usable, bool (n,).

    Args:
        gold: trees of n sentences.
        system: trees over the same words.
        usable: which are compared.
        bound: most cells of the tables of a sentence.
        text_bound: most cells of all.
    """
    found = np.zeros(len(usable), np.int64)
    longest = 1
    for side in (gold, system):
        for sentence in range(len(usable)):
            nodes = side.node_offsets[sentence + 1] - side.node_offsets[sentence]
            words = side.word_offsets[sentence + 1] - side.word_offsets[sentence]
            longest = max(longest, nodes + words)
    one, other = _scratch(longest), _scratch(longest)
    trees, table = np.empty((1, 1), np.int32), np.empty((1, 1), np.int32)
    total = 0
    for sentence in range(len(usable)):
        if not usable[sentence]:
            continue
        size, keys = _post_order(gold, sentence, one)
        other_size, other_keys = _post_order(system, sentence, other)
        if size == other_size and _same(one, other, size):
            continue
        cells = _cells(one, keys) * _cells(other, other_keys)
        total += cells
        if cells > bound or total > text_bound:
            return Distances(found, sentence)
        if size >= table.shape[0] or other_size >= table.shape[1]:
            rows, columns = max(size + 1, table.shape[0]), max(other_size + 1, table.shape[1])
            trees, table = np.empty((rows, columns), np.int32), np.empty((rows, columns), np.int32)
        found[sentence] = _distance(one, keys, other, other_keys, trees, table)
    return Distances(found, -1)
