"""A table with a column of dots and whiskers on an axis: boards, intervals, one system against all, power.

The axis turns values to pixels and has marks at round values; pages show the dots of a row each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import NamedTuple

from treescore.render import drawing as draw
from treescore.render.drawing import number

TICK_SIZE = 12
"""Size of the type of an axis."""
_ARROW_ROOM = 16
"""Pixels left free at either end for the arrow of a value beyond it."""
_BETWEEN_LABELS = 14
"""Least pixels between two labels."""
_STEPS = (1.0, 2.0, 5.0)
_LARGEST = 1e12
"""Values from here on are not drawn: no score of a metric is as large."""


class Scale(NamedTuple):
    """Maps values to pixels.

    Attributes:
        low, high: the values at its ends.
        left, right: where they are, in pixels.
        width: of the whole axis, with the room at its ends.
        ticks: the values that are marked, and their labels.
    """

    low: float
    high: float
    left: float
    right: float
    width: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Return where a value is; one beyond an end is at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)

    def side(self, value: float) -> int:
        """Return -1 for a value below the axis, 1 for one above it, else 0."""
        return (value > self.high) - (value < self.low)


def scale_of(values: Iterable[float | None], size: float = 190, *, signed: bool = False, zero: bool = False) -> Scale:
    """Return an axis that holds these values, with marks at round ones.

    Args:
        values: as they are shown; others than finite numbers are skipped.
        size: of the axis in pixels.
        signed: whether labels carry a sign: those of differences.
        zero: whether 0 is on the axis in any case.
    """
    known = [value for value in values if value is not None and abs(value) < _LARGEST]
    if zero:
        known.append(0.0)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    least = max(1e-6, 1e-6 * max(abs(low), abs(high)))
    if high - low < least:
        around = max(least, 0.01 * max(abs(low), abs(high)))
        low, high = low - around, high + around
    labels = _mark_labels(low, high, size, signed=signed)
    room = max([_ARROW_ROOM, *(_half(label) for _, label in labels)])
    return Scale(low, high, room, max(size - room, room + 1), size, labels)


def _mark_labels(low: float, high: float, size: float, *, signed: bool) -> tuple[tuple[float, str], ...]:
    """Return as many marks as fit, two to seven."""
    for step in _steps(high - low):
        labels = _at_step(low, high, step, signed=signed)
        widest = max((2 * _half(label) for _, label in labels), default=0)
        inner = size - max(2 * _ARROW_ROOM, widest)
        if len(labels) < 2 or (widest + _BETWEEN_LABELS) * (high - low) <= step * inner:
            return labels
    return ()


def _steps(span: float) -> Iterable[float]:
    """Yield round steps, from a seventh of the span on."""
    power = math.floor(math.log10(span / 7)) - 1
    for exponent in range(power, power + 5):
        for factor in _STEPS:
            step = float(f"{factor}e{exponent}")
            if span / 7 <= step <= span:
                yield step


def _at_step(low: float, high: float, step: float, *, signed: bool) -> tuple[tuple[float, str], ...]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = next((count for count in range(12) if abs(step - round(step, count)) < step * 1e-6), 12)
    marks = [float(f"{number * step:.12g}") for number in range(first, last + 1)]
    return tuple((mark, _mark_label(mark, decimals, signed=signed)) for mark in marks)


def _mark_label(value: float, decimals: int, *, signed: bool) -> str:
    if value == 0:
        return "0"
    words = f"{abs(value):.{decimals}f}"
    return f"{'−' if value < 0 else '+' if signed else ''}{words}"


def _half(label: str) -> float:
    return draw.width(label, TICK_SIZE) / 2


MARK_ROW_HEIGHT = 26
"""Height of the picture of one row."""
AXIS = 16
"""Height of an axis's labels."""
RADIUS = 3.6
_WHISKER = 1.5


def in_units(factor: float, values: Iterable[float | None]) -> list[float | None]:
    """Return values in the unit of an axis."""
    return [None if value is None else factor * value for value in values]


