"""Pictures of a comparison as SVG, readable in black and white.

- a heat map of adjusted p with the differences;
- all pairs as dots: larger where the difference is greater, filled where it is significant;
- one system against all others: the differences as dots with whiskers;
- the scores of the systems, as dots with their intervals;
- what could have been found: the observed difference of each pair beside the smallest that shows.
"""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from treescore.core.wording import correction_name, listed, one_line, p_words, units_of
from treescore.render import crosstable
from treescore.render import drawing as draw
from treescore.render.dot_table import DotColumn, DotRow, DotTable, Mark, Scale, dot_table, in_units, scale_of
from treescore.render.heat_maps import draw_pair_map, pair_map
from treescore.render.table import text_warning

_LISTED = 40
_NAMED = 5
"""Systems that one sentence names."""
_NARROWEST_PICTURE = 760
_BETWEEN_TABLES = 40
"""Pixels between two comparisons."""


def picture(documents: Sequence[Mapping[str, Any]], shares: Container[str] = ()) -> bytes:
    """Draw one heat map under the other as SVG; the same documents give the same bytes, in every thread.

    Args:
        documents: the comparisons.
        shares: scores whose figures are written in percent.
    """
    tables = [crosstable.cross_table(document, shares) for document in documents]
    maps = [pair_map(table) for table in tables]
    width = max([_NARROWEST_PICTURE, *(each.right for each in maps)])
    drawing = draw.Drawing("comparison", *comparison_described(tables))
    y: float = draw.MARGIN
    for index, each in enumerate(maps):
        table, room = each.table, width - draw.MARGIN
        said = [*map(text_warning, table.document["warnings"]), crosstable.headline(table)]
        y += _BETWEEN_TABLES if index else 0
        y = draw.heading(drawing, f"Differences in {table.document['score']}", said, room, y)
        y = draw_pair_map(drawing, each, y + 24, room)
        for words in crosstable.notes(table.document):
            y = draw.paragraph(drawing, y + 4, words, room)
    return drawing.svg(width + draw.MARGIN, y + draw.MARGIN).encode()


def comparison_described(tables: Sequence[crosstable.CrossTable]) -> tuple[str, str]:
    """Return title and description for readers who cannot see the picture."""
    scores = ", ".join(str(table.document["score"]) for table in tables)
    sentences = []
    for table in tables:
        ranking = "; ".join(
            f"{system['rank']}. {one_line(system['name'])} {draw.value_words(system['score'], table.figures)}"
            for system in table.systems
        )
        sentences.append(f"{crosstable.headline(table)}. Ranking: {ranking}.")
        sentences += [*map(text_warning, table.document["warnings"]), decisions(table)]
        sentences += crosstable.notes(table.document)
    return f"Significance of differences: {scores}", " ".join(sentences) or "No comparison."


def decisions(table: crosstable.CrossTable) -> str:
    """Return which differences are significant, the first of many by name."""
    decided = [pair for pair, cell in sorted(table.cells.items()) if cell.significant]
    return f"Significant: {listed([_difference(table, pair) for pair in decided], _LISTED) or 'none'}."


