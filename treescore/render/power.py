"""What a comparison could have found: the observed difference of each pair beside the smallest that shows."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from treescore.core.one_line import clean
from treescore.render.chart_words import p_words, value_words
from treescore.render.crosstable import CrossTable, cross_table, headline, notes
from treescore.render.dot_table import DotColumn, DotRow, DotTable, dot_table
from treescore.render.drawing import Drawing
from treescore.render.marks import Mark
from treescore.render.scale import scale_of
from treescore.render.sentences import assumed
from treescore.render.text import text_warning

MOST_PAIRS = 60
"""Pairs that one picture shows; of more, those of neighbours by rank."""
_POWER_AXIS = 360
_COLUMNS = (
    DotColumn("Better", most=200), DotColumn("Worse", most=200), DotColumn("Difference", right=True, bold=True),
    DotColumn("Detectable", right=True), DotColumn("p", right=True, soft=True),
)  # fmt: skip
_POWER_LEGEND = (
    "Dot: observed difference, filled where it is significant at {:g}, hollow where it is not. Line across: detectable "
    "difference."
)
_NO_DIFFERENCES = "The document has no detectable differences: the test gives none."


def power_svg(document: Mapping[str, Any], shares: Container[str] = ()) -> str:
    """Draw for each pair the observed difference, and the true one that the test finds with its power.

    Args:
        document: the comparison.
        shares: scores whose figures are written in percent.
    """
    table = cross_table(document, shares)
    pairs, which = _chosen(table)
    factor = table.figures.factor
    shown = [factor * each for pair in pairs for each in (abs(pair["difference"]), pair["detectable"]["difference"])]
    drawn = DotTable(
        title=f"What could have been found: {document['score']}",
        above=[_explained(pairs), *which, *map(text_warning, document["warnings"])], columns=_COLUMNS,
        lines=[_power_line(table, pair) for pair in pairs], scale=scale_of(shown, _POWER_AXIS, zero=True), dots_after=2,
        below=[_POWER_LEGEND.format(document["alpha"]), headline(table), *assumed(document), *notes(document)],
    )  # fmt: skip
    listed = "; ".join(_sentence(table, pair) for pair in pairs)
    described = " ".join([f"{headline(table)}.", _explained(pairs), *which, *([f"{listed}."] if listed else [])])
    return dot_table(Drawing("power", f"Detectable differences: {document['score']}", described), drawn)


def _chosen(table: CrossTable) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the pairs that are shown, by rank, and which ones they are where they are not all."""
    row_of = {system["name"]: row for row, system in enumerate(table.systems)}

    def at(pair: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(sorted((row_of[pair["a"]], row_of[pair["b"]])))

    known = [pair for pair in table.document["pairs"] if pair["difference"] is not None and pair.get("detectable")]
    known.sort(key=at)
    if len(known) <= MOST_PAIRS:
        return known, []
    near = [pair for pair in known if at(pair)[1] - at(pair)[0] == 1]
    return near, [f"Neighbours by rank only; the comparison has {len(known)} pairs."]


def _explained(pairs: Sequence[Mapping[str, Any]]) -> str:
    powers = sorted({pair["detectable"]["power"] for pair in pairs})
    if not powers:
        return _NO_DIFFERENCES
    words = " or ".join(f"{100 * power:g} %" for power in powers)
    return f"Detectable: the true difference that the test would find with {words} power, after its correction."


def _better_and_other(pair: Mapping[str, Any]) -> tuple[str, str]:
    """Return the better system and the other one."""
    names = (clean(pair["a"]), clean(pair["b"]))
    return names if pair["better"] != "b" else names[::-1]


def _power_line(table: CrossTable, pair: Mapping[str, Any]) -> DotRow:
    factor, detectable = table.figures.factor, pair["detectable"]["difference"]
    size = abs(pair["difference"])
    mark = Mark(factor * size, filled=bool(pair["significant"]), limit=factor * detectable)
    return DotRow(
        (*_better_and_other(pair), *_figures(table, pair), p_words(pair["p_adjusted"])), mark, bold=mark.filled
    )


def _figures(table: CrossTable, pair: Mapping[str, Any]) -> tuple[str, str]:
    observed, detectable = abs(pair["difference"]), pair["detectable"]["difference"]
    return value_words(observed, table.figures), value_words(detectable, table.figures)


def _sentence(table: CrossTable, pair: Mapping[str, Any]) -> str:
    better, worse = _better_and_other(pair)
    observed, detectable = _figures(table, pair)
    return f"{better} over {worse} {observed}, detectable {detectable}"
