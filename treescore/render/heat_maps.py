"""Heat maps: the matrix of a benchmark, and the pairs of a comparison.

The matrix has parts down and teams across, shaded by the distance from the best of a part or by score. The map of pairs
has the row's system against the column's, whose names stand on the diagonal.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from treescore.core.wording import PERCENT, Figures, counted, figures_of, one_line, p_words
from treescore.render import drawing as draw
from treescore.render.crosstable import Cell, CrossTable

_SIZE = 12
"""Of the type in cells."""
_HIGH = 22
_CELL_SLACK = 1.25
"""Room of a cell, of its width in Source Sans: nothing is between cells, and other fonts are wider."""
_NARROWEST_MATRIX = 640
_LISTED = 40
TOGETHER: Mapping[str, str] = {"macro": "mean of all parts", "pooled": "all sentences together"}
"""What stands for all parts, and what it is called."""


class _Matrix(NamedTuple):
    """What is drawn, and where.

    Attributes:
        document: the matrix.
        heads: the names of its columns.
        names: of its rows: all parts together where the document has that score, then each part.
        values: a list for each row.
        points: the same as shades are computed from them.
        figures: how values are written.
        by: what the shades show.
        left: of the first column.
        wide: a column.
    """

    document: Mapping[str, Any]
    heads: Sequence[str]
    names: Sequence[str]
    values: Sequence[Sequence[float | None]]
    points: Sequence[Sequence[float | None]]
    figures: Figures
    by: draw.ShadeBy
    left: float
    wide: float

    def best(self, row: int) -> float | None:
        """Return the best of a row, in points."""
        known = [value for value in self.points[row] if value is not None]
        if not known:
            return None
        return max(known) if self.document["higher_is_better"] else min(known)

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.wide * len(self.document["rows"])


def matrix_svg(document: Mapping[str, Any], shade: draw.ShadeBy = draw.BY_GAP, *, share: bool = True) -> str:
    """Draw the scores of all teams on all parts; the best of a part is bold, and what is missing a dash.

    Args:
        document: `parts`, `rows` with `values`, `score`, `title` and `higher_is_better`; perhaps `rounding`.
        shade: `gap` for the distance from the best of the part, `score` for the score.
        share: whether the score's range is 0 to 1; others are shaded within the range of the values.
    """
    matrix = _laid_out(document, shade, share=share)
    room = max(matrix.right, _NARROWEST_MATRIX) - draw.MARGIN
    title = one_line(document["title"])
    drawing = draw.Drawing("matrix", f"{title}: {document['score']} by part and team", _matrix_described(matrix))
    y = draw.heading(drawing, title, [_matrix_caption(matrix)], room)
    y = _draw_key(drawing, matrix, y + 18, room, share=share)
    top = y + _draw_team_heads(drawing, matrix, y + 12) + 20
    _draw_matrix_cells(drawing, matrix, top)
    return drawing.svg(room + 2 * draw.MARGIN, top + _HIGH * len(matrix.names) + draw.MARGIN)


def points_of(values: Sequence[Sequence[float | None]], *, share: bool = True) -> list[list[float | None]]:
    """Return values in points, from which `shade_of` computes the shades.

    Args:
        values: of the matrix, in rows.
        share: whether the score's range is 0 to 1; others are in hundredths of the range of the values.
    """
    known = [value for row in values for value in row if value is not None]
    low, span = 0.0, 1.0
    if known and not share:
        low, span = min(known), max(known) - min(known) or 1.0
    return [[None if value is None else 100 * (value - low) / span for value in row] for row in values]


def _laid_out(document: Mapping[str, Any], shade: draw.ShadeBy, *, share: bool) -> _Matrix:
    rows, parts = document["rows"], document["parts"]
    names = [one_line(part["name"]) for part in parts]
    values = by_part(document)
    overall = [row.get("score") for row in rows]
    if any(value is not None for value in overall):
        part = document.get("part") or "macro"
        names, values = [one_line(TOGETHER.get(part, part)), *names], [overall, *values]
    figures = draw.stepped(figures_of(PERCENT, share=share), document.get("rounding"))
    words = {draw.value_words(value, figures) for row in values for value in row}
    wide = max(38.0, max((_CELL_SLACK * draw.width(each, _SIZE, draw.BOLD) for each in words), default=0.0) + 10)
    left = draw.MARGIN + max(draw.room_of(names), draw.room_of(["Part"], _SIZE)) + 10
    points = points_of(values, share=share)
    return _Matrix(document, _team_heads(rows), names, values, points, figures, shade, left, wide)


def by_part(document: Mapping[str, Any]) -> list[list[float | None]]:
    """Return the values of a matrix as people see it: a list for each part, with one value a row of the document."""
    return [[row["values"][at] for row in document["rows"]] for at in range(len(document["parts"]))]


def _draw_team_heads(drawing: draw.Drawing, matrix: _Matrix, top: float) -> float:
    """Write the names of the teams upwards, and return how high they are."""
    names = matrix.heads
    high = max(draw.room_of(names, most=180), 16.0)
    for index, name in enumerate(names):
        x = matrix.left + index * matrix.wide + matrix.wide / 2 + 4
        draw.put(drawing, x, top + high, name, draw.Look(turned=True), high)
    draw.put(drawing, draw.MARGIN, top + high, "Part", draw.Look(size=_SIZE, tone=draw.SOFT))
    return high


def _draw_matrix_cells(drawing: draw.Drawing, matrix: _Matrix, top: float) -> None:
    shades: dict[str, list[tuple[float, float]]] = {}
    texts: dict[str, list[tuple[float, float, str]]] = {"400": [], "700": []}
    missing: list[tuple[float, float, str]] = []
    for row, points in enumerate(matrix.points):
        y, most = top + row * _HIGH, matrix.best(row)
        draw.put(drawing, draw.MARGIN, y + 15, matrix.names[row], draw.Look(), matrix.left - 10 - draw.MARGIN)
        for index, point in enumerate(points):
            x = matrix.left + index * matrix.wide
            if point is None or most is None:
                missing.append((x + matrix.wide / 2, y + 15, draw.MISSING))
                continue
            shades.setdefault(draw.shade_of(point, most, matrix.by), []).append((x, y))
            words = draw.value_words(matrix.values[row][index], matrix.figures)
            texts["700" if point == most else "400"].append((x + matrix.wide - 6, y + 15, words))
    for shade, corners in sorted(shades.items()):
        drawing.cells(corners, matrix.wide - 1, _HIGH - 1, class_=shade, fill=draw.SHADES[shade])
    for weight, placed in texts.items():
        drawing.texts(placed, class_="lab", font_size=_SIZE, text_anchor=draw.END, font_weight=weight)
    drawing.texts(missing, class_="soft", font_size=_SIZE, text_anchor=draw.MIDDLE, fill=draw.SOFT)


def _draw_key(drawing: draw.Drawing, matrix: _Matrix, top: float, room: float, *, share: bool) -> float:
    """Draw what the shades mean, and return where it ends."""
    x, y, lead = float(draw.MARGIN), top, _lead(matrix, share=share)
    draw.put(drawing, x, y + 14, lead, draw.Look(tone=draw.SOFT))
    x += draw.room_of([lead], most=1000) + 24
    for class_, words in key_of(matrix.by):
        needed = max(40.0, draw.room_of([words]) + 14)
        if x + needed > room:
            x, y = float(draw.MARGIN), y + 22
        drawing.cells([(x, y)], needed - 1, 20, class_=class_, fill=draw.SHADES[class_])
        draw.put(drawing, x + needed / 2, y + 14, words, draw.Look(anchor=draw.MIDDLE))
        x += needed
    return y + 20


def _lead(matrix: _Matrix, *, share: bool) -> str:
    unit = "points" if share else "% of the range"
    if matrix.by == draw.BY_GAP:
        better = "Below" if matrix.document["higher_is_better"] else "Above"
        return f"{better} the best of the row by ({unit})"
    return str(matrix.document["score"]) + ("" if share else f" ({unit})")


def key_of(by: draw.ShadeBy = draw.BY_GAP) -> list[tuple[str, str]]:
    """Return the classes of the shades and what each means, for the key of a matrix."""
    if by == draw.BY_GAP:
        steps = [f"{step:g}" for step in draw.GAP_STEPS[1:]]
        between = [f"{low}–{high}" for low, high in pairwise(steps)]
        words = ["0", f"< {steps[0]}", *between, f"≥ {steps[-1]}"]
        return [(f"d{step}", each) for step, each in enumerate(words)]
    least, *_, most = draw.SCORE_STEPS
    words = [f"< {least:g}", *(f"{step:g}" for step in draw.SCORE_STEPS[:-1]), f"≥ {most:g}"]
    return [(f"a{step}", each) for step, each in enumerate(words)]


def _team_heads(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the columns: teams, with the submission where a team has several, and baselines by name."""
    teams = [str(row.get("team_name") or row.get("team") or "anonymous") for row in rows]
    counts = Counter(teams)
    names = []
    for team, row in zip(teams, rows, strict=True):
        own = row.get("name")
        if row.get("role") == "baseline":
            names.append(one_line(f"baseline {own}" if own else "baseline"))
        else:
            names.append(one_line(f"{team}: {own}" if own and counts[team] > 1 else team))
    return names


