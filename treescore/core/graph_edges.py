"""The edges and tops of semantic dependency graphs, in the order in which they are compared, stored and drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.trees import SemanticTreebank

ROOT = -1
"""Predicate of a top: the root, which stands for no word."""
TOP = "(top)"
"""Label of a top."""


class Edges(NamedTuple):
    """The edges and tops of a side, those of each word together: a top first, then by predicate.

    Attributes:
        predicates: word of each, counted over the whole file, ROOT of a top, int64 (e,).
        arguments: word of each, counted over the whole file, int64 (e,).
        labels: role of each, that of TOP for a top, numbers of strings, int64 (e,).
    """

    predicates: IntArray
    arguments: IntArray
    labels: IntArray


def edges_of(treebank: SemanticTreebank, words: tuple[int, int] | None = None) -> Edges:
    """Return the edges and tops of a treebank, or of the words from the first to before the second of two."""
    first, last = words or (0, len(treebank.tops))
    chosen = slice(*np.searchsorted(treebank.edge_arguments, [first, last]).tolist())
    tops = np.flatnonzero(treebank.tops[first:last]) + first
    predicates = np.concatenate([np.full(len(tops), ROOT), treebank.edge_predicates[chosen]])
    arguments = np.concatenate([tops, treebank.edge_arguments[chosen]])
    labels = np.concatenate([np.full(len(tops), treebank.vocabulary.number(TOP)), treebank.edge_labels[chosen]])
    order = np.lexsort((predicates, arguments))
    return Edges(predicates[order], arguments[order], labels[order])


def edge_offsets(treebank: SemanticTreebank) -> IntArray:
    """Return where the edges and tops of each sentence begin, int64 (n + 1,)."""
    counts = treebank.tops + np.bincount(treebank.edge_arguments, minlength=len(treebank.tops))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    offsets: IntArray = before[treebank.word_offsets]
    return offsets


def places_in_sentences(edges: Edges, word_offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions of predicates, 0 of the root, and of arguments, from 1: int64 (e,) each."""
    firsts = word_offsets[np.searchsorted(word_offsets, edges.arguments, "right") - 1]
    predicates = np.where(edges.predicates == ROOT, 0, edges.predicates - firsts + 1)
    return predicates, edges.arguments - firsts + 1
