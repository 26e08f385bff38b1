"""Compute LAS by groups of words, with different segmentations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from treescore.core.arrays import BoolArray
from treescore.core.columns import Documents, Numbers, Quotients
from treescore.core.grouping import ranked
from treescore.core.slice_rows import rows_of
from treescore.core.trees import DependencyTreebank
from treescore.metrics.attachment.slices import MAX_ROWS
from treescore.metrics.shared.groupings import GROUPINGS, WordAttributes

NAMES = ("upos", "xpos", "deprel", "direction", "distance", "sentence_length", "depth", "word")


class UdSlices(Mapping[str, Documents]):
    """A mapping from a grouping's name to its rows, computed on access.

    Gold's words are grouped by gold's keys (`gold`, and of them `gold_correct`, right under LAS), the system's by its
    own (`system`, `system_correct`): recall is computed from the former, precision from the latter.
    """

    def __init__(
        self, gold: DependencyTreebank, system: DependencyTreebank, gold_right: BoolArray, system_right: BoolArray
    ) -> None:
        self._sides = WordAttributes(gold), WordAttributes(system)
        self._right = gold_right, system_right

    def __getitem__(self, name: str) -> Documents:
        if name not in NAMES:
            raise KeyError(name)
        grouping = GROUPINGS[name]
        keys = [grouping.keys(side) for side in self._sides]
        distinct, groups = ranked(np.concatenate(keys))
        both = groups[: len(keys[0])], groups[len(keys[0]) :]
        wrong_and_right = np.stack(
            [
                np.bincount(2 * side + bits, minlength=2 * len(distinct)).reshape(-1, 2)
                for side, bits in zip(both, self._right, strict=True)
            ]
        )
        order = np.argsort(-wrong_and_right.sum(axis=(0, 2)), kind="stable")[:MAX_ROWS]
        order = np.sort(order) if grouping.ordered else order
        gold, system = wrong_and_right[:, order].sum(axis=2)
        gold_correct, system_correct = wrong_and_right[:, order, 1]
        treebank = self._sides[0].treebank
        return rows_of(
            grouping.values(distinct[order], treebank),
            {
                "gold": Numbers(gold),
                "system": Numbers(system),
                "gold_correct": Numbers(gold_correct),
                "system_correct": Numbers(system_correct),
            },
            {
                "las_recall": Quotients([gold_correct], [gold]),
                "las_precision": Quotients([system_correct], [system]),
            },
        )

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)
