"""What `parseval` tells beyond its counts: spans and trees of a sentence, labels, lengths, kinds of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scoring.arrays import BoolArray, IntArray, owners_of
from scoring.document import count_values, score_values
from scoring.formats.bracketed import tree_text
from scoring.metrics.parseval_choices import Choices
from scoring.metrics.parseval_kernel import collect
from scoring.metrics.parseval_scores import COUNTS, SHOWN, score_table
from scoring.metrics.parseval_tables import Inputs
from scoring.params import Json
from scoring.registry import OK
from scoring.scores import harmonic
from scoring.trees import NO_TAG, ConstituentTreebank

BIN = 10
"""Sentence lengths are put together in bins of this many words."""

MOST_SHOWN = 100
"""Rows of a table of errors or confusions."""


@dataclass(frozen=True)
class Compared:
    """Two treebanks that were compared, from which details, slices and tables are made when they are asked for."""

    gold: ConstituentTreebank
    system: ConstituentTreebank
    choices: Choices
    inputs: Inputs
    rows: IntArray
    status: Any

    def item(self, index: int) -> dict[str, Json]:
        """Spans and trees of a sentence; the figures EVALB shows of one that it does not count."""
        square = bool((self.gold.tags == NO_TAG).all()) and bool((self.system.tags == NO_TAG).all())
        item: dict[str, Json] = {
            "gold_spans": self._spans(0, index),
            "system_spans": self._spans(1, index),
            "gold_tree": tree_text(self.gold, index, square=square),
            "system_tree": tree_text(self.system, index, square=square),
        }
        shown = self.rows[index, -len(SHOWN) :]
        if shown.any():
            table = score_table(zero=self.choices.zero)
            row = self.rows[index].copy()
            row[: len(SHOWN)] = shown
            item["counts"] = count_values(table.count_names, row)
            item["scores"] = score_values(table, row)[0]
        return item

    def _spans(self, side: int, index: int) -> list[list[Json]]:
        brackets = self._brackets[side]
        first = int(self._offsets[side, index])
        last = first + int(self._sizes[side, index])
        strings, begin = self.gold.vocabulary.strings, self.choices.first_word
        return [[strings[label], start + begin, end + begin] for start, end, label in brackets[first:last, :3].tolist()]

    @cached_property
    def _collected(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Where the brackets of each sentence begin (2, n + 1); gold's, the system's; how many (2, n)."""
        sides = (self.inputs.gold, self.inputs.system)
        offsets = np.stack([side[3] + side[6] for side in sides])
        sizes = np.zeros((2, len(self.gold)), np.int64)
        brackets = tuple(np.empty((int(last), 4), np.int64) for last in offsets[:, -1])
        collect(*self.inputs, offsets, (*brackets, sizes))
        return offsets, brackets[0], brackets[1], sizes

    @property
    def _offsets(self) -> IntArray:
        return self._collected[0]

    @property
    def _brackets(self) -> tuple[IntArray, IntArray]:
        return self._collected[1:3]

    @property
    def _sizes(self) -> IntArray:
        return self._collected[3]

    @cached_property
    def _scored(self) -> tuple[IntArray, IntArray]:
        """The brackets of sentences that count, gold's and the system's: sentence, start, end, label, matched."""
        return self._scored_side(0), self._scored_side(1)

    def _scored_side(self, side: int) -> IntArray:
        offsets, brackets, sizes = self._offsets[side], self._brackets[side], self._sizes[side]
        owners = owners_of(offsets)
        places = np.arange(len(brackets)) - offsets[owners]
        used = (places < sizes[owners]) & (self.status[owners] == OK)
        matched = brackets[used, 3] >= 0 if side == 0 else brackets[used, 3] > 0
        return np.column_stack([owners[used], brackets[used, :3], matched])

    def slices(self) -> dict[str, list[dict[str, Json]]]:
        """Scores by sentence length and by label."""
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
        """Precision, recall and F1 of each label, most gold brackets first."""
        gold, system = self._scored
        size = len(self.gold.vocabulary)
        golds = np.bincount(gold[:, 3], minlength=size)
        systems = np.bincount(system[:, 3], minlength=size)
        matched_gold = np.bincount(gold[gold[:, 4] > 0, 3], minlength=size)
        matched_system = np.bincount(system[system[:, 4] > 0, 3], minlength=size)
        labels = np.flatnonzero(golds + systems)
        order = labels[np.lexsort((labels, -systems[labels], -golds[labels]))]
        return [
            {
                "value": self.gold.vocabulary.strings[label],
                "counts": {"gold": gold_count, "system": system_count, "matched": matched},
                "scores": _label_scores(matched, gold_count, taken, system_count),
            }
            for label, gold_count, system_count, matched, taken in zip(
                order.tolist(),
                golds[order].tolist(),
                systems[order].tolist(),
                matched_gold[order].tolist(),
                matched_system[order].tolist(),
                strict=True,
            )
        ]

    def tables(self) -> dict[str, Json]:
        """Labels over equal spans, and the kinds of errors, most frequent first."""
        gold, system = self._scored
        left_gold, left_system = gold[gold[:, 4] == 0], system[system[:, 4] == 0]
        mislabelled = _aligned(left_gold, left_system, (0, 1, 2))
        confusion = self._confusion(gold, system, left_gold[mislabelled[0]], left_system[mislabelled[1]])
        rest_gold, rest_system = _without(left_gold, mislabelled[0]), _without(left_system, mislabelled[1])
        moved = _aligned(rest_gold, rest_system, (0, 3))
        missing, spurious = _without(rest_gold, moved[0])[:, 3], _without(rest_system, moved[1])[:, 3]
        kinds = (
            ("wrong_label", left_gold[mislabelled[0], 3]),
            ("wrong_span", rest_gold[moved[0], 3]),
            ("missing", missing),
            ("spurious", spurious),
        )
        return {"errors": self._frequent(kinds), "confusion": confusion}

    def _frequent(self, kinds: Sequence[tuple[str, IntArray]]) -> dict[str, Json]:
        strings = self.gold.vocabulary.strings
        found = [
            {"kind": kind, "label": strings[label], "count": count}
            for kind, labels in kinds
            for label, count in zip(*(part.tolist() for part in np.unique(labels, return_counts=True)), strict=True)
        ]
        found.sort(key=lambda error: (-int(error["count"]), str(error["kind"]), str(error["label"])))
        return {"kinds": {kind: len(labels) for kind, labels in kinds}, "frequent": found[:MOST_SHOWN]}

    def _confusion(
        self, gold: IntArray, system: IntArray, wrong_gold: IntArray, wrong_system: IntArray
    ) -> list[dict[str, Json]]:
        """How often gold's label met which label of the output over the same span; matched brackets included."""
        right_gold = gold[gold[:, 4] > 0]
        partners = _aligned(right_gold, system[system[:, 4] > 0], (0, 1, 2))
        right_system = system[system[:, 4] > 0][partners[1]]
        pairs = np.column_stack(
            [
                np.concatenate([right_gold[partners[0], 3], wrong_gold[:, 3]]),
                np.concatenate([right_system[:, 3], wrong_system[:, 3]]),
            ]
        )
        distinct, counts = np.unique(pairs, axis=0, return_counts=True)
        strings = self.gold.vocabulary.strings
        order = np.argsort(-counts, kind="stable")[:MOST_SHOWN]
        return [
            {"gold": strings[distinct[row, 0]], "system": strings[distinct[row, 1]], "count": int(counts[row])}
            for row in order.tolist()
        ]


