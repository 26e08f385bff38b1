"""Words and labels as pictures show them: on one line, of bounded length, in the direction of their letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from treescore.core.one_line import clean
from treescore.render.letters import BOLD, NORMAL, shortened, width

FORM, LABEL, SMALL = 16.5, 13.0, 10.5
"""Sizes of words, of labels and of numbers."""
_FORM_ROOM, _LABEL_ROOM, _NUMBER_ROOM = 200.0, 140.0, 48.0
_MOST_LETTERS = 120
"""Of a word: marks that take no room would make it endless."""
_NO_VALUE = "_"


def shown_form(form: str) -> str:
    """Return a word as it is drawn."""
    return _bounded(form, _FORM_ROOM, FORM, BOLD) or _NO_VALUE


def shown_label(label: str) -> str:
    """Return a label as it is drawn; an empty one stays empty."""
    return _bounded(label, _LABEL_ROOM, LABEL, BOLD)


def shown_number(number: str) -> str:
    """Return the number of a word as it is drawn."""
    return _bounded(number, _NUMBER_ROOM, SMALL, NORMAL)


def form_width(form: str) -> float:
    """Return the width of a word that is shown; right or wrong, it keeps its place."""
    return width(form, FORM, BOLD)


def right_to_left(texts: Iterable[str]) -> bool:
    """Tell whether most of the letters with a direction run from right to left."""
    left = right = 0
    for text in texts:
        if text.isascii():
            left += sum(map(str.isalpha, text))
            continue
        for letter in text:
            kind = unicodedata.bidirectional(letter)
            left += kind == "L"
            right += kind in ("R", "AL")
    return right > left


def _bounded(text: str, room: float, size: float, weight: int) -> str:
    head = text[: 2 * _MOST_LETTERS]
    return _shown(head, room, size, weight, cut=len(head) < len(text))


@lru_cache(maxsize=4096)
def _shown(head: str, room: float, size: float, weight: int, *, cut: bool) -> str:
    kept = clean(head).strip()
    if len(kept) > _MOST_LETTERS or cut:
        kept = kept[:_MOST_LETTERS] + "…"
    return shortened(kept, room, size, weight)
