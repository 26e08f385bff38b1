"""A heat map of pairs: the row's system against the column's, whose names stand on the diagonal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from treescore.render.chart_words import MISSING, interval_words, p_words, signed_words, value_words
from treescore.render.crosstable import Cell, CrossTable
from treescore.render.drawing import END, INK, LINE_COLOUR, MIDDLE, PAPER, SOFT, Drawing, number
from treescore.render.letters import BOLD, NORMAL, width
from treescore.render.shades import COLOURS, P_STEPS, shade_of_p
from treescore.render.sheet import MARGIN, SLACK, SMALL, Look, put, room_of

MOST_WORDED = 30
"""Largest number of systems for which the cells show figures."""
_CELL_SIZE = 12
"""Of the type in cells."""
_WORDED_HEIGHT = 38
_PLAIN_SIDE = 14
_NAMES_SIZE = 11
"""Of the type of names beside small cells."""
_BESIDE = 8
"""Pixels between a name and the first cell of its row."""
_SWATCH = 16
_ITEM_GAP = 20


@dataclass(frozen=True, slots=True)
class PairMap:
    """Where everything stands.

    Attributes:
        table: the pairs.
        left: of the first column.
        wide, high: a cell.
        right: edge of the map.
    """

    table: CrossTable
    left: float
    wide: float
    high: float
    right: float

    @property
    def worded(self) -> bool:
        """Whether cells show figures."""
        return len(self.table.systems) <= MOST_WORDED

    def corner(self, at: tuple[int, int], top: float) -> tuple[float, float]:
        """Return the upper left corner of a pair's cell."""
        return self.left + (at[1] - 1) * self.wide, top + at[0] * self.high


def pair_map(table: CrossTable) -> PairMap:
    """Lay out the pairs of a comparison."""
    count = len(table.systems)
    worded = count <= MOST_WORDED
    wide, high = (_cell_width(table), float(_WORDED_HEIGHT)) if worded else (float(_PLAIN_SIDE),) * 2
    rooms = [room_of(words, size, most=220) for words, size in _system_labels(table, worded=worded)]
    left = max((MARGIN + room + _BESIDE - row * wide for row, room in enumerate(rooms)), default=float(MARGIN))
    left = max(left, MARGIN + _BESIDE)
    return PairMap(table, left, wide, high, left + max(0, count - 1) * wide)


def draw_pair_map(drawing: Drawing, drawn: PairMap, top: float, room: float) -> float:
    """Draw the map below `top` with its legend, and return where it ends."""
    _draw_shades(drawing, drawn, top)
    if drawn.worded:
        _draw_words(drawing, drawn, top)
    else:
        _draw_dots(drawing, drawn, top)
    _draw_names(drawing, drawn, top)
    _draw_clusters(drawing, drawn, top)
    bottom = top + len(drawn.table.systems) * drawn.high
    return _draw_legend(drawing, drawn.table, bottom + 24, room)


def _system_labels(table: CrossTable, *, worded: bool) -> Iterator[tuple[list[str], float]]:
    """Yield the lines of each system's label, with the size of their type."""
    for name, system in zip(table.names, table.systems, strict=True):
        score = value_words(system["score"], table.figures)
        yield ([name, score], SMALL) if worded else ([f"{name}  {score}"], _NAMES_SIZE)


def _cell_width(table: CrossTable) -> float:
    words = [each for cell in table.cells.values() for each in _cell_words(table, cell)]
    return max(46.0, max((SLACK * width(each, _CELL_SIZE, BOLD) for each in words), default=0.0) + 20)


def _cell_words(table: CrossTable, cell: Cell) -> tuple[str, str]:
    """Return the difference of a pair, and its p, or its interval where it has none."""
    second = interval_words(cell.low, cell.high, table.figures, signed=True) if cell.p is None else p_words(cell.p)
    return signed_words(cell.difference, table.figures), second


def _draw_shades(drawing: Drawing, drawn: PairMap, top: float) -> None:
    """Fill the cells by p, and hatch those in which the column's system is significantly better."""
    by_shade: dict[str | None, list[tuple[float, float]]] = {}
    hatched = []
    for at, cell in sorted(drawn.table.cells.items()):
        corner = drawn.corner(at, top)
        by_shade.setdefault(shade_of_p(cell.p), []).append(corner)
        if cell.significant and cell.winner == "column":
            hatched.append(corner)
    wide, high = drawn.wide - 1, drawn.high - 1
    for shade, corners in sorted(by_shade.items(), key=lambda each: each[0] or "e"):
        if shade is None:
            inner = [(x + 0.5, y + 0.5) for x, y in corners]
            drawing.cells(inner, wide - 1, high - 1, class_="grid", fill="none", stroke=LINE_COLOUR)
        else:
            drawing.cells(corners, wide, high, class_=shade, fill=COLOURS[shade])
    if hatched:
        drawing.cells(hatched, wide, high, fill=drawing.hatch())


