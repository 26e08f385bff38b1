"""Deletion of punctuation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np

from treescore.core.arrays import BoolArray
from treescore.core.params import STRINGS, Param
from treescore.core.registry import Transform, register
from treescore.core.text import is_punctuation
from treescore.core.trees import NO_TAG, ConstituentTreebank
from treescore.transforms.shared.english import PUNCTUATION_TAGS
from treescore.transforms.shared.tree_edit import decided_by, numbered, without_words


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