def _matrix_caption(matrix: _Matrix) -> str:
    document = matrix.document
    size = f"{counted(len(document['rows']), 'system')} on {counted(len(document['parts']), 'part')}"
    unit = " (percent)" if matrix.figures.in_percent else ""
    return f"{document['score']}{unit} of {size}. The best of a row is bold; {draw.MISSING} no score."


def _matrix_described(matrix: _Matrix) -> str:
    """Return the best of each row in words."""
    listed = []
    for row, points in enumerate(matrix.points[:_LISTED]):
        most = matrix.best(row)
        if most is None:
            listed.append(f"{matrix.names[row]}: no score")
            continue
        index = points.index(most)
        value = draw.value_words(matrix.values[row][index], matrix.figures)
        listed.append(f"{matrix.names[row]}: best {matrix.heads[index]} {value}")
    more = f" And {len(matrix.points) - _LISTED} more rows." if len(matrix.points) > _LISTED else ""
    missing = sum(value is None for row in matrix.values for value in row)
    return f"{_matrix_caption(matrix)} {'; '.join(listed)}.{more} {counted(missing, 'value')} missing."


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


class PairMap(NamedTuple):
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
    rooms = [draw.room_of(words, size, most=220) for words, size in _system_labels(table, worded=worded)]
    left = max(
        (draw.MARGIN + room + _BESIDE - row * wide for row, room in enumerate(rooms)), default=float(draw.MARGIN)
    )
    left = max(left, draw.MARGIN + _BESIDE)
    return PairMap(table, left, wide, high, left + max(0, count - 1) * wide)


