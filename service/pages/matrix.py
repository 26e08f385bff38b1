"""The matrix of a benchmark: parts down, teams across."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import orjson
from flask import Response, request

from service.api import calls
from service.errors import BadRequest
from service.pages import answers
from service.pages.answers import export, export_links
from service.pages.benchmarks import benchmark_document, state_now
from service.pages.board import default_board, heading, row_name
from service.pages.figures import TOGETHER, NamedScore, ScoreNames
from service.pages.visitors import visitor
from service.render import MATRIX_FORMATS
from service.schemas import queries
from service.usecases.access.access import item_number
from service.usecases.boards.leaderboard import MOST_MATRIX_ROWS, matrix
from service.usecases.runs.views import View
from treescore.core.wording import counted
from treescore.render.drawing import BY_GAP, BY_SCORE, GAP_STEPS, SCORE_STEPS, ShadeBy, shade_of

blueprint = answers.pages("matrix", "/b/<benchmark>/matrix")
ORDERS = {"name": "by name", "best": "by best score", "spread": "by spread"}
SHADES: Mapping[str, ShadeBy] = {"gap": BY_GAP, "score": BY_SCORE}
CURSOR = "cursor"
MOST_TEAMS = 100
"""Columns of one page: 26 fit in a window, and 1,000 teams on 200 parts would be a page of 5 MB."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: the figure, its class, and whether it is the best of its row."""

    shown: str
    shade: str
    best: bool


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """One row of the table: a part, or what ranks the teams.

    Attributes:
        name: of the part; empty for the row that ranks.
        title: its size, where it is known.
        values: one a team, also of those that the page does not show.
        cells: those of the teams that it shows.
    """

    name: str
    title: str
    values: Sequence[float | None]
    cells: Sequence[Cell]


@blueprint.get("")
def show_matrix(benchmark: str) -> Response:
    """Show the score that ranks of every team on every part."""
    query, own = answers.query(queries.MATRIX, "order", "shade", CURSOR)
    order, shade = _choice(own, "order", ORDERS), _choice(own, "shade", SHADES)
    start = item_number(own.get(CURSOR))
    before = start - start % MOST_MATRIX_ROWS
    query = replace(query, cursor=str(before) if before else None)
    view = matrix(calls.context(), visitor().caller, benchmark, query)
    shown = slice(start - before, start - before + MOST_TEAMS)
    version = (view.etag, state_now(benchmark, view))
    return answers.known_page(
        "matrix.html", version, partial(_matrix_values, benchmark, view, order, shade, start, shown)
    )


@blueprint.get("/export")
def export_matrix(benchmark: str) -> Response:
    """Show the matrix in another format, to a visitor who is signed in."""
    query, _ = answers.query(queries.MATRIX)
    view = matrix(calls.context(), visitor().caller, benchmark, query)
    return export(view, f"{benchmark}-matrix")


def _choice(own: Mapping[str, str], name: str, known: Mapping[str, object]) -> str:
    """Return the value of a parameter of the page, by default the first.

    Raises:
        BadRequest: unknown value.
    """
    value = own.get(name, next(iter(known)))
    if value not in known:
        raise BadRequest(f"{name}: unknown value. Use one of: {', '.join(known)}.", slug="invalid-query")
    return value


def _matrix_values(benchmark: str, view: View, order: str, shade: str, start: int, shown: slice) -> dict[str, object]:
    """Return what the template shows.

    Args:
        benchmark: its id.
        view: of the matrix, with the rows of a block of teams.
        order: of the parts.
        shade: of the cells.
        start: teams before the first that is shown.
        shown: of the view's rows.
    """
    document = orjson.loads(view.body)
    about = benchmark_document(visitor().caller, benchmark)
    names = ScoreNames(about, document["rounding"])
    score = names(document["score"])
    higher = document["higher_is_better"]
    cells = partial(_cells, score=score, by=SHADES[shade], higher=higher, shown=shown)
    board = default_board(benchmark)
    query = dict(request.args.items())
    whole = {name: value for name, value in query.items() if name != CURSOR}
    teams = [row_name(row) for row in document["rows"][shown]]
    return {
        **heading(about, document),
        "matrix": document,
        "score": score,
        "names": [names(address) for address in board["scores"]],
        "teams": teams,
        "main": _line("", "", [row["score"] for row in document["rows"]], cells),
        "main_name": TOGETHER.get(document["part"] or "", document["part"] or "score"),
        "lines": _ordered(_matrix_lines(document, cells), order, higher=higher),
        "orders": ORDERS, "order": order, "shade": shade,
        "key": _key(shade),
        "caption": _matrix_caption(document, score),
        "query": query,
        "start": start, "places": _places(start, len(teams), document["total_rows"]),
        "exports": export_links(
            f"/v1/benchmarks/{benchmark}/matrix", f"/b/{benchmark}/matrix/export", whole, MATRIX_FORMATS
        ),
    }  # fmt: skip


