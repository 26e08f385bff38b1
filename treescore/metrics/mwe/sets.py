"""Multiword expressions as sets of words: equal sets have equal numbers, on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from treescore.core.arrays import BoolArray, IntArray
from treescore.core.treebank_columns import ranges_of
from treescore.core.trees import ExpressionTreebank


@dataclass(frozen=True)
class Side:
    """The expressions of gold or of an output.

    Attributes:
        treebank: which has them.
        sets: number of the set of words of each, int64 (k,).
    """

    treebank: ExpressionTreebank
    sets: IntArray

    @cached_property
    def sentences(self) -> IntArray:
        """The sentence of each expression, int64 (k,)."""
        return self.treebank.expression_sentences()

    @cached_property
    def sizes(self) -> IntArray:
        """How many words each has, int64 (k,)."""
        return np.diff(self.treebank.expression_offsets)

    @cached_property
    def spans(self) -> tuple[IntArray, IntArray]:
        """Where each begins, and the place after its end, as `places_of` counts: int64 (k,) each."""
        places, offsets = places_of(self.treebank), self.treebank.expression_offsets
        words = self.treebank.expression_words
        return places[words[offsets[:-1]]], places[words[offsets[1:] - 1]] + 1

    @property
    def continuous(self) -> BoolArray:
        """Which have no gap, bool (k,)."""
        begins, ends = self.spans
        return np.asarray(ends - begins == self.sizes, np.bool_)


def places_of(treebank: ExpressionTreebank) -> IntArray:
    """Return the place of each word among words and empty nodes, int64 (w,).

    An empty node between the words of an expression is a gap, as in the original program.
    """
    words = np.arange(len(treebank.forms))
    return words + np.searchsorted(np.sort(treebank.empty_after), words, "right")


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct sets of a side, each once in its group.

    Attributes:
        side: of which they are.
        expressions: an expression of each set, ascending, int64 (d,).
        groups: of each, int64 (d,).
    """

    side: Side
    expressions: IntArray
    groups: IntArray

    @property
    def sets(self) -> IntArray:
        """Their numbers, int64 (d,)."""
        return self.side.sets[self.expressions]

    @property
    def sizes(self) -> IntArray:
        """How many words each has, int64 (d,)."""
        return self.side.sizes[self.expressions]

    @property
    def sentences(self) -> IntArray:
        """The sentence of each, int64 (d,)."""
        return self.side.sentences[self.expressions]

    def words_of(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Return the words of the chosen sets, one after the other, and for each of them its set: int64."""
        treebank = self.side.treebank
        expressions = self.expressions[chosen]
        sizes = self.side.sizes[expressions]
        places, _ = ranges_of(treebank.expression_offsets[expressions], sizes)
        return treebank.expression_words[places], np.repeat(chosen, sizes)


def sides_of(gold: ExpressionTreebank, system: ExpressionTreebank) -> tuple[Side, Side]:
    """Number the sets of words of both sides, which have the same words in the same sentences."""
    numbers: dict[bytes, int] = {}
    sides = []
    for treebank in (gold, system):
        words = np.ascontiguousarray(treebank.expression_words).tobytes()
        size = treebank.expression_words.itemsize
        bounds = pairwise((treebank.expression_offsets * size).tolist())
        found = [numbers.setdefault(words[start:end], len(numbers)) for start, end in bounds]
        sides.append(Side(treebank, np.array(found, np.int64)))
    return sides[0], sides[1]


def distinct_sets(side: Side, groups: IntArray, chosen: BoolArray | None = None) -> Distinct:
    """Return the distinct sets of each group.

    Args:
        side: which has them.
        groups: of its expressions, int64 (k,), from 0.
        chosen: which expressions are in a group, bool (k,); all unless given.
    """
    expressions = np.arange(len(side.sets)) if chosen is None else np.flatnonzero(chosen)
    keys = groups[expressions] * (int(side.sets.max(initial=0)) + 1) + side.sets[expressions]
    firsts = np.sort(np.unique(keys, return_index=True)[1])
    return Distinct(side, expressions[firsts], groups[expressions[firsts]])
