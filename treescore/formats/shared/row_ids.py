"""What the IDs of rows say in CoNLL-U: words, ranges of multiword tokens, empty nodes."""

from __future__ import annotations

from dataclasses import dataclass

from treescore.core.arrays import BoolArray, Int32Array, IntArray

WORD, RANGE, EMPTY, BAD = range(4)
"""Kinds of rows."""


@dataclass(frozen=True, slots=True)
class Ids:
    """The ID column of r rows: kind, one or two numbers (at most nine digits), words before it in its sentence."""

    kinds: Int32Array
    first: Int32Array
    second: Int32Array
    before: IntArray
    inside: BoolArray
    word_offsets: IntArray
