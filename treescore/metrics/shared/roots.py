"""Warn of outermost brackets that one side alone has."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.discontinuity import divided
from treescore.core.trees import ConstituentTreebank, DiscontinuousTreebank
from treescore.errors import Problem

_WRAPPERS = ("", "ROOT", "TOP", "S1", "VROOT", "PSROOT")
"""Usual labels around a tree; any other label is one if it stands around all trees, of this many or more."""
_ENOUGH = 5
_ONE_LABEL = "give the outermost brackets of both sides one label"
_EITHER = f"leave it out if it only wraps the tree, else {_ONE_LABEL}"
"""For those who may not read gold: whether it wraps the tree may follow from gold's labels."""

Trees = ConstituentTreebank | DiscontinuousTreebank


def root_warnings(
    gold: Trees,
    system: Trees,
    left_out: Collection[str],
    seen_as: Callable[[str], str] = str,
    setting_of: Callable[[str], str] | None = None,
) -> list[Problem]:
    """Warn where each tree of a side has an outermost bracket that is counted and that the other side never has.

    Args:
        gold: the trees as the metric gets them.
        system: likewise.
        left_out: labels that are not counted, or count as equal to others.
        seen_as: how the metric reads a label, as without its function.
        setting_of: what leaves out brackets of this label; by default the transform, where it reads such trees.
    """
    roots = [_roots(each) for each in (gold, system)]
    if not len(roots[0]) or not len(roots[1]):
        return []
    vocabulary = gold.vocabulary

    def seen_in(labels: IntArray) -> set[str]:
        return {seen_as(vocabulary.strings[number]) for number in vocabulary.distinct(labels).tolist()}

    found = []
    for at, (side, other) in enumerate((("gold", "the output"), ("the output", "gold"))):
        own, others, elsewhere = roots[at], roots[1 - at], (system, gold)[at].labels
        written, beside = (vocabulary.strings[labels[0]] for labels in (own, others))
        label = seen_as(written)
        known = label in _WRAPPERS
        wrapping = known or len(own) >= _ENOUGH
        if label in left_out or not wrapping or len(seen_in(own)) > 1 or label in seen_in(elsewhere):
            continue
        if not (known or seen_in(others) <= seen_in((gold, system)[at].labels)):
            setting = _ONE_LABEL
        elif setting_of is not None:
            setting = f"{setting_of(label)} to leave it out"
        elif isinstance(gold, ConstituentTreebank) and isinstance(system, ConstituentTreebank):
            setting = f"name {written!r} in `labels` of the transform delete-labels to leave it out"
        else:
            setting = _ONE_LABEL
        never = "It counts and is never right"
        plain = f"Every tree of {side} has the outermost bracket {_bracket(written)}, which no tree of {other} has"
        detail = f"{plain}. {never}: {setting if known else _EITHER}."
        if side == "gold":  # whose labels are not shown
            detail = f"Every tree of gold has an outermost bracket that no tree of the output has. {never}: {_EITHER}."
        quoted = f"{plain} (there it is {_bracket(beside)}). {never}: {setting}."
        found.append(Problem("root-label", detail, gold_detail=quoted))
    return found


def category_of(label: str) -> str:
    """Return a label without its function, as trees that may have gaps are compared by."""
    return divided(label)[0]


def _roots(side: Trees) -> IntArray:
    """Return the labels of the outermost brackets of trees with words."""
    return side.labels[side.node_offsets[:-1][(np.diff(side.node_offsets) > 0) & (np.diff(side.word_offsets) > 0)]]


def _bracket(label: str) -> str:
    return repr(label) if label else "without a label"