class Mark(NamedTuple):
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

    def in_units(self, factor: float) -> Mark:
        """Return the mark of a score's values in the unit of an axis."""
        value, low, high = in_units(factor, (self.value, self.low, self.high))
        return self._replace(value=value, low=low, high=high)


def axis_svg(scale: Scale, left: str = "", right: str = "") -> str:
    """Return the labels of an axis, for the head of a column; above them what each side of 0 is, where it has room."""
    elements, zero, height = draw.Elements(), scale.at(0), 2 * AXIS if left else AXIS
    for words, room, anchor in ((left, zero, draw.END), (right, scale.width - zero, draw.START)):
        if words and room > draw.width(words, TICK_SIZE) + AXIS:
            x = zero + (AXIS / 2 if anchor == draw.START else -AXIS / 2)
            elements.text(x, 12, words, size=TICK_SIZE, text_anchor=anchor, fill=draw.SOFT, class_="tick")
    draw_axis(elements, scale, 0, height - 4)
    return elements.beside_words(scale.width, height, "axis")


def interval_bar_svg(scale: Scale, mark: Mark) -> str:
    """Return the picture of one row on the axis of its column; a value beyond the axis is an arrow at its end."""
    elements = draw.Elements()
    draw_grid(elements, scale, 0, 0, MARK_ROW_HEIGHT)
    draw_mark(elements, scale, mark, 0, MARK_ROW_HEIGHT / 2)
    return elements.beside_words(scale.width, MARK_ROW_HEIGHT, "bar")


_STRIP_ROW, _STRIP_HIGH, _STRIP_RADIUS = 5.0, 110.0, 2.4
"""Pixels of a row of a strip, of all its rows at most, and of its dots."""


def strip_svg(scale: Scale, marks: Sequence[Mark], name: str) -> str:
    """Return a small picture of many rows on one axis, the first of them named; words beside it say the same."""
    elements = draw.Elements()
    top, step = AXIS + 2, min(_STRIP_ROW, _STRIP_HIGH / max(1, len(marks)))
    bottom = top + step * (len(marks) + 1)
    draw_grid(elements, scale, 0, top, bottom)
    for row, mark in enumerate(marks, 1):
        draw_mark(elements, scale, mark, 0, top + step * row, _STRIP_RADIUS)
    draw_axis(elements, scale, 0, bottom + 12)
    at = scale.at(marks[0].value or 0.0)
    left = at > scale.width / 2
    words = draw.shortened(name, at if left else scale.width - at, draw.SMALL)
    elements.text(at, 12, words, size=draw.SMALL, text_anchor=draw.END if left else draw.START, class_="lab")
    return elements.beside_words(scale.width, bottom + AXIS, "strip")


def dot_svg(*, filled: bool) -> str:
    """Return a dot of 12 pixels, for a legend within a line of text."""
    elements = draw.Elements()
    _dot(elements, 6, 6, Mark(0.0, filled=filled), 4)
    return elements.beside_words(12, 12, "mk")


SHARE_WIDTH, SHARE_HEIGHT = 72, 10


def share_svg(share: float) -> str:
    """Return a share of 1 as a bar in a frame, for a cell beside its figure."""
    elements = draw.Elements()
    elements.add("rect", width=SHARE_WIDTH, height=SHARE_HEIGHT, class_="room", fill=draw.LINE_COLOUR)
    elements.add("rect", width=SHARE_WIDTH * share, height=SHARE_HEIGHT, class_="off", fill=draw.SOFT)
    return elements.beside_words(SHARE_WIDTH, SHARE_HEIGHT, "bar")


TREND_WIDTH, TREND_HEIGHT = 240, 48


