"""Subsets of expressions, each side's by its own annotation, and the counts of each subset."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, sums_by
from treescore.core.columns import Documents
from treescore.core.scores import ScoreTable
from treescore.core.slice_rows import column_of, counts_and_scores, stacked_rows
from treescore.core.trees import NO_CATEGORY
from treescore.metrics.mwe.pairing import Pairs, pairs_of
from treescore.metrics.mwe.sets import Side
from treescore.metrics.mwe.training import Training

UNLABELED = "<unlabeled>"
"""The category of expressions that have none, as the original program prints it."""
CATEGORY, CONTINUITY, TOKENS, SEEN, VARIANT = "category", "continuity", "tokens", "seen", "variant"

HALVES = ("seen", "unseen")
"""The values of SEEN."""
_AS_NONE = "None"
"""Where the original program sorts expressions without a category."""


class Grouping(NamedTuple):
    """A division of expressions.

    Attributes:
        values: names of the groups.
        groups: of gold's expressions and of the output's, int64 (k,) and (l,).
        chosen: which of them are in a group; None for all.
    """

    values: list[str]
    groups: tuple[IntArray, IntArray]
    chosen: tuple[BoolArray | None, BoolArray | None] = (None, None)


def groupings_of(gold: Side, system: Side, training: Training | None) -> dict[str, Grouping]:
    """Return the divisions by name; those by the training text where there is one."""
    sides = gold, system
    found = {
        CATEGORY: _categories(gold, system),
        CONTINUITY: _halves(["continuous", "discontinuous"], *(side.continuous for side in sides)),
        TOKENS: _halves(["multi-token", "single-token"], *(np.asarray(side.sizes > 1, np.bool_) for side in sides)),
    }
    if training is not None:
        seen = training.seen(gold), training.seen(system)
        variants = (~training.identical(side) for side in sides)
        found[SEEN] = _halves([*HALVES], *seen)
        found[VARIANT] = _halves(["variant", "identical"], *variants)._replace(chosen=seen)
    return found


def counts_by_group(pairs: Pairs, owners: tuple[IntArray, IntArray], size: int) -> IntArray:
    """Count right, gold's and the output's expressions, then right, gold's and the output's words.

    Args:
        pairs: of sets.
        owners: the row at which each of gold's and of the output's sets is counted.
        size: number of rows.

    Returns:
        int64 (size, 6).
    """
    golds, systems = owners
    columns = [
        sums_by(golds, size, pairs.equal),
        sums_by(golds, size),
        sums_by(systems, size),
        sums_by(golds, size, pairs.common),
        sums_by(golds, size, pairs.golds.sizes),
        sums_by(systems, size, pairs.systems.sizes),
    ]
    return np.stack(columns, axis=1)


def seen_counts(gold: Side, system: Side, training: Training, sentences: int) -> IntArray:
    """Count right, gold's and the output's expressions of each sentence, first the seen, then the unseen.

    Returns:
        int64 (sentences, 6).
    """
    halves = _halves([*HALVES], training.seen(gold), training.seen(system))
    pairs = pairs_of(gold, system, halves.groups)
    owners = [side.sentences * len(HALVES) + side.groups for side in (pairs.golds, pairs.systems)]
    counts = counts_by_group(pairs, (owners[0], owners[1]), len(HALVES) * sentences)[:, :3]
    return np.ascontiguousarray(counts).reshape(sentences, -1)


def slices_of(gold: Side, system: Side, training: Training | None, table: ScoreTable) -> dict[str, Documents]:
    """Return the rows of all groupings. Raises LimitError as `pairs_of`."""
    groupings = groupings_of(gold, system, training)
    totals = []
    for grouping in groupings.values():
        pairs = pairs_of(gold, system, grouping.groups, grouping.chosen)
        totals.append(counts_by_group(pairs, (pairs.golds.groups, pairs.systems.groups), len(grouping.values)))
    values = {name: column_of(grouping.values) for name, grouping in groupings.items()}
    return stacked_rows(values, *counts_and_scores(table, np.concatenate(totals)))


def _categories(gold: Side, system: Side) -> Grouping:
    vocabulary = gold.treebank.vocabulary
    sides = gold.treebank.categories, system.treebank.categories
    names = {number: vocabulary.strings[number] for number in vocabulary.distinct(np.concatenate(sides)).tolist()}
    order = sorted(names, key=lambda number: _AS_NONE if number == NO_CATEGORY else names[number])
    rank = np.zeros(len(vocabulary), np.int64)
    rank[order] = np.arange(len(order))
    values = [UNLABELED if number == NO_CATEGORY else names[number] for number in order]
    return Grouping(values, (rank[sides[0]], rank[sides[1]]))


def _halves(values: list[str], gold: BoolArray, system: BoolArray) -> Grouping:
    """Divide into those that have a property, bool (k,) and (l,), and the others."""
    return Grouping(values, ((~gold).astype(np.int64), (~system).astype(np.int64)))
