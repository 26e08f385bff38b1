"""Transforms of words: `drop-traces` and `drop-punctuation` delete them, `drop-empty` the phrases left without any."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from treescore.core.arrays import BoolArray, offsets_of
from treescore.core.params import STRINGS, Param
from treescore.core.registry import Transform, register
from treescore.core.structure import NONE, structure_of
from treescore.core.text import is_punctuation
from treescore.core.trees import NO_TAG, ConstituentTreebank
from treescore.transforms.shared.tree_edit import decided_by, empty_nodes, numbered, without_nodes, without_words

NULL_TAGS = ("-NONE-",)


def null_elements(treebank: ConstituentTreebank, tags: Collection[str] = NULL_TAGS) -> BoolArray:
    """Find words that stand for nothing in the text: bool (w,)."""
    return numbered(treebank.vocabulary, treebank.tags, lambda tag: tag in tags)


@register
class DropTraces(Transform):
    """Deletes traces and other null elements."""

    name = "drop-traces"
    doc = (
        "Deletes null elements (words tagged -NONE-). The emptied phrases stay, without words (drop-empty removes "
        'them), or with "emptied": "word" each as long as one word, as Kikas & Treumuth count them without -x.'
    )
    source = "Kikas & Treumuth 2007, option -c (words)"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "tags": Param(STRINGS, list(NULL_TAGS), "Tags of null elements."),
        "emptied": Param(
            {"enum": ["keep", "word"]},
            "keep",
            "keep: a phrase of null elements only is left without words; word: it counts as one word long.",
        ),
    }

    @property
    def guided(self) -> bool:
        """See Transform."""
        return True

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:
        """Delete null elements."""
        tags = frozenset(self.values["tags"])
        deleted = decided_by(treebank, guide, lambda side: null_elements(side, tags))
        if self.values["emptied"] == "word":
            first_words = _first_words_of_emptied(treebank, deleted)
            deleted = deleted & ~first_words
            # What holds the place of an emptied phrase is a word without form and tag: no constituent of its own.
            treebank = replace(
                treebank,
                words=np.where(first_words, 0, treebank.words),
                tags=np.where(first_words, NO_TAG, treebank.tags),
            )
        return without_words(treebank, deleted)


def placeholders(treebank: ConstituentTreebank) -> BoolArray:
    """Find words that hold the place of an emptied phrase: bool (w,)."""
    return np.asarray((treebank.words == 0) & (treebank.tags == NO_TAG), np.bool_)


def _first_words_of_emptied(treebank: ConstituentTreebank, deleted: BoolArray) -> BoolArray:
    """Find the first word of each phrase without phrases that loses all its words: bool (w,)."""
    parents = structure_of(treebank).parents
    childless = np.ones(len(parents), np.bool_)
    childless[parents[parents != NONE]] = False
    before = offsets_of(deleted.astype(np.int64))
    firsts = np.repeat(treebank.word_offsets[:-1], np.diff(treebank.node_offsets))
    starts, ends = firsts + treebank.starts, firsts + treebank.ends
    emptied = childless & (ends > starts) & (before[ends] - before[starts] == ends - starts)
    first_words = np.zeros(len(deleted), np.bool_)
    first_words[starts[emptied]] = True
    return first_words


PUNCTUATION_TAGS = (",", ".", ":", "``", "''", '"', "-LRB-", "-RRB-", "(", ")", "NFP", "PUNCT")
"""Tags of punctuation outside words. HYPH, a hyphen inside a word, is not among them."""


def punctuation(treebank: ConstituentTreebank, tags: Collection[str] | None = PUNCTUATION_TAGS) -> BoolArray:
    """Find punctuation by tag, bool (w,); words without tag, or all words if `tags` is None, by their characters."""
    by_form = numbered(treebank.vocabulary, treebank.words, is_punctuation)
    if tags is None:
        return by_form
    by_tag = numbered(treebank.vocabulary, treebank.tags, frozenset(tags).__contains__)
    return np.asarray(by_tag | (by_form & (treebank.tags == NO_TAG)), np.bool_)


@register
class DropPunctuation(Transform):
    """Deletes punctuation words."""

    name = "drop-punctuation"
    doc = (
        "Deletes words tagged as punctuation; words without a tag where all characters are punctuation. Gold's tags "
        "decide for both sides, by position, in sentences of equal length. Phrases left without words stay empty."
    )
    source = "Black et al. 1991; Unicode category P"
    reads = (ConstituentTreebank,)
    params: ClassVar[Mapping[str, Param]] = {
        "by": Param(
            {"enum": ["tags", "characters"]},
            "tags",
            "characters: a word is punctuation where all its characters are in Unicode category P, with any tag.",
        ),
        "tags": Param(STRINGS, list(PUNCTUATION_TAGS), "Tags of punctuation."),
    }

    @property
    def guided(self) -> bool:
        """See Transform."""
        return bool(self.values["by"] == "tags")

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:
        """Delete punctuation."""
        tags = self.values["tags"] if self.values["by"] == "tags" else None
        return without_words(treebank, decided_by(treebank, guide, lambda side: punctuation(side, tags)))


@register
class DropEmpty(Transform):
    """Deletes empty phrases, and phrases that become empty."""

    name = "drop-empty"
    doc = "Deletes phrases without words, recursively; those that drop-traces counts as one word long too."
    source = "Kikas & Treumuth 2007, option -x"
    reads = (ConstituentTreebank,)

    def apply(self, treebank: ConstituentTreebank, guide: ConstituentTreebank) -> ConstituentTreebank:  # noqa: ARG002 - emptiness is each side's own
        """Delete empty phrases."""
        treebank = without_words(treebank, placeholders(treebank))
        return without_nodes(treebank, empty_nodes(treebank))