def trend_svg(points: Iterable[tuple[float, float]]) -> str:
    """Return scores over time as a line with a dot for each, the latest filled.

    Args:
        points: moment and score of each, two or more.
    """
    ordered = sorted(points)
    times, values = zip(*ordered, strict=True)
    room = 2 * RADIUS
    across, up = _spread(times, TREND_WIDTH - 2 * room), _spread(values, TREND_HEIGHT - 2 * room)
    placed = [(room + x, TREND_HEIGHT - room - y) for x, y in zip(across, up, strict=True)]
    elements = draw.Elements()
    elements.path("M" + "L".join(f"{number(x)} {number(y)}" for x, y in placed), class_="ci", stroke=draw.SOFT)
    for x, y in placed[:-1]:
        _dot(elements, x, y, Mark(0.0, filled=False), 2.5)
    _dot(elements, *placed[-1], Mark(0.0), RADIUS)
    return elements.beside_words(TREND_WIDTH, TREND_HEIGHT, "trend")


GROUPS_LEFT, GROUPS_WIDTH, GROUPS_HEIGHT = 44, 520, 160
"""Pixels: left of the lines stand the figures of the scale, below them the groups."""


def groups_svg(groups: Sequence[str], lines: Sequence[Sequence[float | None]], title: str, description: str) -> str:
    """Return figures of groups that have an order, such as lengths, as a picture with a scale at its left.

    Args:
        groups: their names, in order.
        lines: a figure of each group, None where it has none: of the first with filled dots, of others dashed with
            hollow ones.
        title: of the picture.
        description: of it, for those who do not see it.
    """
    picture = draw.Drawing("lengths", title, description)
    scale = scale_of([value for line in lines for value in line if value is not None], GROUPS_HEIGHT)
    step = GROUPS_WIDTH / len(groups)
    for value, label in scale.ticks:
        y = GROUPS_HEIGHT - scale.at(value)
        picture.path(f"M{GROUPS_LEFT} {number(y)}h{GROUPS_WIDTH}", class_="grid", stroke=draw.LINE_COLOUR)
        picture.text(GROUPS_LEFT - 6, y + 4, label, size=TICK_SIZE, text_anchor="end", fill=draw.SOFT, class_="tick")
    places = [GROUPS_LEFT + step * (at + 0.5) for at in range(len(groups))]
    every = math.ceil((max(draw.width(group, TICK_SIZE) for group in groups) + 8) / step)  # one of so many has room
    for x, group in list(zip(places, groups, strict=True))[::every]:
        picture.text(
            x, GROUPS_HEIGHT + 12, group, size=TICK_SIZE, text_anchor=draw.MIDDLE, fill=draw.SOFT, class_="tick"
        )
    for at, line in reversed(list(enumerate(lines))):
        placed = [(x, GROUPS_HEIGHT - scale.at(y)) for x, y in zip(places, line, strict=True) if y is not None]
        if placed:
            path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in placed)
            picture.path(path, class_="ci", stroke=draw.INK, stroke_dasharray=draw.DASH if at else None)
        for x, y in placed:
            _dot(picture, x, y, Mark(0.0, filled=not at), RADIUS)
    return picture.svg(GROUPS_LEFT + GROUPS_WIDTH, GROUPS_HEIGHT + 20)


def _spread(values: Sequence[float], room: float) -> list[float]:
    """Return where values are within a room, the smallest at its beginning."""
    low, span = min(values), max(values) - min(values)
    return [room * (value - low) / span if span else 0.0 for value in values]


def draw_axis(elements: draw.Elements, scale: Scale, x: float, y: float) -> None:
    """Draw labels whose base line is at y, for an axis that begins at x."""
    for value, label in scale.ticks:
        elements.text(
            x + scale.at(value), y, label, size=TICK_SIZE, text_anchor=draw.MIDDLE, fill=draw.SOFT, class_="tick"
        )


def draw_grid(elements: draw.Elements, scale: Scale, x: float, top: float, bottom: float) -> None:
    """Draw a line down from each label; that of 0 is darker where values lie on both sides of it."""
    for value, _ in scale.ticks:
        zero = value == 0 and scale.low < 0
        line = f"M{number(x + scale.at(value))} {number(top)}V{number(bottom)}"
        elements.path(line, class_="zero" if zero else "grid", stroke=draw.RULE if zero else draw.LINE_COLOUR)


