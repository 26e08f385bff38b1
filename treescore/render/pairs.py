"""All pairs as dots: larger where the difference is greater, filled where it is significant."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from typing import Any

from treescore.core.one_line import clean
from treescore.render.chart_words import p_words, signed_words
from treescore.render.crosstable import Cell, CrossTable, cross_table
from treescore.render.drawing import END, INK, PAPER, RULE, Drawing
from treescore.render.letters import BOLD, NORMAL
from treescore.render.picture import decisions
from treescore.render.sheet import MARGIN, SMALL, Look, put, room_of

_CELL_STEP = 19
_SMALLEST, _LARGEST = 3.2, 7.8
"""Radius of the dot of no difference, and of the largest."""
_MOST_TIPS = 60
"""Most systems of a picture whose dots say what they show."""
_OPEN_LISTED = 20


def pairs_svg(document: Mapping[str, Any], system: str | None = None, shares: Container[str] = ()) -> str:
    """Draw the pairs of a comparison; the row's system stands left of its dots, the column's below them.

    Args:
        document: the comparison.
        system: whose pairs are darker; None for none.
        shares: scores whose figures are written in percent.
    """
    table = cross_table(document, shares)
    count = len(table.systems)
    rooms = [room_of([name], weight=BOLD, most=220) - row * _CELL_STEP for row, name in enumerate(table.names)]
    left = MARGIN + max([0.0, *rooms]) + 16
    drawing = Drawing("pairs", f"All pairs of {count} systems: {document['score']}", _pairs_described(table))
    largest = max((abs(cell.difference) for cell in table.cells.values()), default=0.0)
    for row, name in enumerate(table.names):
        right, y = left + (row - 1) * _CELL_STEP + 12, 24 + row * _CELL_STEP
        own = system is not None and table.systems[row]["name"] == system
        put(drawing, right, y + 4, name, Look(SMALL, BOLD if own else NORMAL, END), right - MARGIN + 1)
    for (row, column), cell in sorted(table.cells.items()):
        own = system is not None and system in (table.systems[row]["name"], table.systems[column]["name"])
        tip = _tip(table, (row, column), cell) if count <= _MOST_TIPS else None
        radius = _SMALLEST + (_LARGEST - _SMALLEST) * (math.sqrt(abs(cell.difference) / largest) if largest else 0.0)
        class_ = f"pt{'' if cell.significant else ' ho'}{' me' if own else ''}"
        ink = INK if own else RULE
        drawing.add(
            "circle", cx=left + column * _CELL_STEP, cy=24 + row * _CELL_STEP, r=radius, class_=class_, tip=tip,
            fill=ink if cell.significant else PAPER, stroke=None if cell.significant else ink,
            stroke_width=None if cell.significant else 1.5,
        )  # fmt: skip
    return drawing.svg(
        max(left + count * _CELL_STEP, 120) + MARGIN, max(count, 1) * _CELL_STEP + 24, class_="pairs drawing"
    )


def _tip(table: CrossTable, at: tuple[int, int], cell: Cell) -> str:
    row, column = (table.names[index] for index in at)
    p = "" if cell.p is None else f", p {p_words(cell.p)}"
    return f"{row} over {column}: {signed_words(cell.difference, table.figures)}{p}"


def _pairs_described(table: CrossTable) -> str:
    """Return the decisions, and the pairs that do not differ significantly."""
    open_ = [at for at, cell in sorted(table.cells.items()) if not cell.significant]
    named = "; ".join(" and ".join(clean(table.names[index]) for index in at) for at in open_[:_OPEN_LISTED])
    more = f"; and {len(open_) - _OPEN_LISTED} more" if len(open_) > _OPEN_LISTED else ""
    return decisions(table) + (f" Not significant: {named}{more}." if open_ else "")