def _difference(table: crosstable.CrossTable, pair: tuple[int, int]) -> str:
    cell = table.cells[pair]
    row, column = (table.names[index] for index in pair)
    better, worse = (row, column) if cell.winner == "row" else (column, row)
    size = draw.value_words(abs(cell.difference), table.figures)
    return f"{better} over {worse} by {size}, p {p_words(cell.p)}"


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
    table = crosstable.cross_table(document, shares)
    count = len(table.systems)
    rooms = [
        draw.room_of([name], weight=draw.BOLD, most=220) - row * _CELL_STEP for row, name in enumerate(table.names)
    ]
    left = draw.MARGIN + max([0.0, *rooms]) + 16
    drawing = draw.Drawing("pairs", f"All pairs of {count} systems: {document['score']}", _pairs_described(table))
    largest = max((abs(cell.difference) for cell in table.cells.values()), default=0.0)
    for row, name in enumerate(table.names):
        right, y = left + (row - 1) * _CELL_STEP + 12, 24 + row * _CELL_STEP
        own = system is not None and table.systems[row]["name"] == system
        look = draw.Look(draw.SMALL, draw.BOLD if own else draw.NORMAL, draw.END)
        draw.put(drawing, right, y + 4, name, look, right - draw.MARGIN + 1)
    for (row, column), cell in sorted(table.cells.items()):
        own = system is not None and system in (table.systems[row]["name"], table.systems[column]["name"])
        tip = _tip(table, (row, column), cell) if count <= _MOST_TIPS else None
        radius = _SMALLEST + (_LARGEST - _SMALLEST) * (math.sqrt(abs(cell.difference) / largest) if largest else 0.0)
        class_ = f"pt{'' if cell.significant else ' ho'}{' me' if own else ''}"
        ink = draw.INK if own else draw.RULE
        drawing.add(
            "circle", cx=left + column * _CELL_STEP, cy=24 + row * _CELL_STEP, r=radius, class_=class_, tip=tip,
            fill=ink if cell.significant else draw.PAPER, stroke=None if cell.significant else ink,
            stroke_width=None if cell.significant else 1.5,
        )  # fmt: skip
    return drawing.svg(
        max(left + count * _CELL_STEP, 120) + draw.MARGIN, max(count, 1) * _CELL_STEP + 24, class_="pairs drawing"
    )


def _tip(table: crosstable.CrossTable, at: tuple[int, int], cell: crosstable.Cell) -> str:
    row, column = (table.names[index] for index in at)
    p = "" if cell.p is None else f", p {p_words(cell.p)}"
    return f"{row} over {column}: {draw.signed_words(cell.difference, table.figures)}{p}"


def _pairs_described(table: crosstable.CrossTable) -> str:
    """Return the decisions, and the pairs that do not differ significantly."""
    open_ = [at for at, cell in sorted(table.cells.items()) if not cell.significant]
    named = [" and ".join(one_line(table.names[index]) for index in at) for at in open_]
    return decisions(table) + (f" Not significant: {listed(named, _OPEN_LISTED)}." if open_ else "")


_AGAINST_AXIS = 400


class Opponent(NamedTuple):
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
        p_parts: for parts like these; None where there is none.
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
    p_parts: float | None = None

    def mark(self, factor: float) -> Mark:
        """Return what is drawn of it, in the unit of the axis."""
        return Mark(self.difference, self.low, self.high, filled=self.significant).in_units(factor)


def opponents(table: crosstable.CrossTable, system: str) -> list[Opponent]:
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
        cell = table.cells.get((min(own, row), max(own, row)))
        if cell is not None:
            cell = cell if own < row else crosstable.turned(cell)
            better = None if cell.winner is None else cell.winner == "row"
            figures = (cell.difference, cell.low, cell.high, cell.p, cell.significant, better)
            found.append(Opponent(table.names[row], each["score"], *figures, effects.get(each["name"]), cell.p_parts))
        elif row != own:
            found.append(Opponent(table.names[row], each["score"]))
    return found


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
    return scale_of(in_units(factor, shown), size, signed=True, zero=True)


def verdict(every: Sequence[Opponent]) -> str:
    """Return in one sentence how many systems are worse, how many better, and which do not differ significantly.

    Of those that do not, the first are named.
    """
    if every and all(each.p is None for each in every):
        ahead = sum(each.better is True for each in every)
        return f"Ahead of {ahead} of {len(every)}; which differences are significant is not known without p."
    better = sum(each.significant and each.better is True for each in every)
    worse = sum(each.significant and each.better is False for each in every)
    open_ = [each.name for each in every if not each.significant and each.difference is not None]
    apart = sum(each.difference is None for each in every)
    noun = "system" if len(every) == 1 else "systems"
    words = f"Better than {better} of {len(every)} {noun}, worse than {worse}"
    if open_:
        words += f"; no significant difference to {len(open_)}: {listed(open_, _NAMED, ', ', ' and {} more')}"
    return f"{words}; not compared with {apart}." if apart else f"{words}."