def draw_mark(elements: draw.Elements, scale: Scale, mark: Mark, x: float, y: float, radius: float = RADIUS) -> None:
    """Draw the dot and the whisker of a row whose middle is at y."""
    if mark.value is None:
        return
    if side := scale.side(mark.value):
        _arrow(elements, x, y, scale.width, side)
        return
    if mark.low is not None and mark.high is not None:
        ends = [number(x + scale.at(bound)) for bound in (mark.low, mark.high)]
        elements.path(f"M{ends[0]} {number(y)}H{ends[1]}", class_="ci", stroke=draw.INK, stroke_width=_WHISKER)
    if mark.limit is not None and not scale.side(mark.limit):
        at = number(x + scale.at(mark.limit))
        elements.path(f"M{at} {number(y - 6)}V{number(y + 6)}", class_="ci", stroke=draw.INK, stroke_width=_WHISKER)
    _dot(elements, x + scale.at(mark.value), y, mark, radius)


def _dot(elements: draw.Elements, x: float, y: float, mark: Mark, radius: float) -> None:
    look = (
        {"class_": "pt", "fill": draw.INK}
        if mark.filled
        else {"class_": "pt ho", "fill": draw.PAPER, "stroke": draw.INK, "stroke_width": _WHISKER}
    )
    if mark.diamond:
        r = number(radius * 1.3)
        elements.path(f"M{number(x)} {number(y - radius * 1.3)}l{r} {r}l-{r} {r}l-{r} -{r}z", **look)
    else:
        elements.add("circle", cx=x, cy=y, r=radius, **look)


def _arrow(elements: draw.Elements, x: float, y: float, width: float, side: int) -> None:
    """Draw an arrow at the end of the axis beyond which a value lies."""
    tip = x + (5 if side < 0 else width - 5)
    back = number(tip - 6 * side)
    elements.path(
        f"M{back} {number(y - 4)}L{number(tip)} {number(y)}L{back} {number(y + 4)}z", class_="off", fill=draw.SOFT
    )


DOT_ROW_HEIGHT = 27
_COLUMN_GAP = 24
_HEAD = 38
_HEADING = 40
"""Height of a line of words between rows."""
_NARROWEST_DOTS = 560
_HEAD_LOOK = draw.Look(size=12, tone=draw.SOFT)


class DotColumn(NamedTuple):
    """One column of texts.

    Attributes:
        head: its name.
        right: whether its cells end at its right edge, as figures do.
        bold, soft: how its cells look.
        warns: whether its cells say that something is missing.
        most: pixels that it takes at most; longer texts are shortened.
    """

    head: str
    right: bool = False
    bold: bool = False
    soft: bool = False
    warns: bool = False
    most: float = 240


class DotRow(NamedTuple):
    """One row of the table, or words between rows.

    Attributes:
        cells: texts, one for each column.
        mark: what is drawn of it; None draws nothing.
        ruled: whether a line is drawn above it.
        italic: whether its texts are slanted, as those of baselines are.
        bold: whether cells of bold columns are bold.
        heading: words that replace the cells.
    """

    cells: Sequence[str] = ()
    mark: Mark | None = None
    ruled: bool = False
    italic: bool = False
    bold: bool = True
    heading: str = ""


class DotTable(NamedTuple):
    """What is drawn.

    Attributes:
        title: of the picture.
        above, below: paragraphs.
        columns: of texts; those whose cells are all empty are not drawn.
        lines: rows and headings, from the top.
        scale: the axis of the dots.
        dots_after: how many columns stand left of the dots.
        axis_words: what the axis shows; empty says nothing.
    """

    title: str
    above: Sequence[str]
    columns: Sequence[DotColumn]
    lines: Sequence[DotRow]
    scale: Scale
    dots_after: int
    axis_words: str = ""
    below: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Placed:
    """A column with its place: where it begins, and its width."""

    index: int
    column: DotColumn
    x: float
    room: float


