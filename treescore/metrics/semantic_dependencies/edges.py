"""The edges of both sides, paired by the words that they join."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.graph_edges import ROOT, Edges, edges_of
from treescore.core.trees import SemanticTreebank

ALONE = -1
"""Partner of an edge whose words the other side does not join."""


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
