"""The board of a benchmark: ranks, scores, what the tests say of them, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Response, request
from markupsafe import Markup

from service.api import calls
from service.pages import answers
from service.pages.answers import drawn, export, export_links
from service.pages.benchmarks import benchmark_document, state_now, state_of
from service.pages.figures import TOGETHER, NamedScore, ScoreNames, correction_name, units_name
from service.pages.visitors import visitor
from service.render import LEADERBOARD_FORMATS
from service.render.documents import BoardDocument
from service.render.leaderboard import board_scale, row_mark
from service.requests import PICKS, LeaderboardQuery
from service.schemas import queries
from service.usecases.boards.leaderboard import leaderboard
from service.usecases.runs.views import View
from treescore.core.params import Json
from treescore.core.wording import Figures, counted
from treescore.render.dot_table import Scale, axis_svg, interval_bar_svg
from treescore.render.drawing import ranks_words

blueprint = answers.pages("board", "/b/<benchmark>")
SORT = "sort"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table, as its cells.

    Attributes:
        document: of the leaderboard.
        name: of the team.
        span: ranks that the tests leave open; empty where it is the rank alone.
        begins_cluster: whether a line is drawn above.
        bar: its score on the axis of the column.
        heading: why this row and those below it are not tested; empty where that was said or they are.
    """

    document: Mapping[str, Any]
    name: str
    span: str
    begins_cluster: bool
    bar: Markup
    heading: str = ""


@blueprint.get("")
def show_board(benchmark: str) -> Response:
    """Show the board."""
    view, sort = _view(benchmark)
    version = (view.etag, sort, state_now(benchmark, view))
    return answers.known_page("board.html", version, partial(_board_values, benchmark, view, sort))


@blueprint.get("/live")
def show_board_live(benchmark: str) -> Response:
    """Show the table again, if it differs from the version that the page has."""
    own = {name: value for name, value in request.args.items() if name != "version"}
    view, sort = _view(benchmark)
    closed = state_now(benchmark, view) == "closed"
    return answers.known_fragment(
        "board_table.html", view.etag, final=view.final and closed,
        values=partial(_board_values, benchmark, view, sort, asked=own),
    )  # fmt: skip


@blueprint.get("/export")
def export_board(benchmark: str) -> Response:
    """Show the board in another format, to a visitor who is signed in."""
    query, _ = answers.query(queries.LEADERBOARD)
    return export(leaderboard(calls.context(), visitor().caller, benchmark, query), f"{benchmark}-board")


def _view(benchmark: str) -> tuple[View, str]:
    query, own = answers.query(queries.LEADERBOARD, SORT, "version")
    view = leaderboard(calls.context(), visitor().caller, benchmark, query)
    return view, own.get(SORT, "")