def dot_table(drawing: draw.Drawing, table: DotTable) -> str:
    """Draw the table and return the picture."""
    placed, dots, right = _places(table)
    room = max(right, _NARROWEST_DOTS) - draw.MARGIN
    y = draw.heading(drawing, table.title, table.above, room) + _HEAD
    if table.axis_words:
        y += 16
        draw.put(drawing, dots, y - 21, table.axis_words, _HEAD_LOOK)
    for each in placed:
        x, anchor = (each.x + each.room, draw.END) if each.column.right else (each.x, draw.START)
        draw.put(drawing, x, y - 7, each.column.head, _HEAD_LOOK._replace(anchor=anchor))
    draw_axis(drawing, table.scale, dots, y - 7)
    bottom = _draw_lines(drawing, table, (placed, dots, right), y)
    _rule(drawing, right, y, draw.RULE)
    _rule(drawing, right, bottom, draw.RULE)
    end = bottom + 6
    for words in table.below:
        end = draw.paragraph(drawing, end + 4, words, room)
    return drawing.svg(max(right, _NARROWEST_DOTS) + draw.MARGIN, end + draw.MARGIN)


def _places(table: DotTable) -> tuple[list[_Placed], float, float]:
    """Return the columns, where the dots begin and where the table ends."""
    x: float = draw.MARGIN
    placed: list[_Placed] = []
    dots = x
    for index, column in enumerate(table.columns):
        if index == table.dots_after:
            dots, x = x, x + table.scale.width + _COLUMN_GAP
        cells = [line.cells[index] for line in table.lines if line.cells]
        if not any(cells):
            continue
        weight = draw.BOLD if column.bold else draw.NORMAL
        room = max(draw.room_of(cells, draw.SMALL, weight, most=column.most), draw.room_of([column.head], 12))
        placed.append(_Placed(index, column, x, room))
        x += room + _COLUMN_GAP
    if table.dots_after >= len(table.columns):
        dots, x = x, x + table.scale.width + _COLUMN_GAP
    return placed, dots, max(x - _COLUMN_GAP, dots + draw.room_of([table.axis_words], 12, most=10_000))


def _draw_lines(drawing: draw.Drawing, table: DotTable, places: tuple[list[_Placed], float, float], y: float) -> float:
    """Draw the grid, then the rows over it, and return where they end."""
    placed, dots, right = places
    tops = list(accumulate((_HEADING if line.heading else DOT_ROW_HEIGHT for line in table.lines), initial=y))
    for rows, run in groupby(zip(table.lines, tops, strict=False), lambda each: not each[0].heading):
        begins = [top for _, top in run]
        if rows:
            draw_grid(drawing, table.scale, dots, begins[0], begins[-1] + DOT_ROW_HEIGHT)
    for line, top in zip(table.lines, tops, strict=False):
        if line.heading or line.ruled:
            _rule(drawing, right, top, draw.CLUSTER)
        if line.heading:
            draw.put(drawing, draw.MARGIN, top + _HEADING - 10, line.heading, _HEAD_LOOK, right - draw.MARGIN)
            continue
        _draw_row_cells(drawing, placed, line, top + DOT_ROW_HEIGHT / 2 + 4.5)
        if line.mark is not None:
            draw_mark(drawing, table.scale, line.mark, dots, top + DOT_ROW_HEIGHT / 2)
    return tops[-1]


def _draw_row_cells(drawing: draw.Drawing, placed: Iterable[_Placed], line: DotRow, y: float) -> None:
    for each in placed:
        words = line.cells[each.index]
        if not words:
            continue
        column = each.column
        x, anchor = (each.x + each.room, draw.END) if column.right else (each.x, draw.START)
        weight = draw.BOLD if column.bold and line.bold else draw.NORMAL
        tone = draw.WRONG_COLOUR if column.warns else draw.SOFT if column.soft else draw.INK
        look = draw.Look(weight=weight, anchor=anchor, tone=tone, italic=line.italic and not column.right)
        draw.put(drawing, x, y, words, look, each.room)


def _rule(drawing: draw.Drawing, right: float, y: float, stroke: str) -> None:
    drawing.path(
        f"M{draw.MARGIN} {number(y)}H{number(right)}", class_="zero" if stroke == draw.RULE else "cut", stroke=stroke
    )
