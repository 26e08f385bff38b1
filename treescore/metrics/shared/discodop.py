"""What disco-dop's parameter file proper.prm deletes and takes as equal, and trees without the deleted words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, owners_of
from treescore.core.structure import NONE
from treescore.core.trees import DiscontinuousTreebank, Vocabulary

DELETED_LABELS = (
    *("NOPARSE", "TOP", "ROOT", "VROOT", "$,", "$(", "$[", "$.", "PUNCT", "punct", "LET[]", "LET()", "LET"),
    *("let[]", "let()", "let", ",", ":", "``", "''", ".", "-NONE-"),
)
DELETED_FORMS = (
    *(".", ",", ":", ";", "'", "`", '"', "``", "''", "-", "(", ")", "/", "&", "$", "!", "!!!"),
    *("?", "??", "???", "..", "...", "«", "»"),
)
EQUAL_LABELS = (("ADVP", "PRT"),)
EQUAL_WORDS = (("-LRB-", "("), ("-RRB-", ")"))

Pairs = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Deletions:
    """What is deleted from trees before they are compared, and what counts as equal.

    Attributes:
        labels: constituents with these labels are not compared; words with these tags in gold are deleted.
        forms: words with these forms in gold are deleted.
        equal_labels, equal_words: pairs that count as equal, transitively.
        root_words: whether words directly below the root in gold are deleted.
    """

    labels: Sequence[str] = DELETED_LABELS
    forms: Sequence[str] = DELETED_FORMS
    equal_labels: Pairs = EQUAL_LABELS
    equal_words: Pairs = EQUAL_WORDS
    root_words: bool = False

    def words_agree(self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank) -> BoolArray:
        """Tell of each of n sentences whether both sides have the same words, bool (n,)."""
        fine = np.diff(gold.word_offsets) == np.diff(system.word_offsets)
        same = representatives(gold.vocabulary, self.equal_words)
        owners, others = owners_of(gold.word_offsets), owners_of(system.word_offsets)
        differ = same[gold.words[fine[owners]]] != same[system.words[fine[others]]]
        fine[owners[fine[owners]][differ]] = False
        return np.asarray(fine, np.bool_)

    def kept_words(self, gold: DiscontinuousTreebank) -> BoolArray:
        """Tell of each of gold's w words whether it is left, bool (w,)."""
        tags, forms = (listed(gold.vocabulary, names) for names in (self.labels, self.forms))
        deleted = (tags[gold.tags] & (gold.tags >= 0)) | forms[gold.words]
        if self.root_words:
            deleted |= gold.parents[gold.anchors] == NONE
        return np.asarray(~deleted, np.bool_)

    def kept_of_system(
        self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank, kept: BoolArray, fine: BoolArray
    ) -> BoolArray:
        """Tell of each word of the output whether it is left: those where gold's is, in sentences that are `fine`.

        Args:
            gold: the gold treebank.
            system: the output.
            kept: which of gold's words are left, bool.
            fine: sentences with the same words on both sides, bool (n,).
        """
        left = fine[owners_of(system.word_offsets)]
        left[left] = kept[fine[owners_of(gold.word_offsets)]]
        return np.asarray(left, np.bool_)

    def applied(
        self, gold: DiscontinuousTreebank, system: DiscontinuousTreebank, fine: BoolArray
    ) -> tuple[DiscontinuousTreebank, DiscontinuousTreebank]:
        """Return both sides without the words that are deleted; of the output only sentences that are `fine`, (n,)."""
        kept = self.kept_words(gold)
        return without_words(gold, kept), without_words(system, self.kept_of_system(gold, system, kept, fine))


def without_words(tree: DiscontinuousTreebank, kept: BoolArray) -> DiscontinuousTreebank:
    """Return trees with some of their words, bool (w,); nodes that lose all of theirs stay."""
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


def listed(vocabulary: Vocabulary, names: Sequence[str]) -> BoolArray:
    """Tell of each of v strings whether it is one of these: bool (v,)."""
    flags = np.zeros(len(vocabulary), np.bool_)
    flags[[number for number in map(vocabulary.get, names) if number is not None]] = True
    return flags


def representatives(vocabulary: Vocabulary, pairs: Pairs) -> IntArray:
    """Return for each of v strings the one that stands for all that are equal to it, transitively: int64 (v,)."""
    table = np.arange(len(vocabulary))
    first: dict[str, int] = {}
    for name, class_ in _classes(pairs).items():
        number = vocabulary.get(name)
        if number is not None:
            table[number] = first.setdefault(class_, number)
    return table


def _classes(pairs: Pairs) -> dict[str, str]:
    """Return the class of each string, also of those that no text has, which may join two that texts have."""
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while (parent := above.setdefault(name, name)) != name:
            above[name] = above[parent]
            name = parent
        return name

    for one, other in pairs:
        above[root(one)] = root(other)
    return {name: root(name) for name in tuple(above)}
