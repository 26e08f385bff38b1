"""Marks: which words, constituents or links of two treebanks are wrong, for pictures of both."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from treescore.core.arrays import BoolArray, IntArray

NO_PARTNER = -1
"""Partner of a unit, or sentence of the output, where there is none."""


class State(IntEnum):
    """How a unit fits the other side.

    `ALONE` is a word that the other side does not have, `SPAN` a constituent whose span it does not have, `LINK` a link
    that it does not have.
    """

    RIGHT = 0
    HEAD = 1
    LABEL = 2
    BOTH = 3
    ALONE = 4
    SPAN = 5
    LINK = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What is wrong with the units of an output: its words, constituents or links as they were read.

    Attributes:
        system: `State` of each unit of the output, int64 (s,); units that a metric leaves out are right.
        gold: `State` of each unit of gold, int64 (g,).
        partners: gold's word for each of the output's, NO_PARTNER where it has none, int64 (s,). None: word i is word
            i, or the units are no words.
        firsts: the output's word with which each sentence of gold begins, and their number: int64 (n + 1,). None:
            sentences are whole.
        sentences: the output's sentence for each of gold's, NO_PARTNER where it has none, int64 (n,). None: sentence i
            is sentence i, or `firsts` tells.
    """

    system: IntArray
    gold: IntArray
    partners: IntArray | None = None
    firsts: IntArray | None = None
    sentences: IntArray | None = None


def word_states(heads: BoolArray, labels: BoolArray) -> IntArray:
    """Return the state of words whose heads and labels are right or not, int64 (w,)."""
    return np.where(heads, 0, int(State.HEAD)) + np.where(labels, 0, int(State.LABEL))