def _label_scores(matched: int, gold: int, taken: int, system: int) -> dict[str, float | None]:
    """`taken` are the label's system brackets that matched: with equal labels not the same number as `matched`."""
    recall = matched / gold if gold else None
    precision = taken / system if system else None
    f1 = None
    if recall is not None and precision is not None:
        f1 = float(harmonic([np.array(precision), np.array(recall)]))
    return {"f1": f1, "precision": precision, "recall": recall}


def _aligned(gold: IntArray, system: IntArray, columns: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Pairs of rows that agree in `columns`, one to one, in order: row numbers of gold and of the system."""
    keys = np.concatenate([gold, system])[:, list(columns)]
    _, groups = np.unique(keys, axis=0, return_inverse=True)
    groups = groups.reshape(-1)
    tagged_gold, tagged_system = _occurrences(groups[: len(gold)]), _occurrences(groups[len(gold) :])
    _, places_gold, places_system = np.intersect1d(tagged_gold, tagged_system, return_indices=True)
    return places_gold, places_system


def _occurrences(groups: IntArray) -> IntArray:
    """Each value made distinct by how often it stood before: int64 (n,)."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(groups) else np.zeros(0, np.int64)
    rank = np.arange(len(groups)) - np.repeat(begins, np.diff(np.append(begins, len(groups))))
    result = np.empty(len(groups), np.int64)
    result[order] = ordered * (1 << 32) + rank
    return result


def _without(rows: IntArray, taken: IntArray) -> IntArray:
    left: BoolArray = np.ones(len(rows), np.bool_)
    left[taken] = False
    return rows[left]