def _board_values(benchmark: str, view: View, sort: str, asked: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return what the templates of the board show."""
    board = orjson.loads(view.body)
    document = benchmark_document(visitor().caller, benchmark)
    names = ScoreNames(document, board["rounding"])
    ranking = names(board["score"])
    columns = names.columns(board["score"], board["scores"])
    figures = ranking.figures.figures
    scale = board_scale(board, figures)
    query = dict(asked if asked is not None else request.args.items())
    shown = heading(document, board)
    return {
        **shown,
        "board": board,
        "ranking": ranking,
        "columns": columns,
        "names": [names(address) for address in board["scores"]],
        "axis": drawn(axis_svg(scale)),
        "rows": _sorted(_board_rows(board, figures, scale), sort),
        "sort": sort,
        "query": query,
        "sort_links": partial(_sort_link, query, sort),
        "caption": _board_caption(board, ranking, len(document["parts"])),
        "parts": part_choices(document),
        "picks": PICKS if visitor().caller.organiser else (),
        "exports": export_links(
            f"/v1/benchmarks/{benchmark}/leaderboard", f"/b/{benchmark}/export", query, LEADERBOARD_FORMATS
        ),
        "live": shown["state"] != "closed" or not view.final,
        "version": view.etag,
    }


def shown_board(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the head of a page of a benchmark that shows something else than its board."""
    return heading(document, default_board(document["id"]))


def default_board(benchmark: str) -> dict[str, Any]:
    """Return the board of a benchmark by the score that ranks."""
    view = leaderboard(calls.context(), visitor().caller, benchmark, LeaderboardQuery())
    document: dict[str, Any] = orjson.loads(view.body)
    return document


def heading(document: Mapping[str, Any], board: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands at the head of the pages of a benchmark."""
    state = state_of(document, calls.context().now())
    rows = {row["team"] or row["submission"] for row in board["rows"] if row["role"] != "baseline"}
    counts = [counted(len(rows), "team")] if rows else []
    summary = ", ".join([*counts, counted(len(document["parts"]), "part"), state])
    return {"benchmark": document, "state": state, "summary": f"{summary[:1].upper()}{summary[1:]}."}


def _board_rows(board: BoardDocument, figures: Figures, scale: Scale) -> list[Row]:
    rows, cluster, said = [], None, board["significance"]["pending"]
    for document in board["rows"]:
        begins = document["cluster"] is not None and cluster is not None and document["cluster"] != cluster
        cluster = cluster if document["cluster"] is None else document["cluster"]
        span = ranks_words(document.get("rank_interval"))
        bar = drawn(interval_bar_svg(scale, row_mark(document, figures)))
        heading = "" if said or document.get("tested") is not False else f"Not tested: {document['reason'] or ''}"
        said = said or bool(heading)
        rows.append(Row(document, row_name(document), span, begins, bar, heading))
    return rows


def row_name(document: Mapping[str, Any]) -> str:
    """Return what a row is called: its team, else its submission where that is a baseline's."""
    if document["role"] == "baseline":
        return str(document["name"] or "baseline")
    return str(document["team_name"] or document["team"] or "anonymous")


def _sorted(rows: Sequence[Row], sort: str) -> list[Row]:
    """Return the rows by a column: `-` before its name sorts from high to low. Rows without a value come last."""
    column = sort.removeprefix("-")
    if not column:
        return list(rows)

    def value(row: Row) -> Any:
        if column == "team":
            return row.name.casefold()
        if column == "parts":
            return row.document["scored_parts"]
        return row.document["scores"].get(column)

    known = [row for row in rows if value(row) is not None]
    return sorted(known, key=value, reverse=sort.startswith("-")) + [row for row in rows if value(row) is None]


def _sort_link(query: Mapping[str, str], sort: str, column: str, best: str = "-") -> str:
    """Return the address that sorts by a column, first with the best above; the other way where it is so already."""
    wanted = f"{best}{column}"
    other = {"-": "", "": "-"}[best] + column
    members = {name: value for name, value in query.items() if name not in (SORT, "version", "cursor") and value}
    return "?" + urlencode({**members, SORT: other if sort == wanted else wanted})


def _board_caption(board: Mapping[str, Json], ranking: NamedScore, parts: int) -> str:
    """Say what is measured, and how it was tested."""
    part = board["part"]
    if part == "macro":
        measured = f"Mean {ranking.label} of {counted(parts, 'part')}."
    elif part == "pooled":
        measured = f"{ranking.label} over all sentences of {counted(parts, 'part')} together."
    else:
        measured = f"{ranking.label}." if part is None else f"{ranking.label} of the part {part}."
    significance = board["significance"]
    if significance["pending"]:
        return f"{measured} The differences are being tested: {_pairs(board)}."
    if significance["test"] is None or not significance["pairs"]:
        return f"{measured} {significance['reason'] or ''}".strip()
    units, correction = units_name(significance["unit"]), correction_name(significance["correction"])
    return (
        f"{measured} A line is drawn where every team above differs from every team below (paired permutation over "
        f"{units}, {correction}, α = {significance['alpha']:g})."
    )


def _pairs(board: Mapping[str, Json]) -> str:
    rows = min(board["total_rows"], board["significance"]["first_rows"])
    return counted(rows * (rows - 1) // 2, "pair")


def part_choices(document: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Return the values of `part`, and what they are called; none for a benchmark of one part."""
    if len(document["parts"]) == 1:
        return []
    tracks = [(name, f"{name} ({counted(len(parts), 'part')})") for name, parts in document.get("tracks", {}).items()]
    return [*TOGETHER.items(), *tracks, *((name, name) for name in document["parts"])]
