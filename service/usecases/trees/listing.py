"""Pages of trees, and of items that are chosen as trees are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from service.errors import NotFound
from service.requests import TreeChoice
from service.usecases.runs.views import Page
from service.usecases.trees.choosing import chosen_sentences, cursor_of, start_of, tag_of
from service.usecases.trees.documents import Document
from service.usecases.trees.sentences import OutputTrees
from treescore.core.arrays import BoolArray, IntArray

ROWS_PER_ANSWER = 100_000
"""Words, spans and links of one answer; it ends after the sentence that passes them."""
NOT_KEPT = "No trees are stored for it: the output has not been read yet, or could not be read."


@dataclass(frozen=True, slots=True)
class Asked:
    """Which sentences of an output are asked for.

    Attributes:
        owner: of the output's trees, and what else tells its cursors from those of others.
        choice: what is asked of the sentences.
        item: number of the one sentence, from 1; then nothing else is asked.
        cursor, limit: of the page.
        only: sentences that count at all, bool (n,); None: all.
    """

    owner: tuple[str, ...]
    choice: TreeChoice
    cursor: str | None
    limit: int
    item: int | None = None
    only: BoolArray | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """Sentences of one page, from 0, and the cursor after any number of them."""

    sentences: Sequence[int]
    start: int
    tag: str
    more: bool

    def page(self, shown: Sequence[Document]) -> Page:
        """Return the page of the first of the sentences, as they are shown."""
        number = self.start + len(shown)
        return Page(shown, cursor_of(number, self.tag) if self.more or len(shown) < len(self.sentences) else None)


def listed(trees: OutputTrees, asked: Asked, *, beside_gold: bool) -> Listed:
    """Return the sentences of a page.

    Raises:
        NotFound: the output has no sentence of this number.
        Unprocessable: the cursor is invalid.
    """
    size = len(trees.gold if beside_gold else trees.text)
    if asked.item is not None:
        if asked.item > size:
            raise NotFound(f"Unknown item {asked.item}. There are {size}.")
        return Listed([asked.item - 1], 0, "", more=False)
    tag = tag_of(asked.choice, *asked.owner, "gold" if beside_gold else "own")
    start = start_of(asked.cursor, tag)
    stop = start + asked.limit
    if not tag:
        return Listed(range(min(start, size), min(stop, size)), start, tag, more=stop < size)
    found = chosen_sentences(trees, asked.choice, beside_gold=beside_gold)
    if asked.only is not None:
        found = _kept(found, asked.only)
    return Listed(found[start:stop].tolist(), start, tag, more=stop < len(found))


def tree_page(found: Listed, document_of: Callable[[int], Document]) -> Page:
    """Return the documents of a page's sentences, as many as one answer may hold."""
    documents: list[Document] = []
    rows = 0
    for sentence in found.sentences:
        if documents and rows > ROWS_PER_ANSWER:
            break
        documents.append(document_of(sentence))
        rows += sum(len(value) for value in documents[-1].values() if isinstance(value, list))
    return found.page(documents)


def _kept(found: IntArray, only: BoolArray) -> IntArray:
    return found[np.asarray(only)[found]]
