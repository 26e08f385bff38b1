"""A table with a column of dots and whiskers: boards, intervals, one system against all, power."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from treescore.render.drawing import CLUSTER, END, INK, RULE, SOFT, START, WRONG_COLOUR, Drawing, number
from treescore.render.letters import BOLD, NORMAL
from treescore.render.marks import Mark, draw_axis, draw_grid, draw_mark
from treescore.render.scale import Scale
from treescore.render.sheet import MARGIN, SMALL, Look, heading, paragraph, put, room_of

DOT_ROW_HEIGHT = 27
_COLUMN_GAP = 24
_HEAD = 38
_HEADING = 40
"""Height of a line of words between rows."""
_NARROWEST_DOTS = 560
_HEAD_LOOK = Look(size=12, tone=SOFT)


@dataclass(frozen=True, slots=True)
class DotColumn:
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


@dataclass(frozen=True, slots=True)
class DotRow:
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


@dataclass(frozen=True, slots=True)
class DotTable:
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


def dot_table(drawing: Drawing, table: DotTable) -> str:
    """Draw the table and return the picture."""
    placed, dots, right = _places(table)
    room = max(right, _NARROWEST_DOTS) - MARGIN
    y = heading(drawing, table.title, table.above, room) + _HEAD
    if table.axis_words:
        y += 16
        put(drawing, dots, y - 21, table.axis_words, _HEAD_LOOK)
    _draw_column_heads(drawing, placed, y)
    draw_axis(drawing, table.scale, dots, y - 7)
    bottom = _draw_lines(drawing, table, (placed, dots, right), y)
    _rule(drawing, right, y, RULE)
    _rule(drawing, right, bottom, RULE)
    end = bottom + 6
    for words in table.below:
        end = paragraph(drawing, end + 4, words, room)
    return drawing.svg(max(right, _NARROWEST_DOTS) + MARGIN, end + MARGIN)


def _places(table: DotTable) -> tuple[list[_Placed], float, float]:
    """Return the columns, where the dots begin and where the table ends."""
    x: float = MARGIN
    placed: list[_Placed] = []
    dots = x
    for index, column in enumerate(table.columns):
        if index == table.dots_after:
            dots, x = x, x + table.scale.width + _COLUMN_GAP
        cells = [line.cells[index] for line in table.lines if line.cells]
        if not any(cells):
            continue
        weight = BOLD if column.bold else NORMAL
        room = max(room_of(cells, SMALL, weight, most=column.most), room_of([column.head], 12))
        placed.append(_Placed(index, column, x, room))
        x += room + _COLUMN_GAP
    if table.dots_after >= len(table.columns):
        dots, x = x, x + table.scale.width + _COLUMN_GAP
    words = room_of([table.axis_words], 12, most=10_000)
    return placed, dots, max(x - _COLUMN_GAP, dots + words)


def _draw_column_heads(drawing: Drawing, placed: Iterable[_Placed], y: float) -> None:
    for each in placed:
        x, anchor = (each.x + each.room, END) if each.column.right else (each.x, START)
        put(drawing, x, y - 7, each.column.head, replace(_HEAD_LOOK, anchor=anchor))


def _draw_lines(drawing: Drawing, table: DotTable, places: tuple[list[_Placed], float, float], y: float) -> float:
    """Draw the grid, then the rows over it, and return where they end."""
    placed, dots, right = places
    tops = list(accumulate(map(_height, table.lines), initial=y))
    for rows, run in groupby(zip(table.lines, tops, strict=False), lambda each: not each[0].heading):
        begins = [top for _, top in run]
        if rows:
            draw_grid(drawing, table.scale, dots, begins[0], begins[-1] + DOT_ROW_HEIGHT)
    for line, top in zip(table.lines, tops, strict=False):
        if line.heading or line.ruled:
            _rule(drawing, right, top, CLUSTER)
        if line.heading:
            put(drawing, MARGIN, top + _HEADING - 10, line.heading, _HEAD_LOOK, right - MARGIN)
            continue
        _draw_row_cells(drawing, placed, line, top + DOT_ROW_HEIGHT / 2 + 4.5)
        if line.mark is not None:
            draw_mark(drawing, table.scale, line.mark, dots, top + DOT_ROW_HEIGHT / 2)
    return tops[-1]


def _height(line: DotRow) -> float:
    return _HEADING if line.heading else DOT_ROW_HEIGHT


def _draw_row_cells(drawing: Drawing, placed: Iterable[_Placed], line: DotRow, y: float) -> None:
    for each in placed:
        words = line.cells[each.index]
        if not words:
            continue
        column = each.column
        x, anchor = (each.x + each.room, END) if column.right else (each.x, START)
        weight = BOLD if column.bold and line.bold else NORMAL
        tone = WRONG_COLOUR if column.warns else SOFT if column.soft else INK
        look = Look(weight=weight, anchor=anchor, tone=tone, italic=line.italic and not column.right)
        put(drawing, x, y, words, look, each.room)


def _rule(drawing: Drawing, right: float, y: float, stroke: str) -> None:
    drawing.path(f"M{MARGIN} {number(y)}H{number(right)}", class_="zero" if stroke == RULE else "cut", stroke=stroke)