def draw_pair_map(drawing: draw.Drawing, drawn: PairMap, top: float, room: float) -> float:
    """Draw the map below `top` with its legend, and return where it ends."""
    _draw_shades(drawing, drawn, top)
    if drawn.worded:
        _draw_words(drawing, drawn, top)
    else:
        _draw_dots(drawing, drawn, top)
    _draw_names(drawing, drawn, top)
    _draw_clusters(drawing, drawn, top)
    return _draw_legend(drawing, drawn.table, top + len(drawn.table.systems) * drawn.high + 24, room)


def _system_labels(table: CrossTable, *, worded: bool) -> Iterator[tuple[list[str], float]]:
    """Yield the lines of each system's label, with the size of their type."""
    for name, system in zip(table.names, table.systems, strict=True):
        score = draw.value_words(system["score"], table.figures)
        yield ([name, score], draw.SMALL) if worded else ([f"{name}  {score}"], _NAMES_SIZE)


def _cell_width(table: CrossTable) -> float:
    words = [each for cell in table.cells.values() for each in _cell_words(table, cell)]
    return max(46.0, max((draw.SLACK * draw.width(each, _CELL_SIZE, draw.BOLD) for each in words), default=0.0) + 20)


def _cell_words(table: CrossTable, cell: Cell) -> tuple[str, str]:
    """Return the difference of a pair, and its p, or its interval where it has none."""
    second = draw.interval_words(cell.low, cell.high, table.figures, signed=True) if cell.p is None else p_words(cell.p)
    return draw.signed_words(cell.difference, table.figures), second


