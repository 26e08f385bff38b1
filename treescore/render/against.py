"""One system against all others: the differences as dots with whiskers, filled where they are significant."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treescore.core.one_line import clean
from treescore.render.chart_words import interval_words, p_words, signed_words, value_words
from treescore.render.crosstable import Cell, CrossTable, cross_table, headline, unit_word
from treescore.render.dot_table import DotColumn, DotRow, DotTable, dot_table
from treescore.render.drawing import Drawing
from treescore.render.marks import Mark
from treescore.render.picture import said_below
from treescore.render.scale import Scale, scale_of
from treescore.render.text import text_warning

_AGAINST_AXIS = 400
_LISTED = 40


@dataclass(frozen=True, slots=True)
class Opponent:
    """Another system, seen from the one that is compared.

    Attributes:
        name: of it, on one line.
        score: of it.
        difference: of the compared system's score less that of this one; None where they were not compared.
        low, high: its interval.
        p: adjusted.
        significant: the decision.
        better: whether the compared system is better; None where neither is.
        units: won, tied and lost; None where they are not known.
    """

    name: str
    score: float | None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    significant: bool = False
    better: bool | None = None
    units: tuple[int, int, int] | None = None

    def mark(self, factor: float) -> Mark:
        """Return what is drawn of it, in the unit of the axis."""
        value, low, high = (
            None if each is None else factor * each for each in (self.difference, self.low, self.high)
        )  # fmt: skip
        return Mark(value, low, high, filled=self.significant)


def opponents(table: CrossTable, system: str) -> list[Opponent]:
    """Return the other systems by rank.

    Args:
        table: the comparison.
        system: its name in the document.

    Raises:
        KeyError: the comparison does not have this system.
    """
    row_of = {each["name"]: row for row, each in enumerate(table.systems)}
    own = row_of[system]
    effects = _units(table.document["pairs"], system)
    found = []
    for row, each in enumerate(table.systems):
        if row != own:
            cell = table.cells.get((min(own, row), max(own, row)))
            name, score = table.names[row], each["score"]
            units = effects.get(each["name"])
            found.append(Opponent(name, score) if cell is None else _seen(name, score, cell, units, first=own < row))
    return found


def _seen(
    name: str, score: float | None, cell: Cell, units: tuple[int, int, int] | None, *, first: bool
) -> Opponent:  # fmt: skip
    """Return an opponent from the cell of the pair, whose row is the compared system where it is the first."""
    better = None if cell.winner is None else (cell.winner == "row") == first
    difference, low, high = cell.difference, cell.low, cell.high
    if not first:
        difference, low, high = -difference, *(None if each is None else -each for each in (high, low))
    return Opponent(name, score, difference, low, high, cell.p, cell.significant, better, units)


def _units(pairs: Sequence[Mapping[str, Any]], system: str) -> dict[str, tuple[int, int, int]]:
    """Return in how many units the system is better, equal and worse than each other one."""
    found = {}
    for pair in pairs:
        effect = pair.get("effect") or {}
        if system not in (pair["a"], pair["b"]) or effect.get("units_won") is None:
            continue
        units = (effect["units_won"], effect["units_tied"], effect["units_lost"])
        first = pair["a"] == system
        found[pair["b" if first else "a"]] = units if first else units[::-1]
    return found


def against_scale(every: Sequence[Opponent], factor: float, size: float = _AGAINST_AXIS) -> Scale:
    """Return the axis of the differences, with 0 on it."""
    shown = [each for one in every for each in (one.difference, one.low, one.high)]
    return scale_of((None if each is None else factor * each for each in shown), size, signed=True, zero=True)


def verdict(every: Sequence[Opponent]) -> str:
    """Return in one sentence how many systems are worse, how many better, and which do not differ significantly."""
    if every and all(each.p is None for each in every):
        ahead = sum(each.better is True for each in every)
        return f"Ahead of {ahead} of {len(every)}; which differences are significant is not known without p."
    better = sum(each.significant and each.better is True for each in every)
    worse = sum(each.significant and each.better is False for each in every)
    open_ = [each.name for each in every if not each.significant]
    noun = "system" if len(every) == 1 else "systems"
    words = f"Better than {better} of {len(every)} {noun}, worse than {worse}"
    if not open_:
        return f"{words}."
    more = f" and {len(open_) - _LISTED} more" if len(open_) > _LISTED else ""
    return f"{words}; no significant difference to {len(open_)}: {', '.join(open_[:_LISTED])}{more}."


def against_svg(document: Mapping[str, Any], system: str, shares: Container[str] = ()) -> str:
    """Draw one system of a comparison against each other one.

    Args:
        document: the comparison.
        system: its name in the document.
        shares: scores whose figures are written in percent.

    Raises:
        KeyError: the comparison does not have this system.
    """
    table = cross_table(document, shares)
    every = opponents(table, system)
    name = clean(system)
    title = f"{name} against every system: {document['score']}"
    described = " ".join([verdict(every), *_sentences(every, table), *said_below(table)])
    drawn = DotTable(
        title=f"{name} against every system", above=[verdict(every), *map(text_warning, document["warnings"])],
        columns=_against_columns(table), lines=[_opponent_line(each, table) for each in every],
        scale=against_scale(every, table.figures.factor), dots_after=2, axis_words=_axis_words(document, name),
        below=[_against_legend(table), headline(table), *said_below(table)],
    )  # fmt: skip
    return dot_table(Drawing("against", title, described), drawn)


def _against_columns(table: CrossTable) -> Sequence[DotColumn]:
    level = {each["ci"]["level"] for each in table.document["pairs"] if each.get("ci")}
    interval = f"{100 * level.pop():g} % interval" if len(level) == 1 else "Interval"
    correction = str(table.document["correction"])
    return (
        DotColumn("System"), DotColumn("Score", right=True), DotColumn("Difference", right=True, bold=True),
        DotColumn(interval, right=True, soft=True),
        DotColumn("p" if correction == "none" else f"p ({correction.capitalize()})", right=True, soft=True),
        DotColumn("Won", right=True), DotColumn("Tied", right=True), DotColumn("Lost", right=True),
    )  # fmt: skip


def _opponent_line(each: Opponent, table: CrossTable) -> DotRow:
    return DotRow(_opponent_cells(each, table), each.mark(table.figures.factor), bold=each.significant)


def _opponent_cells(each: Opponent, table: CrossTable) -> Sequence[str]:
    figures = table.figures
    return (
        each.name,
        value_words(each.score, figures),
        "" if each.difference is None else signed_words(each.difference, figures),
        interval_words(each.low, each.high, figures, signed=True),
        p_words(each.p),
        *(("", "", "") if each.units is None else map(str, each.units)),
    )


def _axis_words(document: Mapping[str, Any], name: str) -> str:
    left, right = ("worse", "better") if document["higher_is_better"] else ("better", "worse")
    short = name if len(name) <= 24 else "this system"
    return f"{short} is {left}  ·  {right}"


def _against_legend(table: CrossTable) -> str:
    words = f"Filled: significant at {table.document['alpha']:g}; hollow: not. Whisker: interval of the difference."
    if any((pair.get("effect") or {}).get("units_won") is not None for pair in table.document["pairs"]):
        words += f" Won, tied, lost: {unit_word(table.document)}s."
    return words


def _sentences(every: Sequence[Opponent], table: CrossTable) -> Iterator[str]:
    """Yield a sentence for each of the first opponents."""
    for each in every[:_LISTED]:
        if each.difference is not None:
            p = f", p {p_words(each.p)}" if each.p is not None else ""
            yield f"{each.name}: {signed_words(each.difference, table.figures)}{p}."
    if len(every) > _LISTED:
        yield f"And {len(every) - _LISTED} more."
