"""Compute attachment scores by groups of words, on gold's side and on the system's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.columns import Column, Documents, Numbers, Quotients, Records, Shared, nullable
from treescore.core.grouping import ranked
from treescore.core.slice_rows import nested
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.groupings import GROUPINGS, Groups, WordAttributes, groups_by
from treescore.metrics.shared.malteval.error_groupings import ERROR_GROUPINGS, clustering, clustering_2, pre_and_post
from treescore.metrics.shared.malteval.right_words import SELF, WordFacts
from treescore.metrics.shared.malteval.slice_choice import SliceChoice

MAX_ROWS = 2000
"""The most rows of one grouping; the rarest beyond them are summed in a last row whose value is null."""

_SCORES = {"las": "both", "uas": "head", "label_accuracy": "label"}


class AttachmentSlices:
    """The rows of all groupings.

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

    def documents(self) -> dict[str, Documents]:
        """Return the rows by grouping; counts and scores of all stand in the same columns, one grouping after another.

        What has several names is counted once.
        """
        key_of = {name: GROUPINGS.get(name, name) for name in (*GROUPINGS, *ERROR_GROUPINGS, *self._groupings)}
        first_names = {key: name for name, key in reversed(key_of.items())}
        tables = {
            key: self._clustering() if name == "Clustering" else self._rows(self._groups(name))
            for key, name in first_names.items()
        }
        counts, scores = self._counts_and_scores(np.concatenate([counts for _, counts in tables.values()]))
        offsets = offsets_of(np.array([len(counts) for _, counts in tables.values()], np.int64)).tolist()
        rows = {
            key: Documents(
                Records({"value": values, "counts": Shared(*bounds, counts), "scores": Shared(*bounds, scores)})
            )
            for (key, (values, _)), bounds in zip(tables.items(), pairwise(offsets), strict=True)
        }
        return {name: rows[key] for name, key in key_of.items()}

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

    def _rows(self, groups: Groups) -> tuple[Column, IntArray]:
        """Return the values of groups, and what is counted of each: (rows, counts) as `_count_names`."""
        columns = self._columns(groups)
        patterns, bits = _patterns(columns) if SELF in columns else self._patterns
        same = groups.gold == groups.system
        gold = _tally(groups.gold, 2 * patterns + same, groups.size, 2 * len(bits))
        tallies = np.concatenate([gold, _tally(groups.system, patterns, groups.size, len(bits))], axis=1)
        by_size = np.argsort(-tallies.sum(axis=1), kind="stable")
        listed, rest = by_size[:MAX_ROWS], by_size[MAX_ROWS:]
        if groups.ordered:
            listed = np.sort(listed)
        values, rows = groups.values(listed), tallies[listed]
        if len(rest):
            values = nullable(np.arange(len(listed) + 1) < len(listed), values)
            rows = np.concatenate([rows, tallies[rest].sum(axis=0, keepdims=True)])
        return values, rows @ _weights(bits, list(columns).index("head"))

    def _clustering(self) -> tuple[Column, IntArray]:
        """Return the distances from right words, and what is counted of each, as `_rows`."""
        found = list(clustering(self._no_error, self._owners, self._columns()))
        values = Numbers(np.array([distance for distance, _, _ in found], np.int64))
        counts = [[pairs, pairs, pairs, right["head"], *right.values(), *right.values()] for _, pairs, right in found]
        return values, np.array(counts, np.int64).reshape(len(found), 4 + 2 * len(self._columns()))

    def _counts_and_scores(self, rows: IntArray) -> tuple[Records, Records]:
        """Return the columns of counts, and the scores that they make, from the counts of all rows."""
        names = ["gold", "system", "correct", "correct_with_head"]
        names += [f"{side}_correct_{name}" for side in ("gold", "system") for name in self._columns()]
        counts = dict(zip(names, np.ascontiguousarray(rows.T), strict=True))
        scores: dict[str, Column] = {}
        for prefix, side in (("", "gold"), ("system_", "system")):
            for score, name in self._scores.items():
                scores[prefix + score] = Quotients([counts[f"{side}_correct_{name}"]], [counts[side]])
        for suffix in ("", "_with_head"):
            correct = counts[f"correct{suffix}"]
            scores[f"precision{suffix}"] = Quotients([correct], [counts["system"]])
            scores[f"recall{suffix}"] = Quotients([correct], [counts["gold"]])
            scores[f"f1{suffix}"] = Quotients([correct, correct], [counts["gold"], counts["system"]])
        return nested({name: Numbers(column) for name, column in counts.items()}), nested(scores)


def _patterns(columns: Mapping[str, BoolArray]) -> tuple[IntArray, IntArray]:
    """Return which combination of the columns each word has, (w,), and the bits of the p combinations, (p, columns)."""
    codes = np.zeros(len(next(iter(columns.values()))), np.int64)
    for column in columns.values():
        codes = ranked(2 * codes + column)[1]
    firsts = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes] = np.arange(len(codes))
    return codes, np.stack([column[firsts] for column in columns.values()], axis=1).astype(np.int64)


def _weights(bits: IntArray, head: int) -> IntArray:
    """Return what a word of each tally adds to each count of `_counts_and_scores`.

    Args:
        bits: which of c columns are true in each of p patterns, (p, c).
        head: the column of right heads.

    Returns:
        (3 p, 4 + 2 c): first, for each pattern, gold's words whose group on the system's side differs and is the same;
        then the system's words.
    """
    patterns, columns = bits.shape
    weights = np.zeros((3 * patterns, 4 + 2 * columns), np.int64)
    gold, system = weights[: 2 * patterns], weights[2 * patterns :]
    gold[:, 0] = system[:, 1] = 1
    gold[1::2, 2] = 1
    gold[1::2, 3] = bits[:, head]
    gold[:, 4 : 4 + columns] = np.repeat(bits, 2, axis=0)
    system[:, 4 + columns :] = bits
    return weights


def _tally(groups: IntArray, patterns: IntArray, size: int, width: int) -> IntArray:
    """Count the words of each group and pattern: (size, width)."""
    return np.bincount(groups * width + patterns, minlength=size * width).reshape(size, width).astype(np.int64)
