"""Pair rows of two tables that agree, by sorting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import IntArray


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