def against_svg(document: Mapping[str, Any], system: str, shares: Container[str] = ()) -> str:
    """Draw one system of a comparison against each other one.

    Args:
        document: the comparison.
        system: its name in the document.
        shares: scores whose figures are written in percent.

    Raises:
        KeyError: the comparison does not have this system.
    """
    table = crosstable.cross_table(document, shares)
    every = opponents(table, system)
    name = one_line(system)
    title = f"{name} against every system: {document['score']}"
    described = " ".join([verdict(every), *_opponent_sentences(every, table), *crosstable.notes(document)])
    drawn = DotTable(
        title=f"{name} against every system", above=[verdict(every), *map(text_warning, document["warnings"])],
        columns=_against_columns(table), lines=[
            DotRow(_opponent_cells(each, table), each.mark(table.figures.factor), bold=each.significant)
            for each in every
        ],
        scale=against_scale(every, table.figures.factor), dots_after=2, axis_words=_axis_words(document, name),
        below=[_against_legend(table), crosstable.headline(table), *crosstable.notes(document)],
    )  # fmt: skip
    return dot_table(draw.Drawing("against", title, described), drawn)


def _against_columns(table: crosstable.CrossTable) -> Sequence[DotColumn]:
    interval, correction = crosstable.interval_head(table.document), table.document["correction"]
    return (
        DotColumn("System"), DotColumn("Score", right=True), DotColumn("Difference", right=True, bold=True),
        DotColumn(interval, right=True, soft=True),
        DotColumn("p" if correction == "none" else f"p ({correction_name(correction)})", right=True, soft=True),
        DotColumn("p (parts)", right=True, soft=True),
        DotColumn("Won", right=True), DotColumn("Tied", right=True), DotColumn("Lost", right=True),
    )  # fmt: skip


def _opponent_cells(each: Opponent, table: crosstable.CrossTable) -> Sequence[str]:
    figures = table.figures
    return (
        each.name,
        draw.value_words(each.score, figures),
        "" if each.difference is None else draw.signed_words(each.difference, figures),
        draw.interval_words(each.low, each.high, figures, signed=True),
        p_words(each.p),
        p_words(each.p_parts),
        *(("", "", "") if each.units is None else map(str, each.units)),
    )


def _axis_words(document: Mapping[str, Any], name: str) -> str:
    left, right = ("worse", "better") if document["higher_is_better"] else ("better", "worse")
    short = name if len(name) <= 24 else "this system"
    return f"{short} is {left}  ·  {right}"


def _against_legend(table: crosstable.CrossTable) -> str:
    words = f"Filled: significant at {table.document['alpha']:g}; hollow: not. Whisker: interval of the difference."
    if any((pair.get("effect") or {}).get("units_won") is not None for pair in table.document["pairs"]):
        words += f" Won, tied, lost: {units_of(table.document)[1]}."
    return words


def _opponent_sentences(every: Sequence[Opponent], table: crosstable.CrossTable) -> Iterator[str]:
    """Yield a sentence for each of the first opponents."""
    for each in every[:_LISTED]:
        if each.difference is not None:
            p = f", p {p_words(each.p)}" if each.p is not None else ""
            yield f"{each.name}: {draw.signed_words(each.difference, table.figures)}{p}."
    if len(every) > _LISTED:
        yield f"And {len(every) - _LISTED} more."


_INTERVALS_AXIS = 400
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
    table = crosstable.cross_table(document, shares)
    shown = [each for system in table.systems for each in (system["score"], *crosstable.bounds(system.get("ci")))]
    drawn = DotTable(
        title=f"Scores: {document['score']}", above=list(map(text_warning, document["warnings"])),
        columns=_interval_columns(table),
        lines=[_interval_line(table, row) for row in range(len(table.systems))],
        scale=scale_of(in_units(table.figures.factor, shown), _INTERVALS_AXIS), dots_after=4,
        below=[_INTERVALS_LEGEND, crosstable.headline(table), *crosstable.notes(document)],
    )  # fmt: skip
    return dot_table(
        draw.Drawing("intervals", f"Scores with intervals: {document['score']}", _intervals_described(table)), drawn
    )


def _interval_columns(table: crosstable.CrossTable) -> Sequence[DotColumn]:
    interval = crosstable.level_head(system.get("ci") for system in table.systems)
    return (
        DotColumn("#", right=True, soft=True), DotColumn("Ranks", soft=True), DotColumn("System"),
        DotColumn("Score", right=True, bold=True), DotColumn(interval, right=True, soft=True),
    )  # fmt: skip


