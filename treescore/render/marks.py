"""Dots with whiskers on an axis: one row of a table each, or all rows of a picture."""

from __future__ import annotations

from dataclasses import dataclass

from treescore.render.drawing import INK, LINE_COLOUR, MIDDLE, PAPER, RULE, SOFT, Elements, number
from treescore.render.scale import TICK_SIZE, Scale

MARK_ROW_HEIGHT = 26
"""Height of the picture of one row."""
AXIS = 16
"""Height of an axis's labels."""
RADIUS = 3.6
_WHISKER = 1.5


@dataclass(frozen=True, slots=True)
class Mark:
    """What is drawn of one row.

    Attributes:
        value: where the dot is; None draws the axis alone.
        low, high: ends of the whisker; None draws none.
        filled: False for what is not significant.
        diamond: whether the dot has corners, as baselines have.
        limit: a value that a short line across marks.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    filled: bool = True
    diamond: bool = False
    limit: float | None = None


def axis_svg(scale: Scale) -> str:
    """Return the labels of an axis, for the head of a column."""
    elements = Elements()
    draw_axis(elements, scale, 0, 12)
    return elements.beside_words(scale.width, AXIS, "axis")


def interval_bar_svg(scale: Scale, mark: Mark) -> str:
    """Return the picture of one row on the axis of its column; a value beyond the axis is an arrow at its end."""
    elements = Elements()
    draw_grid(elements, scale, 0, 0, MARK_ROW_HEIGHT)
    draw_mark(elements, scale, mark, 0, MARK_ROW_HEIGHT / 2)
    return elements.beside_words(scale.width, MARK_ROW_HEIGHT, "bar")


def dot_svg(*, filled: bool) -> str:
    """Return a dot of 12 pixels, for a legend within a line of text."""
    elements = Elements()
    _dot(elements, 6, 6, Mark(0.0, filled=filled), 4)
    return elements.beside_words(12, 12, "mk")


def draw_axis(elements: Elements, scale: Scale, x: float, y: float) -> None:
    """Draw labels whose base line is at y, for an axis that begins at x."""
    for value, label in scale.ticks:
        elements.text(x + scale.at(value), y, label, size=TICK_SIZE, text_anchor=MIDDLE, fill=SOFT, class_="tick")


def draw_grid(elements: Elements, scale: Scale, x: float, top: float, bottom: float) -> None:
    """Draw a line down from each label; that of 0 is darker where values lie on both sides of it."""
    for value, _ in scale.ticks:
        zero = value == 0 and scale.low < 0
        line = f"M{number(x + scale.at(value))} {number(top)}V{number(bottom)}"
        elements.path(line, class_="zero" if zero else "grid", stroke=RULE if zero else LINE_COLOUR)


def draw_mark(elements: Elements, scale: Scale, mark: Mark, x: float, y: float) -> None:
    """Draw the dot and the whisker of a row whose middle is at y."""
    if mark.value is None:
        return
    if side := scale.side(mark.value):
        _arrow(elements, x, y, scale.width, side)
        return
    if mark.low is not None and mark.high is not None:
        ends = [number(x + scale.at(bound)) for bound in (mark.low, mark.high)]
        elements.path(f"M{ends[0]} {number(y)}H{ends[1]}", class_="ci", stroke=INK, stroke_width=_WHISKER)
    if mark.limit is not None and not scale.side(mark.limit):
        at = number(x + scale.at(mark.limit))
        elements.path(f"M{at} {number(y - 6)}V{number(y + 6)}", class_="ci", stroke=INK, stroke_width=_WHISKER)
    _dot(elements, x + scale.at(mark.value), y, mark, RADIUS)


def _dot(elements: Elements, x: float, y: float, mark: Mark, radius: float) -> None:
    look = (
        {"class_": "pt", "fill": INK}
        if mark.filled
        else {"class_": "pt ho", "fill": PAPER, "stroke": INK, "stroke_width": _WHISKER}
    )
    if mark.diamond:
        r = number(radius * 1.3)
        elements.path(f"M{number(x)} {number(y - radius * 1.3)}l{r} {r}l-{r} {r}l-{r} -{r}z", **look)
    else:
        elements.add("circle", cx=x, cy=y, r=radius, **look)


def _arrow(elements: Elements, x: float, y: float, width: float, side: int) -> None:
    """Draw an arrow at the end of the axis beyond which a value lies."""
    tip = x + (5 if side < 0 else width - 5)
    back = number(tip - 6 * side)
    elements.path(f"M{back} {number(y - 4)}L{number(tip)} {number(y)}L{back} {number(y + 4)}z", class_="off", fill=SOFT)
