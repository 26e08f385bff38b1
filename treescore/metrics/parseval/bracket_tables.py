"""Scores of brackets by label and length of their sentences, confusions of labels, kinds of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, sums_of_rows
from treescore.core.columns import Documents, Numbers, Quotients
from treescore.core.grouping import grouped, ranked
from treescore.core.params import Json
from treescore.core.scores import ScoreTable, harmonic
from treescore.core.slice_rows import column_of, counts_and_scores, real_numbers, rows_of
from treescore.core.treebank_columns import strings_of
from treescore.core.vocabulary import Vocabulary

BIN = 10
"""Sentence lengths are grouped in bins of this many words."""

MOST_SHOWN = 100
"""The most rows of a table of errors or confusions."""


class Columns(NamedTuple):
    """Brackets of the sentences that count; `matched` as in `treescore.metrics.parseval.sides.Collected`.

    `starts` and `ends` say where brackets have the same words; with gaps they are no places in a sentence.
    """

    sentences: IntArray
    starts: IntArray
    ends: IntArray
    labels: IntArray
    matched: IntArray

    def rows(self, chosen: BoolArray) -> Columns:
        """Return some of the brackets."""
        places = np.flatnonzero(chosen)
        return Columns(*(column[places] for column in self))

    def without(self, removed: IntArray) -> Columns:
        """Return all but the brackets of these numbers."""
        chosen: BoolArray = np.ones(len(self.sentences), np.bool_)
        chosen[removed] = False
        return self.rows(chosen)


@dataclass(frozen=True)
class BracketTables:
    """What can be said of the brackets of two treebanks that were compared.

    Attributes:
        vocabulary: what the labels mean.
        table: counts and scores of a sentence.
        counts: the counts that the rows of slices show.
        rows: counts of the sentences, int64 (n, k).
        gold, system: the brackets of both sides.
    """

    vocabulary: Vocabulary
    table: ScoreTable
    counts: Sequence[str]
    rows: IntArray
    gold: Columns
    system: Columns

    def slices(self) -> dict[str, Documents]:
        """Return scores by sentence length and by label."""
        return {"length": self._by_length(), "label": self._by_label()}

    def _by_length(self) -> Documents:
        table = self.table
        lengths = self.rows[:, table.count_names.index("length")]
        numbers, groups = np.unique(np.maximum(lengths - 1, 0) // BIN, return_inverse=True)
        counts, scores = counts_and_scores(table, sums_of_rows(groups, len(numbers), self.rows))
        return rows_of(
            column_of([f"{number * BIN + 1 if number else 0}-{number * BIN + BIN}" for number in numbers.tolist()]),
            {name: counts[name] for name in self.counts},
            {name: column for name, column in scores.items() if not name.startswith("cutoff.")},
        )

    def _by_label(self) -> Documents:
        """Return precision, recall and F1 of each label, most gold brackets first."""
        gold, system = self.gold, self.system
        size = len(self.vocabulary)
        golds = np.bincount(gold.labels, minlength=size)
        systems = np.bincount(system.labels, minlength=size)
        matched_gold = np.bincount(gold.labels[gold.matched >= 0], minlength=size)
        matched_system = np.bincount(system.labels[system.matched > 0], minlength=size)
        labels = np.flatnonzero(golds + systems)
        order = labels[np.lexsort((labels, -systems[labels], -golds[labels]))]
        golds, systems, matched_gold, matched_system = (
            of_labels[order] for of_labels in (golds, systems, matched_gold, matched_system)
        )
        # with equal labels `matched`, gold's, differs from the system's
        recall, precision = Quotients([matched_gold], [golds]), Quotients([matched_system], [systems])
        with np.errstate(invalid="ignore"):
            f1 = harmonic([matched_system / systems, matched_gold / golds])
        return rows_of(
            strings_of(order, self.vocabulary),
            {"gold": Numbers(golds), "system": Numbers(systems), "matched": Numbers(matched_gold)},
            {"f1": real_numbers(f1), "precision": precision, "recall": recall},
        )

    def tables(self) -> dict[str, Json]:
        """Return confusions of labels over equal spans, and the kinds of errors, most frequent first."""
        gold, system = self.gold, self.system
        unmatched_gold, unmatched_system = gold.rows(gold.matched < 0), system.rows(system.matched == 0)
        mislabelled = paired_rows(unmatched_gold[:3], unmatched_system[:3])
        wrong_labels = unmatched_gold.labels[mislabelled[0]], unmatched_system.labels[mislabelled[1]]
        rest_gold, rest_system = unmatched_gold.without(mislabelled[0]), unmatched_system.without(mislabelled[1])
        wrong_spans = paired_rows((rest_gold.sentences, rest_gold.labels), (rest_system.sentences, rest_system.labels))
        kinds = (
            ("wrong_label", wrong_labels[0]),
            ("wrong_span", rest_gold.labels[wrong_spans[0]]),
            ("missing", rest_gold.without(wrong_spans[0]).labels),
            ("spurious", rest_system.without(wrong_spans[1]).labels),
        )
        right = gold.matched >= 0
        label_pairs = (
            np.concatenate([gold.labels[right], wrong_labels[0]]),
            np.concatenate([gold.matched[right], wrong_labels[1]]),
        )
        return {"errors": self._frequent(kinds), "confusion": self._confusion(*label_pairs)}

    def _frequent(self, kinds: Sequence[tuple[str, IntArray]]) -> dict[str, Json]:
        strings = self.vocabulary.strings
        errors = [
            {"kind": kind, "label": strings[label], "count": count}
            for kind, labels in kinds
            for label, count in zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True)
        ]
        errors.sort(key=lambda error: (-int(error["count"]), str(error["kind"]), str(error["label"])))
        return {"kinds": {kind: len(labels) for kind, labels in kinds}, "frequent": errors[:MOST_SHOWN]}

    def _confusion(self, gold: IntArray, system: IntArray) -> list[dict[str, Json]]:
        """Count the pairs of labels of gold and output over the same span, with matched brackets."""
        strings = self.vocabulary.strings
        labels, numbers = ranked(np.concatenate([gold, system]))
        both = numbers[: len(gold)] * len(labels) + numbers[len(gold) :]
        groups, firsts = grouped(both)
        pairs, counts = both[firsts], np.bincount(groups)
        order = np.lexsort((pairs, -counts))[:MOST_SHOWN]
        names = [strings[label] for label in labels.tolist()]
        return [
            {"gold": names[pair // len(names)], "system": names[pair % len(names)], "count": count}
            for pair, count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
        ]


def paired_rows(gold: Sequence[IntArray], system: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Pair rows that agree in all columns, one to one, in order: row numbers of gold and of the system.

    Args:
        gold: columns of gold's rows, int64.
        system: the same columns of the system's.
    """
    golds, systems = len(gold[0]), len(system[0])
    if not golds or not systems:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    keys = np.concatenate(joint_keys(gold, system))
    # In sorted order gold's rows of a key precede the system's: the first of both are a pair, and so on.
    order = np.argsort(keys, kind="stable")
    new = np.diff(keys[order], prepend=-1) != 0
    begins, groups = np.flatnonzero(new), np.cumsum(new) - 1
    is_gold = order < golds
    golds_of = np.add.reduceat(is_gold, begins, dtype=np.int64)
    systems_of = np.diff(np.append(begins, len(order))) - golds_of
    indices = np.flatnonzero(is_gold)
    ranks = indices - begins[groups[indices]]
    paired = ranks < systems_of[groups[indices]]
    indices, partners = indices[paired], (indices + golds_of[groups[indices]])[paired]
    return order[indices], order[partners] - golds


def joint_keys(gold: Sequence[IntArray], system: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Number rows so that those that agree in all columns, whose values are 0 or more, have the same number.

    Args:
        gold: columns of gold's rows, int64.
        system: the same columns of the system's.
    """
    golds = len(gold[0])
    keys, bound = np.zeros(golds + len(system[0]), np.int64), 1
    for columns in zip(gold, system, strict=True):
        values = np.concatenate(columns)
        size = int(values.max(initial=0)) + 1
        if bound * size >= 1 << 62:
            keys, bound = np.unique(keys, return_inverse=True)[1], len(keys)
        keys, bound = keys * size + values, bound * size
    return keys[:golds], keys[golds:]
