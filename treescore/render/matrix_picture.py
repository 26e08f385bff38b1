"""The matrix of a benchmark: parts down, teams across, shaded by the distance from the best of a part or by score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from treescore.core.counting import counted
from treescore.core.figures import PERCENT, Figures, figures_of
from treescore.core.one_line import clean
from treescore.render.chart_words import MISSING, stepped, value_words
from treescore.render.drawing import END, MIDDLE, SOFT, Drawing
from treescore.render.letters import BOLD, width
from treescore.render.shades import COLOURS, GAP, GAP_STEPS, SCORE_STEPS, By, shade_of
from treescore.render.sheet import MARGIN, Look, heading, put, room_of

_SIZE = 12
"""Of the type in cells."""
_HIGH = 22
_CELL_SLACK = 1.25
"""Room of a cell, of its width in Source Sans: nothing is between cells, and other fonts are wider."""
_NARROWEST_MATRIX = 640
_LISTED = 40
OVERALL = "all parts"
"""Name of the row above the parts."""


@dataclass(frozen=True, slots=True)
class _Matrix:
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
    by: By
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


def matrix_svg(document: Mapping[str, Any], shade: By = GAP, *, share: bool = True) -> str:
    """Draw the scores of all teams on all parts; the best of a part is bold, and what is missing a dash.

    Args:
        document: `parts`, `rows` with `values`, `score`, `title` and `higher_is_better`; perhaps `rounding`.
        shade: `gap` for the distance from the best of the part, `score` for the score.
        share: whether the score's range is 0 to 1; others are shaded within the range of the values.
    """
    matrix = _laid_out(document, shade, share=share)
    room = max(matrix.right, _NARROWEST_MATRIX) - MARGIN
    drawing = Drawing("matrix", _matrix_title(document), _matrix_described(matrix))
    y = heading(drawing, clean(document["title"]), [_caption(matrix)], room)
    y = _draw_key(drawing, matrix, y + 18, room, share=share)
    top = y + _draw_team_heads(drawing, matrix, y + 12) + 20
    _draw_matrix_cells(drawing, matrix, top)
    return drawing.svg(room + 2 * MARGIN, top + _HIGH * len(matrix.names) + MARGIN)


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


def _laid_out(document: Mapping[str, Any], shade: By, *, share: bool) -> _Matrix:
    rows, parts = document["rows"], document["parts"]
    names = [clean(part["name"]) for part in parts]
    values = [[row["values"][at] for row in rows] for at in range(len(parts))]
    overall = [row.get("score") for row in rows]
    if any(value is not None for value in overall):
        names, values = [OVERALL, *names], [overall, *values]
    figures = stepped(figures_of(PERCENT, share=share), document.get("rounding"))
    words = {value_words(value, figures) for row in values for value in row}
    wide = max(38.0, max((_CELL_SLACK * width(each, _SIZE, BOLD) for each in words), default=0.0) + 10)
    left = MARGIN + max(room_of(names), room_of(["Part"], _SIZE)) + 10
    points = points_of(values, share=share)
    return _Matrix(document, _heads(rows), names, values, points, figures, shade, left, wide)


def _draw_team_heads(drawing: Drawing, matrix: _Matrix, top: float) -> float:
    """Write the names of the teams upwards, and return how high they are."""
    names = matrix.heads
    high = max(room_of(names, most=180), 16.0)
    for index, name in enumerate(names):
        x = matrix.left + index * matrix.wide + matrix.wide / 2 + 4
        put(drawing, x, top + high, name, Look(turned=True), high)
    put(drawing, MARGIN, top + high, "Part", Look(size=_SIZE, tone=SOFT))
    return high


def _draw_matrix_cells(drawing: Drawing, matrix: _Matrix, top: float) -> None:
    shades: dict[str, list[tuple[float, float]]] = {}
    texts: dict[str, list[tuple[float, float, str]]] = {"400": [], "700": []}
    missing: list[tuple[float, float, str]] = []
    for row, points in enumerate(matrix.points):
        y, most = top + row * _HIGH, matrix.best(row)
        put(drawing, MARGIN, y + 15, matrix.names[row], Look(), matrix.left - 10 - MARGIN)
        for index, point in enumerate(points):
            x = matrix.left + index * matrix.wide
            if point is None or most is None:
                missing.append((x + matrix.wide / 2, y + 15, MISSING))
                continue
            shades.setdefault(shade_of(point, most, matrix.by), []).append((x, y))
            words = value_words(matrix.values[row][index], matrix.figures)
            texts["700" if point == most else "400"].append((x + matrix.wide - 6, y + 15, words))
    for shade, corners in sorted(shades.items()):
        drawing.cells(corners, matrix.wide - 1, _HIGH - 1, class_=shade, fill=COLOURS[shade])
    for weight, placed in texts.items():
        drawing.texts(placed, class_="lab", font_size=_SIZE, text_anchor=END, font_weight=weight)
    drawing.texts(missing, class_="soft", font_size=_SIZE, text_anchor=MIDDLE, fill=SOFT)


def _draw_key(drawing: Drawing, matrix: _Matrix, top: float, room: float, *, share: bool) -> float:
    """Draw what the shades mean, and return where it ends."""
    x, y, lead = float(MARGIN), top, _lead(matrix, share=share)
    put(drawing, x, y + 14, lead, Look(tone=SOFT))
    x += room_of([lead], most=1000) + 24
    for class_, words in key_of(matrix.by):
        needed = max(40.0, room_of([words]) + 14)
        if x + needed > room:
            x, y = float(MARGIN), y + 22
        drawing.cells([(x, y)], needed - 1, 20, class_=class_, fill=COLOURS[class_])
        put(drawing, x + needed / 2, y + 14, words, Look(anchor=MIDDLE))
        x += needed
    return y + 20


def _lead(matrix: _Matrix, *, share: bool) -> str:
    unit = "points" if share else "% of the range"
    if matrix.by == GAP:
        better = "Below" if matrix.document["higher_is_better"] else "Above"
        return f"{better} the best of the row by ({unit})"
    return str(matrix.document["score"]) + ("" if share else f" ({unit})")


def key_of(by: By = GAP) -> list[tuple[str, str]]:
    """Return the classes of the shades and what each means, for the key of a matrix."""
    if by == GAP:
        steps = [f"{step:g}" for step in GAP_STEPS[1:]]
        between = [f"{low}–{high}" for low, high in pairwise(steps)]
        words = ["0", f"< {steps[0]}", *between, f"≥ {steps[-1]}"]
        return [(f"d{step}", each) for step, each in enumerate(words)]
    words = [f"< {SCORE_STEPS[0]:g}", *(f"{step:g}" for step in SCORE_STEPS[:-1]), f"≥ {SCORE_STEPS[-1]:g}"]
    return [(f"a{step}", each) for step, each in enumerate(words)]


def _heads(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the columns: teams, with the submission where a team has several, and baselines by name."""
    teams = [str(row.get("team_name") or row.get("team") or "anonymous") for row in rows]
    counts = Counter(teams)
    names = []
    for team, row in zip(teams, rows, strict=True):
        own = row.get("name")
        if row.get("role") == "baseline":
            names.append(clean(f"baseline {own}" if own else "baseline"))
        else:
            names.append(clean(f"{team}: {own}" if own and counts[team] > 1 else team))
    return names


def _matrix_title(document: Mapping[str, Any]) -> str:
    return f"{clean(document['title'])}: {document['score']} by part and team"


def _caption(matrix: _Matrix) -> str:
    document = matrix.document
    size = f"{counted(len(document['rows']), 'team')} on {counted(len(document['parts']), 'part')}"
    unit = " (percent)" if matrix.figures.in_percent else ""
    return f"{document['score']}{unit} of {size}. The best of a row is bold; {MISSING} no score."


def _matrix_described(matrix: _Matrix) -> str:
    """Return the best of each row in words."""
    listed = []
    for row, points in enumerate(matrix.points[:_LISTED]):
        most = matrix.best(row)
        if most is None:
            listed.append(f"{matrix.names[row]}: no score")
            continue
        index = points.index(most)
        value = value_words(matrix.values[row][index], matrix.figures)
        listed.append(f"{matrix.names[row]}: best {matrix.heads[index]} {value}")
    more = f" And {len(matrix.points) - _LISTED} more rows." if len(matrix.points) > _LISTED else ""
    missing = sum(value is None for row in matrix.values for value in row)
    return f"{_caption(matrix)} {'; '.join(listed)}.{more} {counted(missing, 'value')} missing."
