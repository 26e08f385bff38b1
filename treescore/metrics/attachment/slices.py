"""Compute attachment scores by groups of words, on gold's side and on the system's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.params import Json
from treescore.core.trees import DependencyTreebank
from treescore.metrics.shared.groupings import GROUPINGS, Groups, WordAttributes, groups_by
from treescore.metrics.shared.malteval.error_groupings import ERROR_GROUPINGS, clustering, clustering_2, pre_and_post
from treescore.metrics.shared.malteval.right_words import SELF, WordFacts
from treescore.metrics.shared.malteval.slice_choice import SliceChoice

MAX_ROWS = 2000
"""The most rows of one grouping; the rarest beyond them are summed in a last row whose value is null."""

_SCORES = {"las": "both", "uas": "head", "label_accuracy": "label"}


class AttachmentSlices(Mapping[str, Sequence[Mapping[str, Json]]]):
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

    def __getitem__(self, name: str) -> Sequence[Mapping[str, Json]]:
        if name == "Clustering":
            return list(self._clustering())
        groups = self._groups(name)
        return list(self._rows(groups, self._counts(groups)))

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

    def _counts(self, groups: Groups) -> dict[str, IntArray]:
        def count_by(members: IntArray, mask: BoolArray | None = None) -> IntArray:
            return np.bincount(members if mask is None else members[mask], minlength=groups.size).astype(np.int64)

        same = groups.gold == groups.system
        counts = {
            "gold": count_by(groups.gold),
            "system": count_by(groups.system),
            "correct": count_by(groups.gold, same),
            "correct_with_head": count_by(groups.gold, same & self._right["head"]),
        }
        columns = self._columns(groups)
        for side, members in (("gold", groups.gold), ("system", groups.system)):
            for name, bits in columns.items():
                counts[f"{side}_correct_{name}"] = count_by(members, bits)
        return counts

    def _rows(self, groups: Groups, counts: dict[str, IntArray]) -> Iterator[Mapping[str, Json]]:
        by_size = np.argsort(-(counts["gold"] + counts["system"]), kind="stable")
        listed, rest = by_size[:MAX_ROWS], by_size[MAX_ROWS:]
        if groups.ordered:
            listed = np.sort(listed)
        for group in listed.tolist():
            yield self._row(groups.value(group), {name: int(column[group]) for name, column in counts.items()})
        if len(rest):
            yield self._row(None, {name: int(column[rest].sum()) for name, column in counts.items()})

    def _clustering(self) -> Iterator[Mapping[str, Json]]:
        for distance, pairs, right in clustering(self._no_error, self._owners, self._columns()):
            counts = {"gold": pairs, "system": pairs, "correct": pairs, "correct_with_head": right["head"]}
            for side in ("gold", "system"):
                counts |= {f"{side}_correct_{name}": count for name, count in right.items()}
            yield self._row(distance, counts)

    def _row(self, value: Json, counts: Mapping[str, int]) -> Mapping[str, Json]:
        scores: dict[str, Json] = {}
        for prefix, side in (("", "gold"), ("system_", "system")):
            for score, name in self._scores.items():
                scores[prefix + score] = _ratio(counts[f"{side}_correct_{name}"], counts[side])
        for suffix in ("", "_with_head"):
            correct = counts[f"correct{suffix}"]
            scores[f"precision{suffix}"] = _ratio(correct, counts["system"])
            scores[f"recall{suffix}"] = _ratio(correct, counts["gold"])
            scores[f"f1{suffix}"] = _ratio(2 * correct, counts["gold"] + counts["system"])
        return {"value": value, "counts": counts, "scores": scores}


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None