def _interval_line(table: crosstable.CrossTable, row: int) -> DotRow:
    system = table.systems[row]
    low, high = crosstable.bounds(system.get("ci"))
    cells = (
        "" if system["rank"] is None else str(system["rank"]), draw.ranks_words(system.get("rank_interval")),
        table.names[row], draw.value_words(system["score"], table.figures),
        draw.interval_words(low, high, table.figures),
    )  # fmt: skip
    mark = Mark(system["score"], low, high).in_units(table.figures.factor)
    return DotRow(cells, mark, ruled=table.boundary_above(row))


def _intervals_described(table: crosstable.CrossTable) -> str:
    lines = []
    for row in range(min(len(table.systems), _LISTED)):
        rank, _, name, score, interval = _interval_line(table, row).cells
        lines.append(f"{rank}. {name} {score}" + (f" ({interval})" if interval else ""))
    more = f" {len(table.systems)} systems in all." if len(table.systems) > _LISTED else ""
    return f"{crosstable.headline(table)}. {'; '.join(lines)}.{more}"


MOST_PAIRS = 60
"""Pairs that one picture shows; of more, those of neighbours by rank."""
_POWER_AXIS = 360
_POWER_COLUMNS = (
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
    table = crosstable.cross_table(document, shares)
    pairs, which = _power_pairs(table)
    factor = table.figures.factor
    shown = [factor * each for pair in pairs for each in (abs(pair["difference"]), _found_from(pair))]
    drawn = DotTable(
        title=f"What could have been found: {document['score']}",
        above=[_explained(pairs), *which, *map(text_warning, document["warnings"])], columns=_POWER_COLUMNS,
        lines=[_power_line(table, pair) for pair in pairs], scale=scale_of(shown, _POWER_AXIS, zero=True), dots_after=2,
        below=[_POWER_LEGEND.format(document["alpha"]), crosstable.headline(table), *crosstable.notes(document)],
    )  # fmt: skip
    said = "; ".join(_power_sentence(table, pair) for pair in pairs)
    described = " ".join([f"{crosstable.headline(table)}.", _explained(pairs), *which, *([f"{said}."] if said else [])])
    return dot_table(draw.Drawing("power", f"Detectable differences: {document['score']}", described), drawn)


def _power_pairs(table: crosstable.CrossTable) -> tuple[list[Mapping[str, Any]], list[str]]:
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


def _found_from(pair: Mapping[str, Any]) -> float:
    """Return the detectable difference; where the observed one was not significant, a true one must be no smaller."""
    found = float(pair["detectable"]["difference"])
    return found if pair["significant"] else max(abs(pair["difference"]), found)


def _explained(pairs: Sequence[Mapping[str, Any]]) -> str:
    powers = sorted({pair["detectable"]["power"] for pair in pairs})
    if not powers:
        return _NO_DIFFERENCES
    words = " or ".join(f"{100 * power:g} %" for power in powers)
    return f"Detectable: the true difference that the test would find with {words} power, after its correction."


def _better_and_other(pair: Mapping[str, Any]) -> tuple[str, str]:
    """Return the better system and the other one."""
    names = (one_line(pair["a"]), one_line(pair["b"]))
    return names if pair["better"] != "b" else names[::-1]


def _power_line(table: crosstable.CrossTable, pair: Mapping[str, Any]) -> DotRow:
    factor, size = table.figures.factor, abs(pair["difference"])
    mark = Mark(factor * size, filled=bool(pair["significant"]), limit=factor * _found_from(pair))
    return DotRow(
        (*_better_and_other(pair), *_power_figures(table, pair), p_words(pair["p_adjusted"])), mark, bold=mark.filled
    )


def _power_figures(table: crosstable.CrossTable, pair: Mapping[str, Any]) -> tuple[str, str]:
    return draw.value_words(abs(pair["difference"]), table.figures), draw.value_words(_found_from(pair), table.figures)


def _power_sentence(table: crosstable.CrossTable, pair: Mapping[str, Any]) -> str:
    better, worse = _better_and_other(pair)
    observed, detectable = _power_figures(table, pair)
    return f"{better} over {worse} {observed}, detectable {detectable}"
