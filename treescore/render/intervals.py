"""The scores of a comparison's systems, as dots with their intervals."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from treescore.render.chart_words import interval_words, ranks_words, value_words
from treescore.render.crosstable import CrossTable, cross_table, headline, notes
from treescore.render.dot_table import DotColumn, DotRow, DotTable, dot_table
from treescore.render.drawing import Drawing
from treescore.render.marks import Mark
from treescore.render.scale import scale_of
from treescore.render.sentences import assumed
from treescore.render.text import text_warning

_INTERVALS_AXIS = 400
_LISTED = 40
_INTERVALS_LEGEND = (
    "Dot: score. Whisker: its interval. Whether two systems differ is tested by pair: "
    "intervals that overlap do not tell."
)


def intervals_svg(document: Mapping[str, Any], shares: Container[str] = ()) -> str:
    """Draw the score of each system with its interval, best first, with lines between clusters.

    Args:
        document: the comparison.
        shares: scores whose figures are written in percent.
    """
    table = cross_table(document, shares)
    factor = table.figures.factor
    shown = [each for system in table.systems for each in (system["score"], *_interval_bounds(system))]
    drawn = DotTable(
        title=f"Scores: {document['score']}", above=list(map(text_warning, document["warnings"])),
        columns=_interval_columns(table),
        lines=[_interval_line(table, row) for row in range(len(table.systems))],
        scale=scale_of((None if each is None else factor * each for each in shown), _INTERVALS_AXIS), dots_after=4,
        below=[_INTERVALS_LEGEND, headline(table), *assumed(document), *notes(document)],
    )  # fmt: skip
    return dot_table(
        Drawing("intervals", f"Scores with intervals: {document['score']}", _intervals_described(table)), drawn
    )


def _interval_columns(table: CrossTable) -> Sequence[DotColumn]:
    levels = {system["ci"]["level"] for system in table.systems if system.get("ci")}
    interval = f"{100 * levels.pop():g} % interval" if len(levels) == 1 else "Interval"
    return (
        DotColumn("#", right=True, soft=True), DotColumn("Could be", soft=True), DotColumn("System"),
        DotColumn("Score", right=True, bold=True), DotColumn(interval, right=True, soft=True),
    )  # fmt: skip


def _interval_line(table: CrossTable, row: int) -> DotRow:
    system, factor = table.systems[row], table.figures.factor
    low, high = _interval_bounds(system)
    cells = (
        "" if system["rank"] is None else str(system["rank"]), ranks_words(system.get("rank_interval")),
        table.names[row], value_words(system["score"], table.figures), interval_words(low, high, table.figures),
    )  # fmt: skip
    value, low, high = (None if each is None else factor * each for each in (system["score"], low, high))
    return DotRow(cells, Mark(value, low, high), ruled=table.boundary_above(row))


def _interval_bounds(system: Mapping[str, Any]) -> tuple[float | None, float | None]:
    ci = system.get("ci") or {"low": None, "high": None}
    return ci["low"], ci["high"]


def _intervals_described(table: CrossTable) -> str:
    listed = []
    for row in range(min(len(table.systems), _LISTED)):
        rank, _, name, score, interval = _interval_line(table, row).cells
        listed.append(f"{rank}. {name} {score}" + (f" ({interval})" if interval else ""))
    more = f" {len(table.systems)} systems in all." if len(table.systems) > _LISTED else ""
    return f"{headline(table)}. {'; '.join(listed)}.{more}"
