"""Draw comparisons as SVG: a heat map of adjusted p with the differences, readable in black and white."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from matplotlib.patches import Rectangle

from treescore.core.one_line import clean
from treescore.render.crosstable import (
    CrossTable,
    cross_table,
    headline,
    notes,
    p_text,
)
from treescore.render.sentences import assumed, detectable
from treescore.render.svg import accessible, drawn, drawn_png
from treescore.render.text import warned

MOST_WORDED = 30
"""Largest number of systems for which the cells show figures."""
_LISTED = 40
_LETTERS_PER_INCH = 15
"""Of text of 8 points: a letter of DejaVu Sans is about 0.55 of its size wide, 4.5 points; a little is left free."""
_LINE_INCHES = 0.14
"""Height of such a line: 1.25 times 8 points."""
# Grey of a cell whose adjusted p is at most this; white above.
_SHADES = ((1e-4, "0.45"), (1e-3, "0.60"), (1e-2, "0.75"), (5e-2, "0.88"))
_DARK = "0.45"


def picture(documents: Sequence[Mapping[str, Any]], shares: Container[str] = ()) -> bytes:
    """Draw one heat map under the other as SVG; the same documents give the same bytes, in every thread.

    Args:
        documents: the comparisons.
        shares: scores whose figures are written in percent.
    """
    tables = [cross_table(document, shares) for document in documents]
    return accessible(drawn(*_figure(tables)), *described(tables)).encode()


def png(documents: Sequence[Mapping[str, Any]], shares: Container[str] = ()) -> bytes:
    """Draw the same as PNG."""
    return drawn_png(*_figure([cross_table(document, shares) for document in documents]))


def _figure(tables: Sequence[CrossTable]) -> tuple[tuple[float, float], Callable[[Any], None]]:
    """Return the size of a figure in inches, and what draws it."""
    sizes = [
        max(2.2, 1.2 + _cell_inches(table) * len(table.systems)) + _LINE_INCHES * len(_below(table)) for table in tables
    ]
    width = max([6.0, *map(_table_inches, tables)])

    def draw(figure: Any) -> None:
        axes: Any = figure.subplots(len(tables), 1, squeeze=False, height_ratios=sizes) if tables else []
        for table, (axis,) in zip(tables, axes, strict=True):
            _draw(axis, table)

    return (width, sum(sizes) if sizes else 1.0), draw


def described(tables: Sequence[CrossTable]) -> tuple[str, str]:
    """Return title and description for readers who cannot see the picture."""
    scores = ", ".join(str(table.document["score"]) for table in tables)
    sentences = []
    for table in tables:
        ranking = "; ".join(
            f"{system['rank']}. {clean(system['name'])} {table.figures.value(system['score'])}"
            for system in table.systems
        )
        sentences.append(f"{headline(table)}. Ranking: {ranking}.")
        decided = [pair for pair, cell in sorted(table.cells.items()) if cell.significant]
        listed = "; ".join(_difference(table, pair) for pair in decided[:_LISTED])
        more = len(decided) - _LISTED
        sentences.append(
            f"{len(decided)} of {len(table.cells)} differences are significant"
            + (f": {listed}" if listed else "")
            + (f"; and {more} more" if more > 0 else "")
            + "."
        )
        sentences += [*_said(table)]
    return f"Significance of differences: {scores}", " ".join(sentences)


def _difference(table: CrossTable, pair: tuple[int, int]) -> str:
    cell = table.cells[pair]
    row, column = (table.names[index] for index in pair)
    better, worse = (row, column) if cell.winner == "row" else (column, row)
    return f"{better} over {worse} by {table.figures.value(abs(cell.difference))}, p {p_text(cell.p)}"


def _cell_inches(table: CrossTable) -> float:
    return 1.0 if len(table.systems) <= MOST_WORDED else max(0.12, 30.0 / len(table.systems))


def _table_inches(table: CrossTable) -> float:
    return max(6.0, 2.4 + _cell_inches(table) * len(table.systems))


def _draw(axis: Any, table: CrossTable) -> None:
    size = len(table.systems)
    worded = size <= MOST_WORDED
    for (row, column), cell in table.cells.items():
        shade = _shade(cell.p)
        hatch = "////" if cell.significant and cell.winner == "column" else None
        axis.add_patch(_square(column, row, shade, hatch))
        if worded:
            ink = "white" if shade == _DARK and hatch is None else "black"
            side = {"row": "◀", "column": "▲", None: "="}[cell.winner]
            second = table.figures.interval(cell.low, cell.high) if cell.p is None else f"p {p_text(cell.p)}"
            words = f"{table.figures.signed(cell.difference)}\n{second}\n{side}{' *' if cell.significant else ''}"
            weight = "bold" if cell.significant else "normal"
            axis.text(
                column, row, words, ha="center", va="center", color=ink, fontsize=7, fontweight=weight, parse_math=False
            )
    for row in range(1, size):
        if table.boundary_above(row):
            axis.plot([-0.5, size - 0.5], [row - 0.5] * 2, color="black", linewidth=2.0)
    names = table.names
    marks = range(size) if size <= 100 else range(0, size, size // 50)
    axis.set_xlim(-0.5, size - 0.45)
    axis.set_ylim(size - 0.5, -0.5)
    axis.set_xticks(
        list(marks), [names[index] for index in marks], rotation=45, ha="left", fontsize=8, parse_math=False
    )
    scores = [f"{names[index]}  {table.figures.value(table.systems[index]['score'])}" for index in marks]
    axis.set_yticks(list(marks), scores, fontsize=8, parse_math=False)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.set_aspect("equal")
    for side in axis.spines.values():
        side.set_visible(False)
    axis.set_xlabel("\n".join(_below(table)), fontsize=8, parse_math=False)


def _below(table: CrossTable) -> list[str]:
    """Return the legend and what the comparison says, in lines of the table's width."""
    alpha = table.document["alpha"]
    legend = f"◀ row better, ▲ column better (hatched), * significant at {alpha:g}; darker = smaller adjusted p"
    said = (f"{table.document['score']}: {legend}", *_said(table))
    return [line for each in said for line in textwrap.wrap(each, int(_LETTERS_PER_INCH * _table_inches(table)))]


def _said(table: CrossTable) -> list[str]:
    """Return the warnings, then what is assumed, what could have been found and what was not tested."""
    document = table.document
    return [*map(warned, document["warnings"]), *assumed(document), *detectable(table), *notes(document)]


def _square(column: int, row: int, shade: str, hatch: str | None) -> Any:
    return Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=shade, edgecolor="black", linewidth=0.5, hatch=hatch)


def _shade(p: float | None) -> str:
    if p is None:
        return "1.0"
    return next((shade for most, shade in _SHADES if p <= most), "1.0")
