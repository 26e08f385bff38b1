"""The brackets of trees with gaps that are compared, and which of them match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.discontinuity import extents_of, same_yields
from treescore.core.structure import NONE
from treescore.core.trees import DiscontinuousTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.metrics.parseval.bracket_tables import joint_keys, paired_rows
from treescore.metrics.parseval.choices import Choices

UNMATCHED = -1


class Brackets(NamedTuple):
    """The b brackets of one side that are compared: below the roots, over words that are left, not deleted.

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
        listed = [
            _listed(self.gold.vocabulary, names) for names in (self.choices.delete_labels, self.choices.delete_forms)
        ]
        left = ~(listed[0][self.gold.tags] & (self.gold.tags >= 0)) & ~listed[1][self.gold.words]
        other = self.fine[owners_of(self.system.word_offsets)]
        other[other] = left[self.fine[owners_of(self.gold.word_offsets)]]
        return np.asarray(left, np.bool_), other

    @cached_property
    def sides(self) -> tuple[Brackets, Brackets]:
        """The brackets of gold and of the output, paired one to one."""
        trees = [_reduced(tree, kept) for tree, kept in zip((self.gold, self.system), self.kept, strict=True)]
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
        listed = _listed(tree.vocabulary, self.choices.delete_labels)
        nodes = np.flatnonzero((tree.parents != NONE) & (extents.sizes > 0) & ~listed[tree.labels])
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
            _same(tree.vocabulary, self.choices.equal_labels)[labels],
            tree.functions[nodes],
            places[firsts] - begin,
            places[lasts] - begin,
            sizes,
            lasts - firsts + 1 != sizes,
            np.full(len(nodes), UNMATCHED, np.int64),
        )


def shared_brackets(gold: Brackets, system: Brackets) -> tuple[BoolArray, BoolArray, IntArray, IntArray]:
    """Find the brackets that the other side has too, paired or not: bool of each side, and numbers of equal ones."""
    keys, other_keys = joint_keys(gold.key, system.key)
    return np.isin(keys, other_keys), np.isin(other_keys, keys), keys, other_keys


def words_agree(gold: DiscontinuousTreebank, system: DiscontinuousTreebank, choices: Choices) -> BoolArray:
    """Tell of each of n sentences whether both sides have the same words, bool (n,)."""
    lengths = np.diff(gold.word_offsets)
    fine = lengths == np.diff(system.word_offsets)
    same = _same(gold.vocabulary, choices.equal_words)
    owners, others = owners_of(gold.word_offsets), owners_of(system.word_offsets)
    differ = same[gold.words[fine[owners]]] != same[system.words[fine[others]]]
    fine[owners[fine[owners]][differ]] = False
    return np.asarray(fine, np.bool_)


def _reduced(tree: DiscontinuousTreebank, kept: BoolArray) -> DiscontinuousTreebank:
    """Return a tree without some words; nodes that lose all of theirs stay."""
    before = np.append(0, np.cumsum(kept))
    return replace(
        tree,
        words=tree.words[kept],
        tags=tree.tags[kept],
        word_functions=tree.word_functions[kept],
        lemmas=tree.lemmas[kept],
        morphs=tree.morphs[kept],
        anchors=tree.anchors[kept],
        word_offsets=before[tree.word_offsets],
    )


def _listed(vocabulary: Vocabulary, names: Sequence[str]) -> BoolArray:
    flags = np.zeros(len(vocabulary), np.bool_)
    flags[[number for number in map(vocabulary.get, names) if number is not None]] = True
    return flags


def _same(vocabulary: Vocabulary, pairs: Sequence[Sequence[str]]) -> IntArray:
    """Return for each string the one that stands for all that are equal to it, transitively: int64 (v,)."""
    table = np.arange(len(vocabulary))
    for names in pairs:
        known = [number for number in map(vocabulary.get, names) if number is not None]
        if len(known) == 2:
            table[table == table[known[0]]] = table[known[1]]
    return table
