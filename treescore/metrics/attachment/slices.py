"""Compute attachment scores by groups of words, on gold's side and on the system's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.columns import Column, Documents, Numbers, Quotients, nullable
from treescore.core.grouping import ranked
from treescore.core.slice_rows import rows_of
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.groupings import GROUPINGS, Grouping, Groups, WordAttributes, groups_by
from treescore.metrics.shared.malteval.error_groupings import ERROR_GROUPINGS, clustering, clustering_2, pre_and_post
from treescore.metrics.shared.malteval.right_words import SELF, WordFacts
from treescore.metrics.shared.malteval.slice_choice import SliceChoice

MAX_ROWS = 2000
"""The most rows of one grouping; the rarest beyond them are summed in a last row whose value is null."""

_SCORES = {"las": "both", "uas": "head", "label_accuracy": "label"}


class AttachmentSlices(Mapping[str, Documents]):
    """A mapping from a grouping's name to its rows, computed on access.

    Each row counts the scoring words whose key on gold's side (`gold`), on the system's (`system`) and on both
    (`correct`; with the right head too: `correct_with_head`) is its value; and of the first two, those whose head,
    relation, or both are right. So `recall` = correct / gold and `precision` = correct / system are eval07.pl's for
    relations, directions and distances, and `las`, `uas`, `label_accuracy` (of gold's words) and `system_las`, ...
    (of the system's) are MaltEval's treebank and parser accuracies; scores by its other metrics have their names.

    Rows of `Clustering` count a word once for each right word nearby.
    """

    def __init__(
        self,
        gold: DependencyTreebank,
        system: DependencyTreebank,
        scoring: BoolArray,
        right: Mapping[str, BoolArray],
        present: BoolArray,
        choice: SliceChoice,
    ) -> None:
        """Take treebanks of the same w words, and bool (w,): which score, which are right, which the system has."""
        self._sides = WordAttributes(gold), WordAttributes(system)
        self._scoring = scoring
        self._groupings = choice.groupings
        self._metrics = choice.metrics
        self._facts = WordFacts(right["uas"], right["label_accuracy"], present, self._sides)
        self._right = {name: right[score][scoring] for score, name in (("uas", "head"), ("label_accuracy", "label"))}
        self._right["both"] = right["las"][scoring]
        self._right |= {name: self._facts.by(name)[scoring] for name in choice.metrics if name != SELF}
        self._scores = _SCORES | {name: name for name in choice.metrics}
        self._made: dict[Grouping, Documents] = {}

    def __getitem__(self, name: str) -> Documents:
        if name == "Clustering":
            return self._clustering()
        grouping = GROUPINGS.get(name)
        if grouping is not None and grouping in self._made:  # under another name
            return self._made[grouping]
        groups = self._groups(name)
        rows = self._rows(groups, self._counts(groups))
        if grouping is not None:
            self._made[grouping] = rows
        return rows

    def __iter__(self) -> Iterator[str]:
        return iter((*GROUPINGS, *ERROR_GROUPINGS, *self._groupings))

    def __len__(self) -> int:
        return len(GROUPINGS) + len(ERROR_GROUPINGS) + len(self._groupings)

    def _groups(self, name: str) -> Groups:
        if name == "PreAndPost":
            return pre_and_post(self._no_error, self._owners)
        if name == "Clustering2":
            return clustering_2(self._no_error, self._owners)
        if name in self._groupings:
            return self._groupings[name].groups(self._sides, self._scoring)
        return groups_by(name, self._sides, self._scoring)

    @property
    def _no_error(self) -> BoolArray:
        """Return the scoring words that the groupings by errors take as right."""
        return self._right[self._metrics[0] if self._metrics and self._metrics[0] != SELF else "both"]

    @property
    def _owners(self) -> IntArray:
        return self._sides[0].owners[self._scoring]

    def _columns(self, groups: Groups | None = None) -> dict[str, BoolArray]:
        """Return the scoring words that are right, by the name of their count."""
        if SELF not in self._metrics:
            return self._right
        self_right = groups.gold == groups.system if groups is not None and groups.own_metric else self._right["both"]
        return {**self._right, SELF: self_right}

    @cached_property
    def _patterns(self) -> tuple[IntArray, IntArray]:
        return _patterns(self._right)

    def _counts(self, groups: Groups) -> dict[str, IntArray]:
        columns = self._columns(groups)
        patterns, bits = _patterns(columns) if SELF in columns else self._patterns
        same = groups.gold == groups.system
        gold = _tally(groups.gold, 2 * patterns + same, groups.size, 2 * len(bits)).reshape(groups.size, len(bits), 2)
        correct = gold[:, :, 1]
        of_sides = {"gold": gold.sum(axis=2), "system": _tally(groups.system, patterns, groups.size, len(bits))}
        counts = {side: by_pattern.sum(axis=1) for side, by_pattern in of_sides.items()}
        counts["correct"] = correct.sum(axis=1)
        counts["correct_with_head"] = correct @ bits[:, list(columns).index("head")]
        for side, by_pattern in of_sides.items():
            counts |= {f"{side}_correct_{name}": by_pattern @ bits[:, at] for at, name in enumerate(columns)}
        return counts

    def _rows(self, groups: Groups, counts: dict[str, IntArray]) -> Documents:
        by_size = np.argsort(-(counts["gold"] + counts["system"]), kind="stable")
        listed, rest = by_size[:MAX_ROWS], by_size[MAX_ROWS:]
        if groups.ordered:
            listed = np.sort(listed)
        values = groups.values(listed)
        columns = {name: column[listed] for name, column in counts.items()}
        if len(rest):
            values = nullable(np.arange(len(listed) + 1) < len(listed), values)
            columns = {name: np.append(column, counts[name][rest].sum()) for name, column in columns.items()}
        return self._table(values, columns)

    def _clustering(self) -> Documents:
        found = list(clustering(self._no_error, self._owners, self._columns()))
        pairs = np.array([pairs for _, pairs, _ in found], np.int64)
        counts = {"gold": pairs, "system": pairs, "correct": pairs}
        right = {name: np.array([right[name] for _, _, right in found], np.int64) for name in self._columns()}
        counts["correct_with_head"] = right["head"]
        for side in ("gold", "system"):
            counts |= {f"{side}_correct_{name}": column for name, column in right.items()}
        return self._table(Numbers(np.array([distance for distance, _, _ in found], np.int64)), counts)

    def _table(self, values: Column, counts: Mapping[str, IntArray]) -> Documents:
        """Make a row for each value from the columns of counts, each (values,)."""
        scores: dict[str, Column] = {}
        for prefix, side in (("", "gold"), ("system_", "system")):
            for score, name in self._scores.items():
                scores[prefix + score] = Quotients([counts[f"{side}_correct_{name}"]], [counts[side]])
        for suffix in ("", "_with_head"):
            correct = counts[f"correct{suffix}"]
            scores[f"precision{suffix}"] = Quotients([correct], [counts["system"]])
            scores[f"recall{suffix}"] = Quotients([correct], [counts["gold"]])
            scores[f"f1{suffix}"] = Quotients([correct, correct], [counts["gold"], counts["system"]])
        return rows_of(values, {name: Numbers(column) for name, column in counts.items()}, scores)


def _patterns(columns: Mapping[str, BoolArray]) -> tuple[IntArray, IntArray]:
    """Return which combination of the columns each word has, (w,), and the bits of the p combinations, (p, columns)."""
    codes = np.zeros(len(next(iter(columns.values()))), np.int64)
    for column in columns.values():
        codes = ranked(2 * codes + column)[1]
    firsts = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes] = np.arange(len(codes))
    return codes, np.stack([column[firsts] for column in columns.values()], axis=1).astype(np.int64)


def _tally(groups: IntArray, patterns: IntArray, size: int, width: int) -> IntArray:
    """Count the words of each group and pattern: (size, width)."""
    return np.bincount(groups * width + patterns, minlength=size * width).reshape(size, width).astype(np.int64)
