"""The brackets of trees with gaps that are compared, and which of them match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.discontinuity import extents_of, same_yields
from treescore.core.trees import DiscontinuousTreebank
from treescore.metrics.parseval.bracket_tables import paired_rows
from treescore.metrics.parseval.choices import Choices
from treescore.metrics.shared.discodop import listed, representatives, without_words

UNMATCHED = -1


class Brackets(NamedTuple):
    """The b brackets of one side that are compared: those over words that are left, not deleted.

    Attributes:
        sentences: of each, from 0, int64 (b,).
        yields: two columns that are equal where two brackets of a sentence are over the same words, int64 (b,) each.
        labels: int64 (b,).
        compared: the label by which each is compared, int64 (b,).
        functions: int64 (b,).
        firsts, lasts: first and last word, counted in the sentence, int64 (b,).
        sizes: words, without deleted ones, int64 (b,).
        gaps: whether words that are not deleted lie between its own, bool (b,).
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
    def sides(self) -> tuple[Brackets, Brackets]:
        """The brackets of gold and of the output, paired one to one."""
        trees = [without_words(tree, kept) for tree, kept in zip((self.gold, self.system), self.kept, strict=True)]
        gold, system = (
            self._brackets(tree, whole, kept, spans)
            for tree, whole, kept, spans in zip(
                trees, (self.gold, self.system), self.kept, same_yields(trees[0], trees[1]), strict=True
            )
        )
        golds, systems = paired_rows(gold.key, system.key)
        gold.partners[golds], system.partners[systems] = systems, golds
        return gold, system

    def _brackets(
        self,
        tree: DiscontinuousTreebank,
        whole: DiscontinuousTreebank,
        kept: BoolArray,
        spans: tuple[IntArray, IntArray],
    ) -> Brackets:
        """Return the brackets of one side, of its tree without deleted words and as it was."""
        extents = extents_of(tree)
        deleted = listed(tree.vocabulary, self.choices.delete_labels)
        nodes = np.flatnonzero((extents.sizes > 0) & ~deleted[tree.labels])
        sentences = owners_of(tree.node_offsets)[nodes]
        firsts, lasts, sizes = (column[nodes] for column in extents)
        places = np.flatnonzero(kept)
        begin = whole.word_offsets[sentences]
        labels = tree.labels[nodes]
        starts, ends = (column[nodes] for column in spans)
        return Brackets(
            sentences,
            (starts + 1, ends + len(self.gold.labels) + len(self.system.labels) + 1),
            labels,
            representatives(tree.vocabulary, self.choices.equal_labels)[labels],
            tree.functions[nodes],
            places[firsts] - begin,
            places[lasts] - begin,
            sizes,
            lasts - firsts + 1 != sizes,
            np.full(len(nodes), UNMATCHED, np.int64),
        )
