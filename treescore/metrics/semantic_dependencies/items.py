"""The edges of sentences that are not the same on both sides, as members of items."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.columns import Column, Numbers, Records, listed, nullable
from treescore.core.graph_edges import ROOT, Edges
from treescore.core.treebank_columns import places_of, strings_of
from treescore.core.trees import SemanticTreebank
from treescore.metrics.semantic_dependencies.edges import ALONE, Pairs


class _Rows(NamedTuple):
    """What differs, in the order of the text: the words that are joined, gold's edge and the output's, or ALONE."""

    arguments: IntArray
    predicates: IntArray
    golds: IntArray
    systems: IntArray


class ItemRows:
    """Makes the member `edges` of the items of a range of sentences.

    Each edge has `argument`, `argument_form`, `predicate` (0 for a top), `predicate_form` (null for a top),
    `gold_label` and `system_label`: null where a side does not join the two words.
    """

    def __init__(self, gold: SemanticTreebank, pairs: Pairs) -> None:
        self._gold = gold
        self._pairs = pairs

    @cached_property
    def _rows(self) -> _Rows:
        gold, system, partners, extra = self._pairs.gold, self._pairs.system, self._pairs.partners, self._pairs.extra
        wrong, others = np.flatnonzero(~self._pairs.right), np.flatnonzero(extra)
        rows = _Rows(
            np.concatenate([gold.arguments[wrong], system.arguments[others]]),
            np.concatenate([gold.predicates[wrong], system.predicates[others]]),
            np.concatenate([wrong, np.full(len(others), ALONE)]),
            np.concatenate([partners[wrong], others]),
        )
        order = np.lexsort((rows.predicates, rows.arguments))
        return _Rows(*(column[order] for column in rows))

    def __call__(self, start: int, stop: int) -> Records:
        """Return the member of the items of sentences `start` to `stop`."""
        bounds = self._gold.word_offsets[start : stop + 1]
        first, last = np.searchsorted(self._rows.arguments, bounds[[0, -1]]).tolist()
        rows = _Rows(*(column[first:last] for column in self._rows))
        strings = self._gold.vocabulary
        known = rows.predicates != ROOT
        heads = rows.predicates[known]
        positions = np.zeros(len(rows.predicates), np.int64)
        positions[known] = places_of(heads, self._gold)[1].values
        members: dict[str, Column] = {
            "argument": places_of(rows.arguments, self._gold)[1],
            "argument_form": strings_of(self._gold.forms[rows.arguments], strings),
            "predicate": Numbers(positions),
            "predicate_form": nullable(known, strings_of(self._gold.forms[heads], strings)),
            "gold_label": self._labels(self._pairs.gold, rows.golds),
            "system_label": self._labels(self._pairs.system, rows.systems),
        }
        return Records({"edges": listed(rows.arguments, bounds, Records(members))})

    def _labels(self, side: Edges, chosen: IntArray) -> Column:
        known = np.asarray(chosen != ALONE, np.bool_)
        return nullable(known, strings_of(side.labels[chosen[known]], self._gold.vocabulary))