def _draw_shades(drawing: draw.Drawing, drawn: PairMap, top: float) -> None:
    """Fill the cells by p, and hatch those in which the column's system is significantly better."""
    by_shade: dict[str | None, list[tuple[float, float]]] = {}
    hatched = []
    for at, cell in sorted(drawn.table.cells.items()):
        corner = drawn.corner(at, top)
        by_shade.setdefault(draw.shade_of_p(cell.p), []).append(corner)
        if cell.significant and cell.winner == "column":
            hatched.append(corner)
    wide, high = drawn.wide - 1, drawn.high - 1
    for shade, corners in sorted(by_shade.items(), key=lambda each: each[0] or "e"):
        if shade is None:
            inner = [(x + 0.5, y + 0.5) for x, y in corners]
            drawing.cells(inner, wide - 1, high - 1, class_="grid", fill="none", stroke=draw.LINE_COLOUR)
        else:
            drawing.cells(corners, wide, high, class_=shade, fill=draw.SHADES[shade])
    if hatched:
        drawing.cells(hatched, wide, high, fill=drawing.hatch())


def _draw_words(drawing: draw.Drawing, drawn: PairMap, top: float) -> None:
    """Write each pair: bold where it is significant, with an arrow to the better system, a dash without figures."""
    texts: dict[tuple[int, bool], list[tuple[float, float, str]]] = {}
    arrows = []
    cells = drawn.table.cells
    for at, cell in sorted(cells.items()):
        x, y = drawn.corner(at, top)
        middle = x + (drawn.wide - 1) / 2
        hatched = cell.significant and cell.winner == "column"
        first, second = _cell_words(drawn.table, cell)
        texts.setdefault((draw.BOLD if cell.significant else draw.NORMAL, hatched), []).append((middle, y + 17, first))
        texts.setdefault((draw.NORMAL, hatched), []).append((middle, y + 32, second))
        if cell.winner == "row":
            arrows.append(f"M{draw.number(x + 8)} {draw.number(y + 9)}v8l-5 -4z")
        elif cell.winner == "column":
            arrows.append(f"M{draw.number(x + 3)} {draw.number(y + 15)}h8l-4 -6z")
    missing = [drawn.corner(at, top) for at in combinations(range(len(drawn.table.systems)), 2) if at not in cells]
    if missing:
        placed = [(x + (drawn.wide - 1) / 2, y + 24, draw.MISSING) for x, y in missing]
        drawing.texts(placed, class_="soft", font_size=_CELL_SIZE, text_anchor=draw.MIDDLE, fill=draw.SOFT)
    if arrows:
        drawing.path("".join(arrows), class_="off", fill=draw.SOFT)
    for (weight, hatched), placed in sorted(texts.items()):
        drawing.texts(
            placed, class_="lab rel" if hatched else "lab", font_size=_CELL_SIZE, text_anchor=draw.MIDDLE,
            font_weight="600" if weight == draw.BOLD else None, stroke=draw.PAPER if hatched else None,
            stroke_width=3 if hatched else None, paint_order="stroke" if hatched else None,
        )  # fmt: skip


def _draw_dots(drawing: draw.Drawing, drawn: PairMap, top: float) -> None:
    """Mark the significant pairs of a map that is too fine for figures."""
    places = [drawn.corner(at, top) for at, cell in sorted(drawn.table.cells.items()) if cell.significant]
    _dots(drawing, [(x + (drawn.wide - 1) / 2, y + (drawn.high - 1) / 2) for x, y in places])


