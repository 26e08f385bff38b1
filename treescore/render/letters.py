"""Measure text without a font, and break the words of a picture into lines.

Latin goes by the advances of Source Sans 3, read from the font file that the pages ship (Latin subset), other scripts
by East Asian width. Each line is as full as fits, broken where little passes to the next.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

# ruff: noqa: RUF001 - the letters that the font has


UNITS = 1000
"""Of the font's design grid: so many make the size of the type."""

LETTERS: dict[tuple[int, int], str] = {
    (0, 0): "\u0300\u0301\u0303\u0304\u0308\u0309\u0323\u0329\u200b",
    (86, 96): "\u2044\u2215",
    (100, 100): "\u2009",
    (200, 200): " \u00a0",
    (241, 268): "|¦",
    (246, 276): "iìíîï",
    (247, 277): "ı",
    (247, 278): "j",
    (249, 300): "',.:;·\u2018\u2019\u201a\u2032",
    (255, 286): "l",
    (257, 302): "ʻʼ",
    (263, 301): "IÌÍÎÏ",
    (271, 292): "\u2039\u203a",
    (289, 340): "!¡",
    (292, 341): "f",
    (303, 344): "()[]{}",
    (304, 345): "\u2022",
    (311, 332): "-\u00ad",
    (331, 365): "°",
    (338, 383): "t",
    (345, 359): "ª",
    (347, 398): "r",
    (350, 339): "/\\",
    (365, 373): "º",
    (367, 376): "²³¹",
    (418, 457): "*",
    (419, 443): "s",
    (423, 462): "®",
    (425, 460): "z",
    (425, 463): "?¿",
    (426, 537): '"\u201c\u201d\u201e\u2033',
    (429, 480): "«»",
    (446, 514): "x",
    (456, 467): "ç",
    (456, 468): "c",
    (467, 521): "yýÿ",
    (467, 523): "v",
    (476, 525): "YÝ",
    (479, 509): "J",
    (480, 480): "\u2013",
    (486, 518): "L",
    (494, 524): "F",
    (495, 548): "k",
    (496, 518): "eèéêë",
    (497, 528): "#$+0123456789<=>^~¢£¤¥§¬±×÷\u20ac\u2212",
    (500, 500): "_",
    (504, 527): "aàáâãäå",
    (504, 534): "g",
    (513, 567): "X",
    (515, 556): "V",
    (527, 548): "EÈÉÊË",
    (534, 556): "S",
    (536, 556): "T",
    (539, 541): "Z",
    (542, 555): "`o¨¯´¸òóôõöøˆ˚˜",
    (543, 573): "A",
    (544, 558): "ð",
    (544, 568): "uùúûü",
    (544, 571): "h",
    (544, 573): "ÀÁÂÃÄÅ",
    (547, 572): "nñ",
    (553, 573): "b",
    (555, 573): "dpqþ",
    (560, 636): "¶",
    (562, 594): "µ",
    (566, 596): "P",
    (569, 613): "R",
    (571, 582): "CÇ",
    (576, 632): "ß",
    (579, 614): "K",
    (583, 617): "Þ",
    (588, 605): "B",
    (609, 667): "&",
    (615, 635): "D",
    (617, 638): "G",
    (619, 617): "\u2191\u2193",
    (637, 682): "\u2122",
    (639, 657): "Ð",
    (645, 665): "UÙÚÛÜ",
    (647, 665): "NÑ",
    (652, 674): "H",
    (664, 684): "OQÒÓÔÕÖØ",
    (719, 776): "w",
    (727, 762): "M",
    (744, 750): "©",
    (778, 781): "æ",
    (781, 809): "¼",
    (786, 813): "W",
    (796, 818): "¾",
    (800, 800): "\u2014",
    (808, 846): "½",
    (822, 845): "Æ",
    (824, 857): "%",
    (829, 857): "m",
    (839, 822): "œ",
    (847, 871): "Œ",
    (847, 902): "@",
    (948, 978): "\u2026",
}
"""(Advance at 400, at 700) -> the letters that have both."""


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


LINE_WIDTH = 880.0
"""Width in pixels at which a sentence is wrapped."""
_LAST_QUARTER = 0.75


class HasWidth(Protocol):
    """A line that has been placed."""

    @property
    def width(self) -> float:
        """Its width in pixels."""


L = TypeVar("L", bound=HasWidth)


def wrapped_lines(
    passing: Sequence[int],
    most: Callable[[int], int],
    place: Callable[[int, int], L],
    reach: Callable[[L, int, int], float],
) -> Iterator[L]:
    """Yield the lines of a sentence.

    Args:
        passing: how many arcs or constituents pass before each word, and after the last.
        most: where a line that begins with a word ends if nothing but words needs room.
        place: returns the line of the words from one to another, without the last.
        reach: of a line, its first word and one before which it may end: how far its words up to there reach.
    """
    start, total = 0, len(passing) - 1
    while start < total:
        stop = most(start)
        line = place(start, stop)
        while line.width > LINE_WIDTH and stop - start > 1:
            fewer = start - int(-(stop - start) * LINE_WIDTH // line.width)
            stop = max(start + 1, min(stop - 1, fewer))
            line = place(start, stop)
        better = stop
        for word in reversed(range(start + 1, stop)) if stop < total else ():
            if reach(line, start, word) < _LAST_QUARTER * LINE_WIDTH:
                break
            if passing[word] < passing[better]:
                better = word
        # What is cut leaves to the edge, which may take more room than before.
        shorter = line if better == stop else place(start, better)
        if shorter.width <= LINE_WIDTH:
            line, stop = shorter, better
        yield line
        start = stop
