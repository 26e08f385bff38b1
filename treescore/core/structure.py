"""Compute links from columns: the parent of each node and the lowest node over each word."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.heads import resolved_heads
from treescore.core.jit import compiled

if TYPE_CHECKING:
    from treescore.core.trees import ConstituentTreebank, DependencyTreebank

NONE = -1
"""Number of a parent or node that does not exist."""


class Structure(NamedTuple):
    """The links of a constituent treebank of m nodes and w words.

    Attributes:
        parents: node above each node, counted over the whole file, NONE at the top, int64 (m,).
        depths: nodes from each node to the top, both included, int64 (m,).
        anchors: lowest node over each word, NONE for a word below no node, int64 (w,).
    """

    parents: IntArray
    depths: IntArray
    anchors: IntArray


def structure_of(treebank: ConstituentTreebank) -> Structure:
    """Compute the links of a treebank. A node without words is below the lowest node that touches its position."""
    nodes, words = len(treebank.labels), len(treebank.words)
    structure = Structure(np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(words, np.int64))
    link_nodes(treebank.starts, treebank.ends, treebank.node_offsets, treebank.word_offsets, structure)
    return structure


@compiled
def link_nodes(
    starts: IntArray, ends: IntArray, node_offsets: IntArray, word_offsets: IntArray, structure: Structure
) -> None:
    """Fill `structure` in one pass over nodes and words in pre-order."""
    parents, depths, anchors = structure
    for sentence in range(len(node_offsets) - 1):
        first, words = word_offsets[sentence], word_offsets[sentence + 1] - word_offsets[sentence]
        top, word = NONE, 0
        for node in range(node_offsets[sentence], node_offsets[sentence + 1]):
            while word < starts[node]:
                while top != NONE and ends[top] <= word:
                    top = parents[top]
                anchors[first + word] = top
                word += 1
            reach = starts[node] + 1 if ends[node] > starts[node] else starts[node]
            while top != NONE and ends[top] < reach:
                top = parents[top]
            parents[node] = top
            depths[node] = 1 if top == NONE else depths[top] + 1
            top = node
        while word < words:
            while top != NONE and ends[top] <= word:
                top = parents[top]
            anchors[first + word] = top
            word += 1


def head_links(treebank: DependencyTreebank) -> IntArray:
    """Return the head of each word as its number in the file, NONE for the root and unknown words: int64 (w,)."""
    lengths = np.diff(treebank.word_offsets)
    firsts = np.repeat(treebank.word_offsets[:-1], lengths)
    heads = resolved_heads(treebank)
    inside = (heads >= 1) & (heads <= np.repeat(lengths, lengths))
    return np.where(inside, heads - 1 + firsts, NONE)


def chain_lengths(parents: IntArray) -> IntArray:
    """Count the words from each word to its root, both included; a cycle counts once: int64 (w,)."""
    lengths = np.zeros(len(parents), np.int64)
    walk_chains(parents, lengths, np.empty(len(parents), np.int64))
    return lengths


@compiled
def walk_chains(parents: IntArray, lengths: IntArray, path: IntArray) -> None:
    """Fill `lengths` (zeros before) in linear time: each word is entered once. `path` is scratch memory."""
    for start in range(len(parents)):
        size, word = 0, start
        while word != NONE and lengths[word] == 0:
            # A negative length is the position of a word in the walk in progress.
            path[size] = word
            size += 1
            lengths[word] = -size
            word = parents[word]
        if word != NONE and lengths[word] < 0:
            position = -lengths[word] - 1
            for step in range(position, size):
                lengths[path[step]] = size - position
            size = position
        length = lengths[word] if word != NONE else 0
        for step in range(size - 1, -1, -1):
            length += 1
            lengths[path[step]] = length
