"""Scores of semantic dependencies by groups of edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from treescore.core.arrays import IntArray, sums_by
from treescore.core.columns import Documents
from treescore.core.graph_edges import ROOT, TOP, Edges
from treescore.core.grouping import largest_first
from treescore.core.scores import ScoreTable, f1_score, ratio_score
from treescore.core.slice_rows import column_of, counts_and_scores, stacked_rows
from treescore.core.trees import SemanticTreebank
from treescore.metrics.semantic_dependencies.edges import Pairs

LABEL, DIRECTION, DISTANCE, POS = "label", "direction", "distance", "argument_pos"
MAX_ROWS = 2_000
"""The most rows of one grouping; the rarest beyond them are summed in a last row whose value is null."""
_DIRECTIONS = ("left", "right", "self", TOP)
_DISTANCES = ("0", "1", "2", "3-6", "7-...", TOP)
_SLICES_TABLE = ScoreTable(
    ("correct", "gold", "system"),
    (
        f1_score("f1", "Labelled F1 of these edges.", "correct", "gold", "system", "no side has such edges"),
        ratio_score("precision", "Their precision.", "correct", "system", undefined="the output has none"),
        ratio_score("recall", "Their recall.", "correct", "gold", undefined="gold has none"),
    ),
)


def slices_of(gold: SemanticTreebank, pairs: Pairs) -> dict[str, Documents]:
    """Return the rows by label, direction and distance of the argument from its predicate, and its part of speech.

    The part of speech is gold's. Tops are a value of their own, but in `argument_pos`.
    """
    values, tables = {}, []
    for name, (golds, systems, names) in _groupings(gold, pairs):
        size = int(max(golds.max(initial=-1), systems.max(initial=-1))) + 1
        counts = np.stack([sums_by(golds[pairs.right], size), sums_by(golds, size), sums_by(systems, size)], axis=1)
        order = largest_first(counts[:, 1] + counts[:, 2])
        shown, rest = order[:MAX_ROWS], order[MAX_ROWS:]
        found: list[str | None] = [names(group) for group in shown.tolist()]
        rows = counts[shown]
        if len(rest):
            found.append(None)
            rows = np.concatenate([rows, counts[rest].sum(axis=0, keepdims=True)])
        values[name] = column_of(found)
        tables.append(rows)
    return stacked_rows(values, *counts_and_scores(_SLICES_TABLE, np.concatenate(tables)))


def _groupings(
    gold: SemanticTreebank, pairs: Pairs
) -> Iterator[tuple[str, tuple[IntArray, IntArray, Callable[[int], str]]]]:
    """Yield name, group of each edge of gold and of the output, and the names of groups."""
    sides = pairs.gold, pairs.system
    strings = gold.vocabulary.strings
    yield LABEL, (*(side.labels for side in sides), strings.__getitem__)  # type: ignore[misc]
    yield DIRECTION, (*map(_direction, sides), _DIRECTIONS.__getitem__)  # type: ignore[misc]
    yield DISTANCE, (*map(_distance, sides), _DISTANCES.__getitem__)  # type: ignore[misc]
    yield POS, (*(gold.tags[side.arguments] for side in sides), strings.__getitem__)  # type: ignore[misc]


def _direction(edges: Edges) -> IntArray:
    """Return on which side of its predicate each argument stands, by its place in _DIRECTIONS."""
    side = np.sign(edges.arguments - edges.predicates)
    return np.where(edges.predicates == ROOT, 3, np.array([2, 1, 0])[side])


def _distance(edges: Edges) -> IntArray:
    """Return how many words lie between each argument and its predicate, and 1 more, by its place in _DISTANCES."""
    words = np.abs(edges.arguments - edges.predicates)
    places = np.searchsorted([1, 2, 3, 7], words, "right")
    return np.where(edges.predicates == ROOT, 5, places)
