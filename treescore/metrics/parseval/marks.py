"""Which constituents of two treebanks are wrong, for pictures of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.marks import Marks, State
from treescore.core.trees import ConstituentTreebank
from treescore.metrics.parseval.bracket_tables import paired_rows
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.sides import Tables
from treescore.metrics.parseval.tables import inputs_of


class _Nodes(NamedTuple):
    """The m nodes of one side over the words that are compared, and how many of these each sentence has."""

    sentences: IntArray
    starts: IntArray
    ends: IntArray
    labels: IntArray
    counted: BoolArray
    words: IntArray


def span_marks(choices: Choices, gold: ConstituentTreebank, system: ConstituentTreebank, compared: BoolArray) -> Marks:
    """Return the marks of the constituents that a metric with these choices counts.

    Constituents are compared as multisets, after the deletions of the choices. Where the words that are left differ in
    number, nothing is marked.

    Args:
        choices: of the metric.
        gold: the gold treebank.
        system: an output of as many sentences.
        compared: sentences that are compared at all, bool (n,); nothing is marked in others.
    """
    tables = inputs_of(choices, gold, system).tables
    sides = [_marked_nodes(each, tables, labelled=choices.labelled) for each in (gold, system)]
    comparable = compared & (sides[0].words == sides[1].words)
    comparable[[*gold.sentences.unreadable, *system.sentences.unreadable]] = False
    states = [np.zeros(len(side.labels), np.int64) for side in sides]
    left = [np.flatnonzero(side.counted & comparable[side.sentences]) for side in sides]
    for columns, state in ((4, State.RIGHT), (3, State.LABEL)):
        golds, systems = (
            [column[rows] for column in _columns(side)[:columns]] for side, rows in zip(sides, left, strict=True)
        )
        pairs = paired_rows(golds, systems)
        for number, paired in enumerate(pairs):
            states[number][left[number][paired]] = state
            left[number] = np.delete(left[number], paired)
    for number, rows in enumerate(left):
        states[number][rows] = State.SPAN
    return Marks(system=states[1], gold=states[0])


def _columns(nodes: _Nodes) -> list[IntArray]:
    return [nodes.sentences, nodes.starts, nodes.ends, nodes.labels]


def _marked_nodes(treebank: ConstituentTreebank, tables: Tables, *, labelled: bool) -> _Nodes:
    kept = (treebank.tags < 0) | ~tables.deleted[treebank.tags]
    before = np.concatenate([[0], np.cumsum(kept)])
    owners = owners_of(treebank.node_offsets)
    firsts = treebank.word_offsets[owners]
    starts, ends = (before[firsts + bound] - before[firsts] for bound in (treebank.starts, treebank.ends))
    labels = tables.cut[treebank.labels]
    counted = ~tables.dropped[labels] & (ends > starts)
    for first, second in tables.equal_labels.pairs.tolist():
        labels = np.where(labels == second, first, labels)
    bounds = before[treebank.word_offsets]
    return _Nodes(owners, starts, ends, labels if labelled else np.zeros_like(labels), counted, np.diff(bounds))
