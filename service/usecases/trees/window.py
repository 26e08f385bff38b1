"""One chosen sentence among those around it: what a page for people shows, where the API lists page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from service.usecases.trees.choosing import chosen_sentences
from service.usecases.trees.documents import Document, Outline
from service.usecases.trees.listing import Asked, listed
from service.usecases.trees.sentences import OutputTrees

BEFORE, AROUND = 5, 16
"""Sentences of the window before the current one, and in all."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some of the chosen sentences, in their order.

    Attributes:
        current: the sentence that is looked at; None where nothing is chosen.
        around: those around it, itself among them if it is chosen.
        position: of the current sentence among the chosen ones, from 1; None where it is not one of them.
        total: of the chosen sentences.
        before, after: items of the neighbours of the current one.
    """

    current: Document | None
    around: Sequence[Outline]
    position: int | None
    total: int
    before: int | None
    after: int | None


def window(
    trees: OutputTrees,
    asked: Asked,
    document_of: Callable[[int], Document],
    outline_of: Callable[[int], Outline],
    *,
    beside_gold: bool,
) -> Window:
    """Return the asked sentence, by default the first of the chosen ones, and those around it.

    Args:
        trees: the stored ones.
        asked: which sentences are chosen, and which of them is looked at.
        document_of: shows the sentence that is looked at, from 0.
        outline_of: shows one in the list.
        beside_gold: whether sentences are gold's, else the output's own.

    Raises:
        NotFound: the output has no sentence of this number.
    """
    found = chosen_sentences(trees, asked.choice, beside_gold=beside_gold)
    if asked.only is not None:
        found = found[np.asarray(asked.only)[found]]
    if asked.item is not None:
        (wanted,) = listed(trees, asked, beside_gold=beside_gold).sentences
    elif len(found):
        wanted = int(found[0])
    else:
        return Window(None, (), None, 0, None, None)
    at = np.flatnonzero(found == wanted)
    place = int(at[0]) if len(at) else None
    start = max(0, min((place or 0) - BEFORE, len(found) - AROUND))
    return Window(
        document_of(wanted),
        [outline_of(number) for number in found[start : start + AROUND].tolist()],
        None if place is None else place + 1,
        len(found),
        int(found[place - 1]) + 1 if place else None,
        int(found[place + 1]) + 1 if place is not None and place + 1 < len(found) else None,
    )
