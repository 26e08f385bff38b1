"""What a sentence counts whose output has no words, where it counts as missed."""

from __future__ import annotations

from collections import Counter

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of, sums_by
from treescore.core.registry import SKIP, StatusArray
from treescore.core.trees import ConstituentTreebank
from treescore.metrics.parseval import kernel
from treescore.metrics.parseval.choices import AS_SPMRL, SKIPPED, Choices
from treescore.metrics.parseval.sides import Inputs, Tables
from treescore.metrics.parseval.tables import deleted_labels


def count_unparsed(
    choices: Choices, gold: ConstituentTreebank, inputs: Inputs, figures: IntArray, status: StatusArray, facts: IntArray
) -> BoolArray:
    """Put what gold has into the figures of skipped sentences: every bracket is missed, and every tag.

    Args:
        choices: of the metric.
        gold: the gold treebank of n sentences.
        inputs: of the comparison.
        figures: changed, int64 (n, 7).
        status: SKIP where the output has no words, uint8 (n,).
        facts: of the comparison, int64 (n, 8).

    Returns:
        The sentences that count in this way, bool (n,).
    """
    missed = np.asarray(status == SKIP, np.bool_)
    if choices.unparsed == SKIPPED or choices.zero or not missed.any():
        return np.zeros(len(status), np.bool_)
    brackets = facts[:, kernel.GOLD_BRACKETS]
    if choices.unparsed == AS_SPMRL:
        brackets = _weighted(choices, gold, inputs)
    figures[missed] = 0
    figures[missed, kernel.GOLD] = brackets[missed]
    figures[missed, kernel.WORDS] = facts[missed, kernel.GOLD_WORDS]
    return missed


def _weighted(choices: Choices, gold: ConstituentTreebank, inputs: Inputs) -> IntArray:
    """Return the brackets of each sentence of gold as EVALB_SPMRL -X counts them, int64 (n,).

    Every bracket over words counts, deleted or not: once, and once more for each DELETE_LABEL that its label is not.
    """
    weights = _weights(choices, gold, inputs.tables)
    owners = owners_of(gold.node_offsets)
    kept = (gold.tags < 0) | ~inputs.tables.deleted[gold.tags]
    before = np.append(0, np.cumsum(kept))
    firsts = gold.word_offsets[owners]
    # A bracket that was left open ends before it begins: it is not empty either.
    left_open = inputs.gold.ends < 0
    filled = left_open | (before[firsts + gold.ends] > before[firsts + gold.starts])
    return sums_by(owners, len(gold), weights[gold.labels] * filled)


def _weights(choices: Choices, gold: ConstituentTreebank, tables: Tables) -> IntArray:
    """Return what a bracket of each label counts, int64 over the vocabulary; labels that gold lacks: 0."""
    strings = gold.vocabulary.strings
    listed = Counter(deleted_labels(choices))
    equal: dict[str, set[str]] = {}
    for first, second in choices.equal_labels:
        equal.setdefault(first, {first}).add(second)
        equal.setdefault(second, {second}).add(first)
    weights = np.zeros(len(tables.cut), np.int64)
    for label in np.unique(gold.labels).tolist():
        cut = strings[tables.cut[label]]
        weights[label] = 1 + len(choices.delete_labels) - sum(listed[name] for name in equal.get(cut, {cut}))
    return weights
