"""The board of a benchmark (ranks, scores, what the tests say of them, what is missing), and its matrix.

The matrix has parts down and teams across.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import urlencode

from flask import Response, request
from markupsafe import Markup

from service import errors, render, requests
from service.api import calls
from service.contract import leaderboards as boards
from service.contract.benchmarks import Benchmark
from service.contract.submissions import SubmissionsQuery
from service.pages import answers, visitors
from service.pages.answers import TABLES, api_links, drawn, export, export_links, table_file
from service.pages.figures import (
    NamedScore,
    ScoreNames,
    benchmark_document,
    frozen_since,
    heading_now,
    p_value,
    state_of,
)
from service.pages.markdown import strangers_html
from service.policy.gate import LEVELS, Level
from service.usecases import access, runs
from service.usecases.boards.compare import NEWER, NOT_TESTED, UNTESTED
from service.usecases.boards.viewing import MOST_ROWS, leaderboard, matrix
from service.usecases.submissions import submissions
from treescore.core.wording import Figures, counted, one_line
from treescore.render.crosstable import bounds
from treescore.render.dot_table import Scale, axis_svg, interval_bar_svg
from treescore.render.drawing import BY_GAP, BY_SCORE, MISSING, TITLE_SIZE, ShadeBy, ranks_words, shade_of, shortened
from treescore.render.heat_maps import TOGETHER, by_part, key_of
from treescore.render.table import LATEX, Column, Table

blueprint = answers.pages("board", "/b/<benchmark>")
SORT = "sort"
_PICTURE, _HOST_ROOM = 200, 480
"""Pixels of the pictures of rows, and of the words that say whose task it is."""


class Row(NamedTuple):
    """One row of the table, as its cells.

    Attributes:
        document: of the leaderboard.
        name: of the team.
        begins_cluster: whether a line is drawn above.
        bar: its score on the axis of the column.
        newer: whether the tests that are shown were made before it stood there.
        heading: why this row and those below it are not tested; empty where that was said or they are.
    """

    document: boards.LeaderboardRow
    name: str
    begins_cluster: bool
    bar: Markup
    newer: bool
    heading: str = ""

    @property
    def whole_name(self) -> str:
        """The team and its submission, or the baseline, in one line."""
        return whole_name(self.document)


class BoardColumn(NamedTuple):
    """A column of the board, on the page and in its files.

    Attributes:
        head: in files.
        cell: what it says of a row.
        kind: its class on the page; empty for words.
        shown: its head there, where that is another one.
        title: what it is.
        sort: by which rows are sorted by it; empty where they are not.
    """

    head: str
    cell: Callable[[Row], str]
    kind: str = "num"
    shown: str = ""
    title: str = ""
    sort: str = ""


@blueprint.get("")
def show_board(benchmark: str) -> Response:
    """Show the board."""
    view, sort = board_view(benchmark)
    version = (view.etag, sort, heading_now(benchmark, view))
    return answers.known_page("board.html", version, partial(board_values, benchmark, view, sort))


@blueprint.get("/live")
def show_board_live(benchmark: str) -> Response:
    """Show the table again, if it differs from the version that the page has."""
    own = {name: value for name, value in request.args.items() if name != "version"}
    view, sort = board_view(benchmark)
    closed = heading_now(benchmark, view)[0] == "closed"
    return answers.known_fragment(
        "board_table.html", view.etag, final=view.final and closed,
        values=partial(board_values, benchmark, view, sort, asked=own),
    )  # fmt: skip


@blueprint.get("/export")
def export_board(benchmark: str) -> Response:
    """Show the table of the board as a file: the same rows in the same order, the same columns and digits."""
    query, own = answers.query(boards.LeaderboardQuery, SORT, file=True)
    name = f"{benchmark}-board"
    if query.format not in TABLES:
        return export(leaderboard(calls.context(), visitors.visitor().caller, benchmark, query), name)
    view = leaderboard(calls.context(), visitors.visitor().caller, benchmark, replace(query, format=None))
    return table_file(_table(board_values(benchmark, view, own.get(SORT, "")), query.format), query.format, name)


def _table(shown: Mapping[str, Any], form: str) -> Table:
    """Return the table that the page shows, without its picture; LaTeX draws the rules of which the caption tells."""
    columns: Sequence[BoardColumn] = shown["columns"]
    lines = [[column.cell(row) for column in columns] for row in shown["rows"]]
    heads = [Column(column.head, numeric=bool(column.kind)) for column in columns]
    rules = {at for at, row in enumerate(shown["rows"]) if row.begins_cluster and not shown["sort"]}
    caption = " ".join([shown["caption" if form == LATEX else "caption_sorted"], *shown["explained"][:1]])
    return Table(caption, heads, lines, rules=rules, claim=shown["claims"])


def _columns(
    board: boards.Leaderboard, ranking: NamedScore, scores: Sequence[NamedScore], sort: str
) -> list[BoardColumn]:
    """Return the columns of a board: those of tests where it has such, of neighbours where rows stand by rank."""
    parts, figures = len(board["parts"]), ranking.figures
    tested = board["significance"]["reason"] is None

    def ranks(row: Row) -> str:
        return ranks_words(row.document["rank_interval"]) or (MISSING if row.document["rank"] else "")

    def scored(row: Row) -> str:
        found = row.document["scored_parts"]
        return f"{found} of {parts}" if row.document["missing_parts"] else str(found or "")

    def figure(score: NamedScore) -> BoardColumn:
        return BoardColumn(
            score.head, lambda row: score.figures.value(row.document["scores"].get(score.address)),
            sort=score.address, title=f"{score.label}. {score.doc}",
        )  # fmt: skip

    def interval(row: Row) -> str:
        return figures.interval(*bounds(row.document["ci95"])) or MISSING

    def p_next(row: Row) -> str:
        return p_value(row.document["p_next"])

    p_title = "Corrected p of the difference to the next team"
    beside = BoardColumn("95 % interval", interval, "num iv")
    next_to = BoardColumn("p to next", p_next, "num p", title=p_title)
    open_ranks = BoardColumn("ranks", ranks, "span", shown="Ranks", title="Ranks that the tests leave open")
    return [
        BoardColumn("#", lambda row: str(row.document["rank"] or "")),
        *([open_ranks] * tested),
        BoardColumn("team", lambda row: row.whole_name, "", shown="Team", sort="team"),
        figure(ranking)._replace(kind="num main", title=ranking.doc),
        *([beside] * (tested or any(row.get("ci95") for row in board["rows"]))),
        *([next_to] * (tested and not sort)),
        *map(figure, scores),
        *([BoardColumn("parts", scored, shown="Parts", sort="parts")] if parts > 1 else ()),
    ]


def board_view(benchmark: str) -> tuple[runs.Shown[boards.Leaderboard], str]:
    """Return the board that the address asks for as the visitor sees it, and by which column it is sorted."""
    query, own = answers.query(boards.LeaderboardQuery, SORT, "version")
    return leaderboard(calls.context(), visitors.visitor().caller, benchmark, query), own.get(SORT, "")


def board_values(
    benchmark: str, view: runs.Shown[boards.Leaderboard], sort: str, asked: Mapping[str, str] | None = None
) -> dict[str, object]:
    """Return what the templates of the board show.

    Args:
        benchmark: its id.
        view: of the board.
        sort: the column that its rows are sorted by.
        asked: the query of the page, where it is not that of the request.
    """
    board = render.lettered(view.document)
    document = benchmark_document(visitors.visitor().caller, benchmark)
    names = ScoreNames(document, board["rounding"], rounded=not render.exact(board))
    ranking = names(board["score"])
    columns = names.columns(board["score"], board["scores"])
    figures = ranking.figures.figures
    scale = render.board_scale(board, figures, _PICTURE)
    query = dict(asked if asked is not None else request.args.items())
    shown = heading(document, board)
    rows = _sorted(_board_rows(board, figures, scale), sort)
    return {
        **shown,
        "board": board,
        "ranking": ranking,
        "columns": _columns(board, ranking, columns, sort),
        "names": [names(address) for address in board["scores"]],
        "axis": drawn(axis_svg(scale)),
        "rows": rows,
        "newer": sum(row.newer for row in rows),
        "claims": render.claims_of(board),
        "sort": sort,
        "sorted_by": sort or f"{'-' if board['higher_is_better'] else ''}{ranking.address}",
        "query": query,
        "sort_link": partial(_sort_link, query, sort),
        "caption": board_caption(board, ranking, document, by_rank=not sort),
        "caption_sorted": board_caption(board, ranking, document, by_rank=False),
        "explained": _explained(board, scale, figures),
        "parts": part_choices(document),
        "picks": requests.PICKS if visitors.visitor().caller.organises(benchmark) else (),
        "exports": _exports(f"/v1/benchmarks/{benchmark}/leaderboard", f"/b/{benchmark}/export", query, query),
        "live": shown["state"] != "closed" or not view.final,
        "asks": may_ask(document, board),
        "framed": False,
        "version": view.etag,
        "own": _own_rows(board),
    }


MOST_OWN = 1000
"""Newest submissions of a team among which its row is looked for."""


def _own_rows(board: boards.Leaderboard) -> set[str]:
    """Return the rows of the visitor's team, also on a board without names: by their submissions."""
    caller, slug = visitors.visitor().caller, board["benchmark"]
    if caller.team is None or caller.benchmark != slug or not board["rows"]:
        return set()
    if not board["anonymous"]:
        return {row["submission"] for row in board["rows"] if row["team"] == caller.team}
    query = SubmissionsQuery(limit=MOST_OWN, state="succeeded")
    return {str(each["id"]) for each in submissions.list_submissions(calls.context(), caller, slug, query).items}


