"""Attachment scores by groups of words, counted on gold's side and on the system's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from scoring.arrays import BoolArray, IntArray
from scoring.metrics.groupings import GROUPINGS, Grouped, Grouping
from scoring.params import Json
from scoring.trees import DependencyTreebank

MAX_ROWS = 2000
"""Rows of one grouping; the rarest beyond them are summed in a last row whose value is null."""

_RIGHT = ("head", "label", "both")


class AttachmentSlices(Mapping[str, Sequence[Mapping[str, Json]]]):
    """Grouping name -> its rows, made when they are looked up.

    Each row counts the scoring words whose key on gold's side (`gold`), on the system's (`system`) and on both
    (`correct`; with the right head too: `correct_with_head`) is its value; and of the first two, those whose head,
    relation, or both are right. So `recall` = correct / gold and `precision` = correct / system are eval07.pl's for
    relations, directions and distances, and `las`, `uas`, `label_accuracy` (of gold's words) and `system_las`, ...
    (of the system's) are MaltEval's treebank and parser accuracies.
    """

    def __init__(
        self,
        gold: DependencyTreebank,
        system: DependencyTreebank,
        scoring: BoolArray,
        right: Mapping[str, BoolArray],
    ) -> None:
        self._sides = Grouped(gold), Grouped(system)
        self._scoring = scoring
        self._right = [right[name] for name in ("uas", "label_accuracy", "las")]

    def __getitem__(self, name: str) -> Sequence[Mapping[str, Json]]:
        grouping = GROUPINGS[name]
        keys = tuple(grouping.keys(side)[self._scoring] for side in self._sides)
        distinct, places = np.unique(np.concatenate(keys), return_inverse=True)
        gold_places, system_places = np.split(places, 2)
        counts = self._counts(len(distinct), gold_places, system_places)
        return list(self._documents(grouping, distinct, counts))

    def __iter__(self) -> Iterator[str]:
        return iter(GROUPINGS)

    def __len__(self) -> int:
        return len(GROUPINGS)

    def _counts(self, groups: int, gold: IntArray, system: IntArray) -> dict[str, IntArray]:
        def counted(places: IntArray, chosen: BoolArray | None = None) -> IntArray:
            return np.bincount(places if chosen is None else places[chosen], minlength=groups).astype(np.int64)

        right = [bits[self._scoring] for bits in self._right]
        same = gold == system
        counts = {
            "gold": counted(gold),
            "system": counted(system),
            "correct": counted(gold, same),
            "correct_with_head": counted(gold, same & right[0]),
        }
        for side, places in (("gold", gold), ("system", system)):
            for name, bits in zip(_RIGHT, right, strict=True):
                counts[f"{side}_correct_{name}"] = counted(places, bits)
        return counts

    def _documents(
        self, grouping: Grouping, distinct: IntArray, counts: dict[str, IntArray]
    ) -> Iterator[Mapping[str, Json]]:
        treebank = self._sides[0].treebank
        by_size = np.argsort(-(counts["gold"] + counts["system"]), kind="stable")
        shown, rest = by_size[:MAX_ROWS], by_size[MAX_ROWS:]
        if grouping.ordered:
            shown = np.sort(shown)
        for place in shown.tolist():
            own = {name: int(column[place]) for name, column in counts.items()}
            yield {"value": grouping.value(int(distinct[place]), treebank), "counts": own, "scores": _scores(own)}
        if len(rest):
            own = {name: int(column[rest].sum()) for name, column in counts.items()}
            yield {"value": None, "counts": own, "scores": _scores(own)}


def _scores(counts: Mapping[str, int]) -> dict[str, Json]:
    gold, system = counts["gold"], counts["system"]
    scores: dict[str, Json] = {}
    for prefix, side, total in (("", "gold", gold), ("system_", "system", system)):
        scores[f"{prefix}las"] = _ratio(counts[f"{side}_correct_both"], total)
        scores[f"{prefix}uas"] = _ratio(counts[f"{side}_correct_head"], total)
        scores[f"{prefix}label_accuracy"] = _ratio(counts[f"{side}_correct_label"], total)
    for suffix in ("", "_with_head"):
        correct = counts[f"correct{suffix}"]
        scores[f"precision{suffix}"] = _ratio(correct, system)
        scores[f"recall{suffix}"] = _ratio(correct, gold)
        scores[f"f1{suffix}"] = _ratio(2 * correct, gold + system)
    return scores


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None
