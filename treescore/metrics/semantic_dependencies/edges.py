"""What is compared of graphs: edges and tops, paired by the words that they join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.trees import SemanticTreebank

ROOT = -1
"""Predicate of a top: the root, which stands for no word."""
TOP = "(top)"
"""Label of a top."""
ALONE = -1
"""Partner of an edge whose words the other side does not join."""


class Edges(NamedTuple):
    """The edges and tops of a side, those of each word together: a top first, then by predicate.

    Attributes:
        predicates: word of each, ROOT of a top, int64 (e,).
        arguments: word of each, int64 (e,).
        labels: role of each, that of TOP for a top, numbers of strings, int64 (e,).
    """

    predicates: IntArray
    arguments: IntArray
    labels: IntArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """The edges of both sides over the same w words, each joined with the one between the same two words.

    Attributes:
        gold, system: the edges.
        partners: the output's edge for each of gold's, ALONE where it has none, int64 (g,).
        extra: which of the output's edges gold does not have, under any label, bool (s,).
    """

    gold: Edges
    system: Edges
    partners: IntArray
    extra: BoolArray

    @property
    def found(self) -> BoolArray:
        """Which of gold's edges the output has, under any label, bool (g,)."""
        return np.asarray(self.partners != ALONE, np.bool_)

    @property
    def right(self) -> BoolArray:
        """Which of gold's edges the output has with the same label, bool (g,)."""
        found = self.found
        found[found] = self.gold.labels[found] == self.system.labels[self.partners[found]]
        return found


def edges_of(treebank: SemanticTreebank) -> Edges:
    """Return the edges and tops of a treebank."""
    tops = np.flatnonzero(treebank.tops)
    predicates = np.concatenate([np.full(len(tops), ROOT), treebank.edge_predicates])
    arguments = np.concatenate([tops, treebank.edge_arguments])
    labels = np.concatenate([np.full(len(tops), treebank.vocabulary.number(TOP)), treebank.edge_labels])
    order = np.lexsort((predicates, arguments))
    return Edges(predicates[order], arguments[order], labels[order])


def pairs_of(gold: SemanticTreebank, system: SemanticTreebank) -> Pairs:
    """Pair the edges of two treebanks of the same words."""
    sides = edges_of(gold), edges_of(system)
    keys, others = (side.arguments * (len(gold.forms) + 1) + side.predicates - ROOT for side in sides)
    _, golds, systems = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    partners = np.full(len(keys), ALONE)
    partners[golds] = systems
    extra = np.ones(len(others), np.bool_)
    extra[systems] = False
    return Pairs(*sides, partners, extra)