def _places(start: int, teams: int, total: int) -> list[tuple[str, int | None]]:
    """Return which teams the pages of a matrix show, in words, and where they begin; None for the one that is shown."""
    if teams == total:
        return []
    pages = range(0, total, MOST_TEAMS)
    around = [at for at in pages if at in (0, pages[-1]) or abs(at - start) < 3 * MOST_TEAMS]
    return [
        (f"{at + 1:,}–{min(at + MOST_TEAMS, total):,}", None if at == start else at) for at in around
    ]  # fmt: skip


def _matrix_caption(document: Mapping[str, Any], score: NamedScore) -> str:
    teams, parts = counted(document["total_rows"], "team"), counted(len(document["parts"]), "part")
    return f"{score.label} of {teams} on {parts}."


Cells = Callable[[Sequence[float | None]], Sequence[Cell]]


def _matrix_lines(document: Mapping[str, Any], cells: Cells) -> list[MatrixLine]:
    lines = []
    for at, part in enumerate(document["parts"]):
        values = [row["values"][at] for row in document["rows"]]
        sizes = [counted(part[f"{unit}s"], unit) for unit in ("sentence", "word") if part[f"{unit}s"] is not None]
        lines.append(_line(part["name"], ", ".join(sizes), values, cells))
    return lines


def _line(name: str, title: str, values: Sequence[float | None], cells: Cells) -> MatrixLine:
    return MatrixLine(name, title, values, cells(values))


def _cells(
    values: Sequence[float | None], *, score: NamedScore, by: ShadeBy, higher: bool, shown: slice
) -> list[Cell]:  # fmt: skip
    """Return the shown cells of a row, shaded by their distance from the best of all or by the score itself."""
    known = [value for value in values if value is not None]
    best = (max(known) if higher else min(known)) if known else 0.0
    factor, value_words = score.figures.factor, score.figures.value

    def cell(value: float | None) -> Cell:
        words = value_words(value)
        if value is None:
            return Cell(words, "none", best=False)
        shade = shade_of(factor * value, factor * best, by) if score.figures.share else ""
        return Cell(words, shade, best=value == best)

    return [cell(value) for value in values[shown]]


def _ordered(lines: Sequence[MatrixLine], order: str, *, higher: bool) -> list[MatrixLine]:
    """Return the parts in the order that is asked for; parts without a score come last."""

    def key(line: MatrixLine) -> tuple[bool, float, str]:
        known = [value for value in line.values if value is not None]
        if order == "name" or not known:
            return (not known and order != "name", 0.0, line.name)
        if order == "spread":
            return (False, min(known) - max(known), line.name)
        return (False, -max(known) if higher else min(known), line.name)

    return sorted(lines, key=key)


def _key(shade: str) -> list[tuple[str, str]]:
    """Return the steps of the shades: class and words."""
    if SHADES[shade] == BY_SCORE:
        ends = [f"< {SCORE_STEPS[0]:g}", *(f"{step:g}" for step in SCORE_STEPS[:-1]), f"> {SCORE_STEPS[-1]:g}"]
        return [(f"a{number}", words) for number, words in enumerate(ends)]
    steps = GAP_STEPS[1:]
    between = [f"{low:g}–{high:g}" for low, high in pairwise(steps)]
    words = ["0", f"< {steps[0]:g}", *between, f"> {steps[-1]:g} points"]
    return [(f"d{number}", word) for number, word in enumerate(words)]
