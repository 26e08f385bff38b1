"""Report more than counts: spans and trees of a sentence, scores by label and length, kinds of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.columns import Lists, Numbers, Records, Rows
from treescore.core.params import Json
from treescore.core.registry import OK
from treescore.core.scores import harmonic
from treescore.core.treebank_columns import ranges_of, strings_of, trees_of
from treescore.core.trees import NO_TAG, ConstituentTreebank
from treescore.core.values import count_values, score_values
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.parseval.kernel import collect
from treescore.metrics.parseval.scores import COUNTS, score_table
from treescore.metrics.parseval.sides import Collected, Inputs

BIN = 10
"""Sentence lengths are grouped in bins of this many words."""

MOST_SHOWN = 100
"""The most rows of a table of errors or confusions."""


@dataclass(frozen=True)
class ComparedTreebanks:
    """Two treebanks that were compared; details, slices and tables are computed on demand."""

    gold: ConstituentTreebank
    system: ConstituentTreebank
    choices: Choices
    inputs: Inputs
    rows: IntArray
    status: Any

    def items(self, start: int, stop: int) -> Records:
        """Return spans and trees of the sentences from `start` to `stop`."""
        gold_spans, _ = self._spans(0, start, stop)
        system_spans, right = self._spans(1, start, stop)
        return Records(
            {
                "gold_spans": gold_spans,
                "system_spans": system_spans,
                "system_spans_right": Lists(system_spans.offsets, Numbers(right)),
                "gold_tree": trees_of(self.gold, start, stop, square=self._square),
                "system_tree": trees_of(self.system, start, stop, square=self._square),
            }
        )

    @cached_property
    def _square(self) -> bool:
        """Whether no word has a tag."""
        return bool((self.gold.tags == NO_TAG).all()) and bool((self.system.tags == NO_TAG).all())

    def _spans(self, side: int, start: int, stop: int) -> tuple[Lists, BoolArray]:
        """Return the spans of one side as lists of label, start and end, and whether each is matched, bool (k,)."""
        indices, offsets = ranges_of(self._offsets[side, start:stop], self._sizes[side, start:stop])
        brackets, begin = self._brackets[side][indices], self.choices.first_word
        labels = strings_of(brackets[:, 2], self.gold.vocabulary)
        rows = Rows([labels, Numbers(brackets[:, 0] + begin), Numbers(brackets[:, 1] + begin)])
        return Lists(offsets, rows), np.asarray(brackets[:, 3] > 0, np.bool_)

    @cached_property
    def _collected(self) -> Collected:
        sides = (self.inputs.gold, self.inputs.system)
        offsets = np.stack([side.node_offsets + side.word_offsets for side in sides])
        gold, system = (np.empty((int(last), 4), np.int64) for last in offsets[:, -1])
        collected = Collected(gold, system, offsets, np.zeros((2, len(self.gold)), np.int64))
        collect(self.inputs, collected)
        return collected

    @property
    def _offsets(self) -> IntArray:
        return self._collected.offsets

    @property
    def _brackets(self) -> tuple[IntArray, IntArray]:
        return self._collected.gold, self._collected.system

    @property
    def _sizes(self) -> IntArray:
        return self._collected.sizes

    @cached_property
    def _scored(self) -> tuple[IntArray, IntArray]:
        """The brackets of sentences that count, gold's and the system's: rows sentence, start, end, label, matched.

        In gold's rows, matched is the label of the system's bracket, or -1; in the system's, 0 or 1.
        """
        (gold_owners, gold), (system_owners, system) = self._used(0), self._used(1)
        partners = gold[:, 3]
        rows = np.where(partners < 0, 0, partners + self._offsets[1][gold_owners])
        labels = self._brackets[1][rows, 2] if len(self._brackets[1]) else np.zeros(len(rows), np.int64)
        matched = np.where(partners < 0, -1, labels)
        return (np.column_stack([gold_owners, gold[:, :3], matched]), np.column_stack([system_owners, system]))

    def _used(self, side: int) -> tuple[IntArray, IntArray]:
        """Return sentence and row of each bracket of a side in sentences that count."""
        offsets, brackets, sizes = self._offsets[side], self._brackets[side], self._sizes[side]
        owners = owners_of(offsets)
        ranks = np.arange(len(brackets)) - offsets[owners]
        used = (ranks < sizes[owners]) & (self.status[owners] == OK)
        return owners[used], brackets[used]

    def slices(self) -> dict[str, list[dict[str, Json]]]:
        """Return scores by sentence length and by label."""
        return {"length": self._by_length(), "label": self._by_label()}

    def _by_length(self) -> list[dict[str, Json]]:
        table = score_table(zero=self.choices.zero)
        lengths = self.rows[:, table.count_names.index("length")]
        bins = np.maximum(lengths - 1, 0) // BIN
        slices = []
        for number in np.unique(bins).tolist():
            totals = self.rows[bins == number].sum(axis=0)
            low = number * BIN + 1 if number else 0
            scores, counts = score_values(table, totals)[0], count_values(COUNTS, totals[: len(COUNTS)])
            scores.pop("cutoff")
            slices.append({"value": f"{low}-{number * BIN + BIN}", "counts": counts, "scores": scores})
        return slices

    def _by_label(self) -> list[dict[str, Json]]:
        """Return precision, recall and F1 of each label, most gold brackets first."""
        gold, system = self._scored
        size = len(self.gold.vocabulary)
        golds = np.bincount(gold[:, 3], minlength=size)
        systems = np.bincount(system[:, 3], minlength=size)
        matched_gold = np.bincount(gold[gold[:, 4] >= 0, 3], minlength=size)
        matched_system = np.bincount(system[system[:, 4] > 0, 3], minlength=size)
        labels = np.flatnonzero(golds + systems)
        order = labels[np.lexsort((labels, -systems[labels], -golds[labels]))]
        return [
            {
                "value": self.gold.vocabulary.strings[label],
                "counts": {"gold": gold_count, "system": system_count, "matched": matched},
                "scores": _label_scores(matched, gold_count, matched_by_system, system_count),
            }
            for label, gold_count, system_count, matched, matched_by_system in zip(
                order.tolist(),
                golds[order].tolist(),
                systems[order].tolist(),
                matched_gold[order].tolist(),
                matched_system[order].tolist(),
                strict=True,
            )
        ]

    def tables(self) -> dict[str, Json]:
        """Return confusions of labels over equal spans, and the kinds of errors, most frequent first."""
        gold, system = self._scored
        unmatched_gold, unmatched_system = gold[gold[:, 4] < 0], system[system[:, 4] == 0]
        mislabelled = _aligned(unmatched_gold, unmatched_system, (0, 1, 2))
        wrong_labels = unmatched_gold[mislabelled[0], 3], unmatched_system[mislabelled[1], 3]
        rest_gold, rest_system = _without(unmatched_gold, mislabelled[0]), _without(unmatched_system, mislabelled[1])
        wrong_spans = _aligned(rest_gold, rest_system, (0, 3))
        kinds = (
            ("wrong_label", wrong_labels[0]),
            ("wrong_span", rest_gold[wrong_spans[0], 3]),
            ("missing", _without(rest_gold, wrong_spans[0])[:, 3]),
            ("spurious", _without(rest_system, wrong_spans[1])[:, 3]),
        )
        right = gold[gold[:, 4] >= 0]
        label_pairs = np.concatenate([right[:, 3], wrong_labels[0]]), np.concatenate([right[:, 4], wrong_labels[1]])
        return {"errors": self._frequent(kinds), "confusion": self._confusion(*label_pairs)}

    def _frequent(self, kinds: Sequence[tuple[str, IntArray]]) -> dict[str, Json]:
        strings = self.gold.vocabulary.strings
        errors = [
            {"kind": kind, "label": strings[label], "count": count}
            for kind, labels in kinds
            for label, count in zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True)
        ]
        errors.sort(key=lambda error: (-int(error["count"]), str(error["kind"]), str(error["label"])))
        return {"kinds": {kind: len(labels) for kind, labels in kinds}, "frequent": errors[:MOST_SHOWN]}

    def _confusion(self, gold: IntArray, system: IntArray) -> list[dict[str, Json]]:
        """Count the pairs of labels of gold and output over the same span, with matched brackets."""
        strings = self.gold.vocabulary.strings
        pairs, counts = np.unique(gold * len(strings) + system, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST_SHOWN]
        return [
            {"gold": strings[pair // len(strings)], "system": strings[pair % len(strings)], "count": count}
            for pair, count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
        ]


def _label_scores(matched: int, gold: int, matched_system: int, system: int) -> dict[str, float | None]:
    """Compute the scores of a label. With equal labels `matched`, gold's, differs from `matched_system`."""
    recall = matched / gold if gold else None
    precision = matched_system / system if system else None
    f1 = None
    if recall is not None and precision is not None:
        f1 = float(harmonic([np.array(precision), np.array(recall)]))
    return {"f1": f1, "precision": precision, "recall": recall}