def _dots(drawing: draw.Drawing, places: Iterable[tuple[float, float]]) -> None:
    d = "".join(f"M{draw.number(x)} {draw.number(y)}h0" for x, y in places)
    if d:
        drawing.path(d, class_="sig", stroke=draw.INK, stroke_width=4, stroke_linecap="round")


def _draw_names(drawing: draw.Drawing, drawn: PairMap, top: float) -> None:
    """Write each system on the diagonal: left of its row's cells and below its column's."""
    for row, (lines, size) in enumerate(_system_labels(drawn.table, worded=drawn.worded)):
        right = drawn.left + row * drawn.wide - _BESIDE
        y = top + row * drawn.high + (16 if drawn.worded else drawn.high - 3)
        for index, words in enumerate(lines):
            look = draw.Look(size=size - index, anchor=draw.END, tone=draw.SOFT if index else draw.INK)
            draw.put(drawing, right, y + 15 * index, words, look, right - draw.MARGIN)


def _draw_clusters(drawing: draw.Drawing, drawn: PairMap, top: float) -> None:
    """Draw lines between clusters: no pair left of and below them is of two clusters."""
    for row in range(1, len(drawn.table.systems)):
        if drawn.table.boundary_above(row):
            x, y = drawn.left + (row - 1) * drawn.wide - 0.5, top + row * drawn.high - 0.5
            line = f"M{draw.number(drawn.right)} {draw.number(y)}H{draw.number(x)}V{draw.number(top)}"
            drawing.path(line, class_="ci", stroke=draw.INK, stroke_width=1.5)


def _draw_legend(drawing: draw.Drawing, table: CrossTable, top: float, room: float) -> float:
    """Draw what shades and marks mean, in as many lines as it takes, and return where they end."""
    x, y = float(draw.MARGIN), top
    for kind, words in _pair_map_legend(table):
        needed = draw.SLACK * draw.width(words, draw.SMALL) + (_SWATCH + 6 if kind else 0)
        if x > draw.MARGIN and x + needed * draw.SLACK > room:
            x, y = float(draw.MARGIN), y + 20
        if kind:
            _swatch(drawing, kind, x, y - 10)
        draw.put(drawing, x + (_SWATCH + 6 if kind else 0), y, words, draw.Look(tone=draw.SOFT))
        x += needed + _ITEM_GAP
    return y + 4


def _pair_map_legend(table: CrossTable) -> Iterator[tuple[str, str]]:
    cells = table.cells.values()
    worded = len(table.systems) <= MOST_WORDED
    if any(cell.p is not None for cell in cells):
        for step, most in enumerate(draw.P_STEPS):
            yield draw.p_shade(step), f"p up to {f'{most:.4f}'.rstrip('0').removeprefix('0')}"
        yield "none", "above"
        alpha = f"significant at {table.document['alpha']:g}"
        yield ("", f"bold: {alpha}") if worded else ("dot", alpha)
    if any(cell.significant and cell.winner == "column" for cell in cells):
        yield "hatch", "column’s system significantly better"  # noqa: RUF001 - the apostrophe of print
    if worded:
        yield "", "Arrow to the left: the row’s system is better; up: the column’s."  # noqa: RUF001 - as above


def _swatch(drawing: draw.Drawing, kind: str, x: float, y: float) -> None:
    if kind in draw.SHADES:
        drawing.cells([(x, y)], _SWATCH, 12, class_=kind, fill=draw.SHADES[kind])
        return
    drawing.cells([(x + 0.5, y + 0.5)], _SWATCH - 1, 11, class_="grid", fill="none", stroke=draw.LINE_COLOUR)
    if kind == "hatch":
        drawing.cells([(x, y)], _SWATCH, 12, fill=drawing.hatch())
    elif kind == "dot":
        _dots(drawing, [(x + _SWATCH / 2, y + 6)])
