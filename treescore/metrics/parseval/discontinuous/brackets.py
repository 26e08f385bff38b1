"""The brackets of trees with gaps that are compared, and which of them match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.discontinuity import Spans, extents_of, same_yields
from treescore.core.trees import DiscontinuousTreebank
from treescore.metrics.parseval.bracket_tables import joint_keys, paired_rows
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.shared.discodop import listed, representatives, without_words

UNMATCHED = -1


class Brackets(NamedTuple):
    """The b brackets of one side that are compared: those over words that are left, not deleted.

    Attributes:
        sentences: of each, from 0, int64 (b,).
        yields: two columns that are equal where two brackets of a sentence are over the same words, int64 (b,) each.
        labels: int64 (b,).
        compared: the label by which each is compared; one for all where labels do not matter, int64 (b,).
        functions: int64 (b,).
        firsts, lasts: first and last word, counted in the sentence, int64 (b,).
        sizes: words, without deleted ones, int64 (b,).
        gaps: whether words that are not deleted lie between its own, bool (b,).
        distinct: whether it is the first of its side with these words and this label, bool (b,).
        partners: the bracket of the other side that each takes, UNMATCHED for none, int64 (b,).
    """

    sentences: IntArray
    yields: tuple[IntArray, IntArray]
    labels: IntArray
    compared: IntArray
    functions: IntArray
    firsts: IntArray
    lasts: IntArray
    sizes: IntArray
    gaps: BoolArray
    distinct: BoolArray
    partners: IntArray

    @property
    def key(self) -> Sequence[IntArray]:
        """The columns by which brackets are compared."""
        return [self.sentences, *self.yields, self.compared]


@dataclass(frozen=True)
class Compared:
    """Two treebanks of n sentences that are compared.

    Attributes:
        gold, system: the treebanks.
        choices: of the metric.
        fine: the sentences that can be compared, bool (n,); the others have no bracket of the output.
    """

    gold: DiscontinuousTreebank
    system: DiscontinuousTreebank
    choices: Choices
    fine: BoolArray

    @cached_property
    def kept(self) -> tuple[BoolArray, BoolArray]:
        """The words of gold and of the output that are compared: gold's tag or form decides for both."""
        deletions = self.choices.deletions
        left = deletions.kept_words(self.gold)
        return left, deletions.kept_of_system(self.gold, self.system, left, self.fine)

    @cached_property
    def same(self) -> IntArray:
        """For each string the one that stands for all that are equal to it."""
        return representatives(self.gold.vocabulary, self.choices.equal_labels)

    @cached_property
    def sides(self) -> tuple[Brackets, Brackets]:
        """The brackets of gold and of the output, paired one to one."""
        trees = [without_words(tree, kept) for tree, kept in zip((self.gold, self.system), self.kept, strict=True)]
        # Yields of the output that gold does not have are all different there, also from each other.
        own_spans = same_yields(trees[1], trees[1])[0]
        of_gold, of_system = same_yields(trees[0], trees[1])
        gold = self._brackets(trees[0], self.gold, self.kept[0], of_gold, of_gold)
        system = self._brackets(trees[1], self.system, self.kept[1], of_system, own_spans)
        golds, systems = paired_rows(gold.key, system.key)
        gold.partners[golds], system.partners[systems] = systems, golds
        return gold, system

    def _brackets(
        self,
        tree: DiscontinuousTreebank,
        whole: DiscontinuousTreebank,
        kept: BoolArray,
        spans: Spans,
        own_spans: Spans,
    ) -> Brackets:
        """Return the brackets of one side, of its tree without deleted words and as it was.

        Args:
            tree: without the words.
            whole: with them.
            kept: which words are left.
            spans: yields that can be compared with the other side's.
            own_spans: yields that can be compared with each other.
        """
        extents = extents_of(tree)
        deleted = listed(tree.vocabulary, self.choices.delete_labels)
        chosen = (extents.sizes > 0) & ~deleted[tree.labels]
        if self.choices.only_gaps:
            chosen &= extents.lasts - extents.firsts + 1 != extents.sizes
        nodes = np.flatnonzero(chosen)
        sentences = owners_of(tree.node_offsets)[nodes]
        firsts, lasts, sizes = (column[nodes] for column in extents)
        places = np.flatnonzero(kept)
        begin = whole.word_offsets[sentences]
        labels = tree.labels[nodes]
        compared = self.same[labels] if self.choices.labelled else np.zeros(len(labels), np.int64)
        starts, ends = (column[nodes] for column in spans)
        return Brackets(
            sentences,
            (starts + 1, ends + len(self.gold.labels) + len(self.system.labels) + 1),
            labels,
            compared,
            tree.functions[nodes],
            places[firsts] - begin,
            places[lasts] - begin,
            sizes,
            lasts - firsts + 1 != sizes,
            _first_of_each([sentences, *(column[nodes] for column in own_spans), compared]),
            np.full(len(nodes), UNMATCHED, np.int64),
        )


def _first_of_each(columns: Sequence[IntArray]) -> BoolArray:
    """Tell of each row whether it is the first with its values, which are 0 or more: bool (b,)."""
    keys, _ = joint_keys(columns, [column[:0] for column in columns])
    first = np.zeros(len(keys), np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    return first