def _aligned(gold: IntArray, system: IntArray, columns: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Pair rows that agree in `columns`, one to one, in order: row numbers of gold and of the system."""
    if not len(gold) or not len(system):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys, bound = np.zeros(len(gold) + len(system), np.int64), 1
    for column in columns:
        values = np.concatenate([gold[:, column], system[:, column]])
        size = int(values.max()) + 1
        if bound * size >= 1 << 62:
            keys, bound = np.unique(keys, return_inverse=True)[1], len(keys)
        keys, bound = keys * size + values, bound * size
    # In sorted order gold's rows of a key precede the system's: the first of both are a pair, and so on.
    order = np.argsort(keys, kind="stable")
    new = np.diff(keys[order], prepend=-1) != 0
    begins, groups = np.flatnonzero(new), np.cumsum(new) - 1
    is_gold = order < len(gold)
    golds = np.add.reduceat(is_gold, begins, dtype=np.int64)
    systems = np.diff(np.append(begins, len(order))) - golds
    indices = np.flatnonzero(is_gold)
    ranks = indices - begins[groups[indices]]
    paired = ranks < systems[groups[indices]]
    indices, partners = indices[paired], (indices + golds[groups[indices]])[paired]
    return order[indices], order[partners] - len(gold)


def _without(rows: IntArray, removed: IntArray) -> IntArray:
    mask: BoolArray = np.ones(len(rows), np.bool_)
    mask[removed] = False
    return rows[mask]