def _draw_words(drawing: Drawing, drawn: PairMap, top: float) -> None:
    """Write each pair: bold where it is significant, with an arrow to the better system, a dash without figures."""
    texts: dict[tuple[int, bool], list[tuple[float, float, str]]] = {}
    arrows = []
    cells = drawn.table.cells
    for at, cell in sorted(cells.items()):
        x, y = drawn.corner(at, top)
        middle = x + (drawn.wide - 1) / 2
        hatched = cell.significant and cell.winner == "column"
        first, second = _cell_words(drawn.table, cell)
        texts.setdefault((BOLD if cell.significant else NORMAL, hatched), []).append((middle, y + 17, first))
        texts.setdefault((NORMAL, hatched), []).append((middle, y + 32, second))
        if cell.winner == "row":
            arrows.append(f"M{number(x + 8)} {number(y + 9)}v8l-5 -4z")
        elif cell.winner == "column":
            arrows.append(f"M{number(x + 3)} {number(y + 15)}h8l-4 -6z")
    missing = [drawn.corner(at, top) for at in combinations(range(len(drawn.table.systems)), 2) if at not in cells]
    if missing:
        placed = [(x + (drawn.wide - 1) / 2, y + 24, MISSING) for x, y in missing]
        drawing.texts(placed, class_="soft", font_size=_CELL_SIZE, text_anchor=MIDDLE, fill=SOFT)
    if arrows:
        drawing.path("".join(arrows), class_="off", fill=SOFT)
    for (weight, hatched), placed in sorted(texts.items()):
        drawing.texts(
            placed, class_="lab rel" if hatched else "lab", font_size=_CELL_SIZE, text_anchor=MIDDLE,
            font_weight="600" if weight == BOLD else None, stroke=PAPER if hatched else None,
            stroke_width=3 if hatched else None, paint_order="stroke" if hatched else None,
        )  # fmt: skip


def _draw_dots(drawing: Drawing, drawn: PairMap, top: float) -> None:
    """Mark the significant pairs of a map that is too fine for figures."""
    places = [drawn.corner(at, top) for at, cell in sorted(drawn.table.cells.items()) if cell.significant]
    _dots(drawing, [(x + (drawn.wide - 1) / 2, y + (drawn.high - 1) / 2) for x, y in places])


def _dots(drawing: Drawing, places: Iterable[tuple[float, float]]) -> None:
    d = "".join(f"M{number(x)} {number(y)}h0" for x, y in places)
    if d:
        drawing.path(d, class_="sig", stroke=INK, stroke_width=4, stroke_linecap="round")


def _draw_names(drawing: Drawing, drawn: PairMap, top: float) -> None:
    """Write each system on the diagonal: left of its row's cells and below its column's."""
    for row, (lines, size) in enumerate(_system_labels(drawn.table, worded=drawn.worded)):
        right = drawn.left + row * drawn.wide - _BESIDE
        y = top + row * drawn.high + (16 if drawn.worded else drawn.high - 3)
        for index, words in enumerate(lines):
            look = Look(size=size - index, anchor=END, tone=SOFT if index else INK)
            put(drawing, right, y + 15 * index, words, look, right - MARGIN)


def _draw_clusters(drawing: Drawing, drawn: PairMap, top: float) -> None:
    """Draw lines between clusters: no pair left of and below them is of two clusters."""
    for row in range(1, len(drawn.table.systems)):
        if drawn.table.boundary_above(row):
            x, y = drawn.left + (row - 1) * drawn.wide - 0.5, top + row * drawn.high - 0.5
            line = f"M{number(drawn.right)} {number(y)}H{number(x)}V{number(top)}"
            drawing.path(line, class_="ci", stroke=INK, stroke_width=1.5)


def _draw_legend(drawing: Drawing, table: CrossTable, top: float, room: float) -> float:
    """Draw what shades and marks mean, in as many lines as it takes, and return where they end."""
    x, y = float(MARGIN), top
    for kind, words in _pair_map_legend(table):
        needed = SLACK * width(words, SMALL) + (_SWATCH + 6 if kind else 0)
        if x > MARGIN and x + needed * SLACK > room:
            x, y = float(MARGIN), y + 20
        if kind:
            _swatch(drawing, kind, x, y - 10)
        put(drawing, x + (_SWATCH + 6 if kind else 0), y, words, Look(tone=SOFT))
        x += needed + _ITEM_GAP
    return y + 4


def _pair_map_legend(table: CrossTable) -> Iterator[tuple[str, str]]:
    cells = table.cells.values()
    worded = len(table.systems) <= MOST_WORDED
    if any(cell.p is not None for cell in cells):
        for step, most in enumerate(P_STEPS):
            yield f"d{step}", f"p up to {f'{most:.4f}'.rstrip('0').removeprefix('0')}"
        yield "none", "above"
        alpha = f"significant at {table.document['alpha']:g}"
        yield ("", f"bold: {alpha}") if worded else ("dot", alpha)
    if any(cell.significant and cell.winner == "column" for cell in cells):
        yield "hatch", "column’s system significantly better"  # noqa: RUF001 - the apostrophe of print
    if worded:
        yield "", "Arrow to the left: the row’s system is better; up: the column’s."  # noqa: RUF001 - as above


def _swatch(drawing: Drawing, kind: str, x: float, y: float) -> None:
    if kind in COLOURS:
        drawing.cells([(x, y)], _SWATCH, 12, class_=kind, fill=COLOURS[kind])
        return
    drawing.cells([(x + 0.5, y + 0.5)], _SWATCH - 1, 11, class_="grid", fill="none", stroke=LINE_COLOUR)
    if kind == "hatch":
        drawing.cells([(x, y)], _SWATCH, 12, fill=drawing.hatch())
    elif kind == "dot":
        _dots(drawing, [(x + _SWATCH / 2, y + 6)])
