"""Lay out the words of a picture: titles, paragraphs and legends above and below what is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from treescore.core.one_line import clean
from treescore.render.drawing import INK, SOFT, START, WRONG_COLOUR, Drawing, number
from treescore.render.letters import BOLD, NORMAL, shortened, width

MARGIN = 24
"""Pixels left free around a picture."""
SLACK = 1.12
"""Room that is kept for a text in a column, of its width: other fonts that stand in for Source Sans are wider."""
_LINE_SLACK = 1.28
"""The same for lines of paragraphs, which have no gap beside them: DejaVu Sans is wider by a quarter."""
TITLE_SIZE = 17
SMALL = 13


def room_of(texts: Iterable[str], size: float = SMALL, weight: int = NORMAL, *, most: float = 240) -> float:
    """Return the width of a column of texts, each on one line, and never more than the most."""
    return min(most, max((SLACK * width(clean(text), size, weight) for text in texts), default=0.0))


@dataclass(frozen=True, slots=True)
class Look:
    """How a text is drawn.

    Attributes:
        size: of the type.
        weight: NORMAL or BOLD.
        anchor: which end stands at x.
        tone: INK, SOFT, or WRONG for what is missing.
        italic: whether it is slanted.
        turned: whether it reads from the bottom to the top.
    """

    size: float = SMALL
    weight: int = NORMAL
    anchor: str = START
    tone: str = INK
    italic: bool = False
    turned: bool = False


PLAIN = Look()
_CLASSES = {INK: "lab", SOFT: "soft", WRONG_COLOUR: "bad"}


def put(drawing: Drawing, x: float, y: float, words: str, look: Look = PLAIN, room: float | None = None) -> None:
    """Draw a text at a place on its base line.

    Args:
        drawing: to which it is added.
        x: of the end that its look names.
        y: of its base line.
        words: one line.
        look: of the text.
        room: pixels that it has; a text that is wider is shortened, and shows the whole where a pointer rests on it.
    """
    whole = clean(words)
    shown = whole if room is None else shortened(whole, room / SLACK + 0.01, look.size, look.weight)
    drawing.text(
        x, y, shown, size=look.size, tip=whole if shown != whole else None, class_=_CLASSES[look.tone],
        fill=look.tone, text_anchor=None if look.anchor == START else look.anchor,
        font_weight="600" if look.weight == BOLD else None, font_style="italic" if look.italic else None,
        transform=f"rotate(-90 {number(x)} {number(y)})" if look.turned else None,
    )  # fmt: skip


def paragraph(drawing: Drawing, y: float, words: str, room: float) -> float:
    """Draw a text in lines of this width below y, and return where the last one ends."""
    for line in wrapped_words(clean(words), room / _LINE_SLACK, SMALL):
        y += 1.45 * SMALL
        put(drawing, MARGIN, y, line, Look(tone=SOFT))
    return y


def wrapped_words(words: str, room: float, size: float) -> list[str]:
    """Break a text into lines of this width; a word that is wider is broken too."""
    lines: list[str] = []
    line, used = "", 0.0
    blank = width(" ", size)
    for word in _pieces(words, room, size):
        wide = width(word, size)
        if line and used + blank + wide > room:
            lines.append(line)
            line, used = word, wide
        else:
            used += (blank if line else 0.0) + wide
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines


def _pieces(words: str, room: float, size: float) -> Iterable[str]:
    for word in words.split():
        while width(word, size) > room:
            kept = max(1, len(shortened(word, room, size)) - 1)
            yield word[:kept]
            word = word[kept:]  # noqa: PLW2901 - what is left of it
        if word:
            yield word


def heading(drawing: Drawing, title: str, below: Iterable[str], room: float, top: float = MARGIN) -> float:
    """Draw the title of a picture and what is said under it, and return where it ends."""
    y = top + TITLE_SIZE * 0.8
    put(drawing, MARGIN, y, title, Look(size=TITLE_SIZE, weight=BOLD), room)
    for words in below:
        y = paragraph(drawing, y + 2, words, room)
    return y
