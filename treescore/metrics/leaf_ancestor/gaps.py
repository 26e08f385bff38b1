"""Lineages in trees whose constituents may have gaps (van Cranenburgh, Scha & Bod 2016)."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.discontinuity import extents_of
from treescore.core.jit import compiled
from treescore.core.structure import NONE
from treescore.core.trees import DiscontinuousTreebank
from treescore.metrics.leaf_ancestor.kernel import NO_GAPS, Chains, values_at
from treescore.metrics.shared.discodop import Deletions, listed, representatives


def gap_chains(treebank: DiscontinuousTreebank, deletions: Deletions, *, boundaries: bool) -> Chains:
    """Return the chains of trees without their deleted constituents; equal labels are one."""
    vocabulary = treebank.vocabulary
    kept = ~listed(vocabulary, deletions.labels)[treebank.labels]
    parents, anchors, depths = _raised(treebank.parents, treebank.anchors, kept)
    firsts, lasts, _ = extents_of(treebank)
    begins = treebank.word_offsets[owners_of(treebank.node_offsets)]
    starts, ends = firsts - begins, lasts + 1 - begins
    none = np.full(len(anchors), NO_GAPS, np.int64)
    before, after = none, none.copy()
    if boundaries:
        before = none.copy()
        _join(parents, depths, anchors, treebank.word_offsets, before, after)
    else:
        starts = ends = np.full(len(parents), -1, np.int64)
    lengths = values_at(anchors, depths, 0)
    labels = representatives(vocabulary, deletions.equal_labels)[treebank.labels]
    return Chains(treebank.word_offsets, anchors, lengths, labels, parents, starts, ends, before, after)


@compiled
def _raised(parents: IntArray, anchors: IntArray, kept: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return parents and anchors among the nodes that are kept, bool (m,), and how many are at or above each node."""
    above, depths = np.empty(len(parents), np.int64), np.zeros(len(parents), np.int64)
    nearest = np.empty(len(parents), np.int64)
    for node in range(len(parents)):
        parent = parents[node]
        above[node] = NONE if parent == NONE else nearest[parent]
        depths[node] = (0 if above[node] == NONE else depths[above[node]]) + kept[node]
        nearest[node] = node if kept[node] else above[node]
    lowest = np.empty(len(anchors), np.int64)
    for word in range(len(anchors)):
        lowest[word] = NONE if anchors[word] == NONE else nearest[anchors[word]]
    return above, lowest, depths


@compiled
def _join(
    parents: IntArray, depths: IntArray, anchors: IntArray, offsets: IntArray, before: IntArray, after: IntArray
) -> None:
    """Fill the lowest element over each word and its neighbours; NONE stands for the ends of a sentence too."""
    for sentence in range(len(offsets) - 1):
        first, last = offsets[sentence], offsets[sentence + 1]
        if first == last:
            continue
        before[first], after[last - 1] = NONE, NONE
        for word in range(first + 1, last):
            one, other = anchors[word - 1], anchors[word]
            while one != other:
                depth = 0 if one == NONE else depths[one]
                other_depth = 0 if other == NONE else depths[other]
                if depth >= other_depth:
                    one = parents[one]
                if other_depth >= depth:
                    other = parents[other]
            after[word - 1], before[word] = one, one
