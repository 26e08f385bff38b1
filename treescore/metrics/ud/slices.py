"""Compute LAS by groups of words, with different segmentations."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.columns import Column, Documents, Numbers, Quotients
from treescore.core.grouping import largest_first, placed, tallied
from treescore.core.slice_rows import stacked_rows
from treescore.metrics.attachment.slices import MAX_ROWS
from treescore.metrics.shared.groupings import GROUPINGS, WordAttributes

NAMES = ("upos", "xpos", "deprel", "udeprel", "direction", "distance", "sentence_length", "depth", "word")


def ud_slices(
    gold: WordAttributes, system: WordAttributes, gold_right: BoolArray, system_right: BoolArray
) -> dict[str, Documents]:
    """Return the rows of each grouping.

    Gold's words are grouped by gold's keys (`gold`, and of them `gold_correct`, right under LAS), the system's by its
    own (`system`, `system_correct`): recall is computed from the former, precision from the latter.

    Args:
        gold: of w words.
        system: of v words.
        gold_right: which words are right under LAS, bool (w,).
        system_right: the same of the system's words, bool (v,).
    """
    kinds = np.concatenate([gold_right, 2 + system_right.astype(np.int64)])
    tables = {name: _grouping_rows(name, gold, system, kinds) for name in NAMES}
    gold_wrong, gold_correct, system_wrong, system_correct = np.concatenate(
        [rows for _, rows in tables.values()], axis=1
    )
    of_gold, of_system = gold_wrong + gold_correct, system_wrong + system_correct
    return stacked_rows(
        {name: values for name, (values, _) in tables.items()},
        {
            "gold": Numbers(of_gold),
            "system": Numbers(of_system),
            "gold_correct": Numbers(gold_correct),
            "system_correct": Numbers(system_correct),
        },
        {
            "las_recall": Quotients([gold_correct], [of_gold]),
            "las_precision": Quotients([system_correct], [of_system]),
        },
    )


def _grouping_rows(name: str, gold: WordAttributes, system: WordAttributes, kinds: IntArray) -> tuple[Column, IntArray]:
    """Return the values of the rows of a grouping, and their words by kind: int64 (4, rows)."""
    keys, groups = placed(np.concatenate([gold.keys(name), system.keys(name)]))
    counts = tallied(groups, len(keys), kinds, 4)
    listed = largest_first(counts.sum(axis=0))[:MAX_ROWS]
    grouping = GROUPINGS[name]
    listed = np.sort(listed) if grouping.ordered else listed
    return grouping.values(keys[listed], gold.treebank), counts[:, listed]