def _exports(api: str, page: str, query: Mapping[str, str], whole: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the files of a table as the page shows it, and those of the API, which hold the `whole`."""
    others = [form for form in boards.SHEET_FORMATS if form not in TABLES]
    return [*export_links(page, query, TABLES), *api_links(api, page, whole, others)]


def shown_board(document: Benchmark) -> dict[str, Any]:
    """Return the head of a page of a benchmark that shows something else than its board."""
    return heading(document, default_board(document["id"]))


def default_board(benchmark: str, score: str | None = None, revision: int | None = None) -> boards.Leaderboard:
    """Return the board of a benchmark over all parts, by the score that ranks unless another is named."""
    query = boards.LeaderboardQuery(score=score, revision=revision)
    return leaderboard(calls.context(), visitors.visitor().caller, benchmark, query).document


def heading(document: Benchmark, board: boards.Leaderboard | boards.Matrix) -> dict[str, Any]:
    """Return what stands at the head of the pages of a benchmark."""
    now = calls.context().now()
    state, frozen = state_of(document, now), frozen_since(document, now)
    rows = {row["team"] or row["submission"] for row in board["rows"] if row["role"] != "baseline"}
    counts = [counted(len(rows), "team")] if rows else []
    summary = ", ".join([*counts, counted(len(document["parts"]), "part"), state])
    summary = f"{summary[:1].upper()}{summary[1:]}."
    compares = LEVELS[board["feedback"]] >= Level.SCORES
    return {
        "benchmark": document, "state": state, "host": _host(document), "summary": summary, "compares": compares,
        "frozen_at": frozen,
    }  # fmt: skip


def _host(document: Benchmark) -> str:
    """Return whose task it is: the words of the first line of the contact, as many as have room."""
    contact = (document["about"].get("contact") or "").strip().partition("\n")[0]
    return shortened(strangers_html(contact).striptags().rstrip("."), _HOST_ROOM, TITLE_SIZE)


def _board_rows(board: boards.Leaderboard, figures: Figures, scale: Scale) -> list[Row]:
    rows, said = [], ""
    shown = board["significance"]["as_of"] or not board["significance"]["pending"]
    for document, begins in zip(board["rows"], render.cluster_starts(board), strict=True):
        bar = drawn(interval_bar_svg(scale, render.row_mark(document, figures)))
        newer = document.get("reason") == NEWER
        untested = document["tested"] is False and not newer and bool(shown)
        words = f"Not tested: {document['reason']}" if untested and document["reason"] else ""
        heading, said = ("" if words == said or newer else words), said if newer else words
        rows.append(Row(document, row_name(document), begins, bar, newer, heading))
    return rows


def row_name(document: boards.LeaderboardRow | boards.MatrixRow) -> str:
    """Return what a row is called: its team, else its submission where that is a baseline's."""
    if document["role"] == "baseline":
        return str(document["name"] or "baseline")
    return str(document["team_name"] or document["team"] or "anonymous")


def whole_name(document: boards.LeaderboardRow) -> str:
    """Return the team and its submission, or the baseline, in one line."""
    name = row_name(document)
    if document["role"] == "baseline":
        return f"{one_line(name)} (baseline)"
    return one_line(with_runs(": ".join(dict.fromkeys(filter(None, (name, document["name"])))), document))


def with_runs(name: str, document: boards.LeaderboardRow | boards.MatrixRow) -> str:
    """Return the name of a row, and of how many training runs it is the mean where there are several."""
    return f"{name} (mean of {document['runs']['count']} runs)" if document["runs"] else name


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


def _sort_link(query: Mapping[str, str], sort: str, column: BoardColumn) -> str:
    """Return the address that sorts by a column, first with the best above; the other way where it is so already."""
    wanted, other = f"-{column.sort}", column.sort
    if not column.kind:  # words begin with A
        wanted, other = other, wanted
    members = {name: value for name, value in query.items() if name not in (SORT, "version", "cursor") and value}
    return "?" + urlencode({**members, SORT: other if sort == wanted else wanted})


def board_caption(board: boards.Leaderboard, ranking: NamedScore, document: Benchmark, *, by_rank: bool) -> str:
    """Say in a sentence what is measured and what the tests say; of lines between rows only in the order of rank."""
    part, label, parts = board["part"], ranking.label, counted(len(document["parts"]), "part")
    if part == requests.MACRO:
        measured = f"Mean {label} of {parts}"
    elif part == requests.POOLED:
        measured = f"{label} over all sentences of {parts} together"
    elif part is not None and part in document["tracks"]:
        measured = f"Mean {label} of the {counted(len(document['tracks'][part]), 'part')} of the track {part}"
    else:
        measured = label if part is None else f"{label} of the part {part}"
    if not board["higher_is_better"]:
        measured += ", lower is better"
    significance = board["significance"]
    if significance["pairs"]:
        team = render.teams_compared(board)
        lines = f"a line is drawn where every {team} above is significantly better than every {team} below"
        return f"{measured}; {lines if by_rank else 'ranks are those that the tests leave open'}."
    if significance["pending"]:
        rows = min(board["total_rows"], significance["first_rows"])
        return f"{measured}; the differences are being tested: {counted(rows * (rows - 1) // 2, 'pair')}."
    return f"{measured}. {reason_words(significance)}".strip()


def may_ask(document: Benchmark, board: boards.Leaderboard) -> bool:
    """Return whether the visitor can have the differences of a board tested that is not tested by itself."""
    own = board["active"] and board["pick"] == document["leaderboard"]["pick"]
    untested = board["significance"]["reason"] == NOT_TESTED
    return own and untested and visitors.visitor().caller.organises(document["id"])


def reason_words(significance: boards.BoardSignificance) -> str:
    """Return why a board was not tested, and who can have it tested instead of what a program does about it."""
    reason = significance["reason"] or ""
    return f"{UNTESTED} The organisers, or a team, can have them tested." if reason.startswith(UNTESTED) else reason


def _explained(board: boards.Leaderboard, scale: Scale, figures: Figures) -> list[str]:
    """Return how a board was tested and what its marks mean, in sentences."""
    significance = board["significance"]
    if not significance["pairs"]:
        return []
    said = [
        f"Tested: {counted(significance['pairs'], 'pair')} over {render.tested_words(significance)}.",
        "Ranks are those that the tests leave open; all of them hold together.",
        "A dot is a score, its whisker the interval over the same units, a diamond a baseline.",
    ]
    return [*said, *([render.ARROW] if render.beyond_axis(board, scale, figures) else [])]


def part_choices(document: Benchmark) -> list[tuple[str, str]]:
    """Return the values of `part`, and what they are called; none for a benchmark of one part."""
    if len(document["parts"]) == 1:
        return []
    tracks = [(name, f"{name} ({counted(len(parts), 'part')})") for name, parts in document["tracks"].items()]
    return [*TOGETHER.items(), *tracks, *((name, name) for name in document["parts"])]


matrix_blueprint = answers.pages("matrix", "/b/<benchmark>/matrix")
FITTING = 22
"""Teams whose columns fit beside the parts on a screen: the head of more does not follow while the page scrolls."""
ORDERS = {"name": "by name", "best": "by best score", "spread": "by spread"}
SHADES: Mapping[str, ShadeBy] = {"gap": BY_GAP, "score": BY_SCORE}
CURSOR = "cursor"
MOST_TEAMS = 100
"""Columns of one page: 26 fit in a window, and 1,000 teams on 200 parts would be a page of 5 MB."""


class Cell(NamedTuple):
    """One cell: the figure, its class, and whether it is the best of its row."""

    shown: str
    shade: str
    best: bool


class MatrixLine(NamedTuple):
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


@matrix_blueprint.get("")
def show_matrix(benchmark: str) -> Response:
    """Show the score that ranks of every team on every part."""
    view, values = _shown_matrix(benchmark, *answers.query(boards.MatrixQuery, "order", "shade", CURSOR))
    return answers.known_page("matrix.html", (view.etag, heading_now(benchmark, view)), values)


def _shown_matrix(
    benchmark: str, query: boards.MatrixQuery, own: Mapping[str, str]
) -> tuple[runs.Shown[boards.Matrix], Callable[[], dict[str, Any]]]:
    """Return a block of the matrix's rows, and what makes of it what the page shows."""
    order, shade = _choice(own, "order", ORDERS), _choice(own, "shade", SHADES)
    start = access.item_number(own.get(CURSOR))
    before = start - start % MOST_ROWS
    query = replace(query, cursor=str(before) if before else None)
    view = matrix(calls.context(), visitors.visitor().caller, benchmark, query)
    shown = slice(start - before, start - before + MOST_TEAMS)
    return view, partial(_matrix_values, benchmark, view, order, shade, start, shown)


@matrix_blueprint.get("/export")
def export_matrix(benchmark: str) -> Response:
    """Show the table of the matrix as a file: the same teams, the same parts in their order, the same digits."""
    query, own = answers.query(boards.MatrixQuery, "order", "shade", CURSOR, file=True)
    name = f"{benchmark}-matrix"
    if query.format not in TABLES:
        return export(matrix(calls.context(), visitors.visitor().caller, benchmark, query), name)
    _, values = _shown_matrix(benchmark, replace(query, format=None), own)
    shown = values()
    lines = [*([shown["main"]] if len(shown["lines"]) > 1 else []), *shown["lines"]]
    table = Table(
        f"{shown['caption']} Systems stand in the order of the board; the best of a row is bold.",
        [Column("part"), *(Column(shown["whole_name"](row), numeric=True) for row in shown["teams"])],
        [[one_line(line.name or shown["main_name"]), *(cell.shown for cell in line.cells)] for line in lines],
        rules=(1,) if len(shown["lines"]) > 1 else (),
        strong={
            (row, at) for row, line in enumerate(lines) for at, cell in enumerate(line.cells, 1) if cell.best
        },
    )  # fmt: skip
    return table_file(table, query.format, name)


def _choice(own: Mapping[str, str], name: str, known: Mapping[str, object]) -> str:
    """Return the value of a parameter of the page, by default the first.

    Raises:
        BadRequest: unknown value.
    """
    value = own.get(name, next(iter(known)))
    if value not in known:
        raise errors.BadRequest(f"{name}: unknown value. Use one of: {', '.join(known)}.", slug="invalid-query")
    return value


def _matrix_values(
    benchmark: str, view: runs.Shown[boards.Matrix], order: str, shade: str, start: int, shown: slice
) -> dict[str, Any]:
    """Return what the template shows.

    Args:
        benchmark: its id.
        view: of the matrix, with the rows of a block of teams.
        order: of the parts.
        shade: of the cells.
        start: teams before the first that is shown.
        shown: of the view's rows.
    """
    document = render.lettered(view.document)
    about = benchmark_document(visitors.visitor().caller, benchmark)
    names = ScoreNames(about, document["rounding"])
    score = names(document["score"])
    higher = document["higher_is_better"]
    cells = partial(_cells, score=score, by=SHADES[shade], higher=higher, shown=shown)
    board = default_board(benchmark)
    query = dict(request.args.items())
    teams = document["rows"][shown]
    overall = [row["score"] for row in document["rows"]]
    whole = {name: value for name, value in query.items() if name != CURSOR}
    total, parts = document["total_rows"], counted(len(document["parts"]), "part")
    entered = Counter(row["team"] for row in document["rows"])

    def name_of(row: boards.MatrixRow) -> str:
        several = row["team"] is not None and entered[row["team"]] > 1
        return ": ".join(filter(None, (row_name(row), row["name"] if several else None)))

    return {
        **heading(about, document),
        "matrix": document,
        "score": score,
        "names": [names(address) for address in board["scores"]],
        "teams": teams, "name_of": name_of, "whole_name": lambda row: with_runs(name_of(row), row),
        "main": MatrixLine("", "", overall, cells(overall)),
        "main_name": TOGETHER.get(document["part"] or "", document["part"] or "score"),
        "lines": _ordered(_matrix_lines(document, cells), order, higher=higher),
        "orders": ORDERS, "order": order, "fitting": FITTING, "shade": shade,
        "key": _key(shade),
        "caption": f"{score.label} of {counted(total, 'system')} on {parts}.",
        "query": query,
        "start": start, "places": places_of(start, len(teams), total),
        "exports": _exports(f"/v1/benchmarks/{benchmark}/matrix", f"/b/{benchmark}/matrix/export", query, whole),
    }  # fmt: skip


def places_of(start: int, teams: int, total: int) -> list[tuple[str, int | None, bool]]:
    """Return which teams the pages of a matrix show, and where they begin; None for the one that is shown.

    They are in words; with each page stands whether others before it are left out.
    """
    if teams == total:
        return []
    pages = range(0, total, MOST_TEAMS)
    around = [at for at in pages if at in (0, pages[-1]) or abs(at - start) < 3 * MOST_TEAMS]
    return [
        (f"{at + 1:,}–{min(at + MOST_TEAMS, total):,}", None if at == start else at, at > before + MOST_TEAMS)
        for before, at in pairwise([0, *around])
    ]


Cells = Callable[[Sequence[float | None]], Sequence[Cell]]


def _matrix_lines(document: boards.Matrix, cells: Cells) -> list[MatrixLine]:
    lines = []
    for part, values in zip(document["parts"], by_part(document), strict=True):
        known = (("sentence", part["sentences"]), ("word", part["words"]))
        sizes = [counted(size, unit) for unit, size in known if size is not None]
        lines.append(MatrixLine(part["name"], ", ".join(sizes), values, cells(values)))
    return lines


def _cells(values: Sequence[float | None], *, score: NamedScore, by: ShadeBy, higher: bool, shown: slice) -> list[Cell]:
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
    *steps, (last, words) = key_of(SHADES[shade])
    return [*steps, (last, words + (" points" if SHADES[shade] == BY_GAP else ""))]
