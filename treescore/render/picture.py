"""Draw comparisons as SVG: a heat map of adjusted p with the differences, readable in black and white."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from treescore.core.one_line import clean
from treescore.render.chart_words import p_words, value_words
from treescore.render.crosstable import CrossTable, cross_table, headline, notes
from treescore.render.drawing import Drawing
from treescore.render.pair_map import PairMap, draw_pair_map, pair_map
from treescore.render.sentences import assumed, detectable
from treescore.render.sheet import MARGIN, heading, paragraph
from treescore.render.text import text_warning

_LISTED = 40
_NARROWEST_PICTURE = 760
_BETWEEN_TABLES = 40
"""Pixels between two comparisons."""


def picture(documents: Sequence[Mapping[str, Any]], shares: Container[str] = ()) -> bytes:
    """Draw one heat map under the other as SVG; the same documents give the same bytes, in every thread.

    Args:
        documents: the comparisons.
        shares: scores whose figures are written in percent.
    """
    tables = [cross_table(document, shares) for document in documents]
    maps = [pair_map(table) for table in tables]
    width = max([_NARROWEST_PICTURE, *(each.right for each in maps)])
    drawing = Drawing("comparison", *comparison_described(tables))
    y: float = MARGIN
    for index, each in enumerate(maps):
        y = _draw(drawing, each, width - MARGIN, y + (_BETWEEN_TABLES if index else 0))
    return drawing.svg(width + MARGIN, y + MARGIN).encode()


def _draw(drawing: Drawing, drawn: PairMap, room: float, top: float) -> float:
    """Draw one comparison below `top`, and return where it ends."""
    table = drawn.table
    said = [*map(text_warning, table.document["warnings"]), headline(table)]
    y = heading(drawing, f"Differences in {table.document['score']}", said, room, top)
    y = draw_pair_map(drawing, drawn, y + 24, room)
    for words in said_below(table):
        y = paragraph(drawing, y + 4, words, room)
    return y


def said_below(table: CrossTable) -> list[str]:
    """Return what is assumed, what could have been found and what was not tested."""
    return [*assumed(table.document), *detectable(table), *notes(table.document)]


def comparison_described(tables: Sequence[CrossTable]) -> tuple[str, str]:
    """Return title and description for readers who cannot see the picture."""
    scores = ", ".join(str(table.document["score"]) for table in tables)
    sentences = []
    for table in tables:
        ranking = "; ".join(
            f"{system['rank']}. {clean(system['name'])} {value_words(system['score'], table.figures)}"
            for system in table.systems
        )
        sentences.append(f"{headline(table)}. Ranking: {ranking}.")
        sentences += [*map(text_warning, table.document["warnings"]), decisions(table), *said_below(table)]
    return f"Significance of differences: {scores}", " ".join(sentences) or "No comparison."


def decisions(table: CrossTable) -> str:
    """Return which differences are significant, the first of many by name."""
    decided = [pair for pair, cell in sorted(table.cells.items()) if cell.significant]
    listed = "; ".join(_difference(table, pair) for pair in decided[:_LISTED])
    more = len(decided) - _LISTED
    return (
        f"{len(decided)} of {len(table.cells)} differences are significant"
        + (f": {listed}" if listed else "")
        + (f"; and {more} more" if more > 0 else "")
        + "."
    )


def _difference(table: CrossTable, pair: tuple[int, int]) -> str:
    cell = table.cells[pair]
    row, column = (table.names[index] for index in pair)
    better, worse = (row, column) if cell.winner == "row" else (column, row)
    size = value_words(abs(cell.difference), table.figures)
    return f"{better} over {worse} by {size}, p {p_words(cell.p)}"
