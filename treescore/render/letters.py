"""Measure text without a font: Latin by the advances of Source Sans 3, other scripts by East Asian width."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from treescore.render.letter_widths import LETTERS, UNITS

NORMAL, BOLD = 0, 1
"""Weights: 400, and 600 or more."""

_ADVANCES = tuple(
    {letter: advances[weight] / UNITS for advances, letters in LETTERS.items() for letter in letters}
    for weight in (NORMAL, BOLD)
)
_WIDE, _USUAL = 1.0, 0.56
"""Ems of an ideograph, and of a letter of another script than Latin, Greek or Cyrillic too."""
_NO_WIDTH = ("Mn", "Me", "Cf")
"""Categories of characters that take no room: marks that stand on others, and format characters."""


@lru_cache(maxsize=4096)
def width(text: str, size: float, weight: int = NORMAL) -> float:
    """Return the width of a text in pixels.

    The widths of other scripts than Latin are estimates. Texts are anchored at their middle where that matters, so that
    an error moves white space only.

    Args:
        text: one line.
        size: of the type, in pixels.
        weight: NORMAL or BOLD.
    """
    return size * sum(_ems(letter, weight) for letter in text)


def shortened(text: str, room: float, size: float, weight: int = NORMAL) -> str:
    """Return the text, or as much of its beginning as fits into so many pixels, with an ellipsis."""
    if width(text, size, weight) <= room:
        return text
    left = room - width("…", size, weight)
    kept = 0
    for letter in text:
        left -= size * _ems(letter, weight)
        if left < 0:
            break
        kept += 1
    return text[:kept] + "…"


@lru_cache(maxsize=8192)
def _ems(letter: str, weight: int) -> float:
    known = _ADVANCES[weight].get(letter)
    if known is not None:
        return known
    if unicodedata.category(letter) in _NO_WIDTH:
        return 0.0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _USUAL
