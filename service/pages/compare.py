"""One submission against all others of a board, or against one: the comparison that the board's ranks rest on."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from flask import Response, request
from markupsafe import Markup

from service import render
from service.api import calls
from service.contract.comparisons import ComparisonQuery, ComparisonRequest, StoredComparison
from service.contract.leaderboards import Leaderboard, LeaderboardQuery
from service.errors import BadRequest, Gone, NotFound
from service.pages import answers, visitors
from service.pages.answers import TABLES, api_links, drawn, export, export_links, table_file
from service.pages.board import board_values, default_board, heading, may_ask, part_choices, reason_words, row_name
from service.pages.figures import NamedScore, ScoreNames, benchmark_document, heading_now, whole
from service.policy.documents import EXACT, ROUNDED, SUPPORTED
from service.policy.gate import LEVELS, Level, require
from service.requests import LEADERBOARD
from service.usecases import comparisons
from service.usecases.boards.viewing import leaderboard
from service.usecases.comparison_views import labelled, shown_names, view_comparison
from service.usecases.runs import Shown
from treescore.core.wording import correction_name, counted, one_line, p_words, units_of
from treescore.render.comparison_pictures import Opponent, against_scale, opponents, verdict
from treescore.render.crosstable import CrossTable, cross_table, interval_head, notes, turned
from treescore.render.dot_table import axis_svg, dot_svg, interval_bar_svg
from treescore.render.drawing import MISSING, interval_words, signed_words, value_words
from treescore.render.table import Column, Table

blueprint = answers.pages("compare", "/b/<benchmark>/compare")
SIDES = ("a", "b")


class Compared(NamedTuple):
    """A comparison for people.

    Attributes:
        document: of the API, whose systems have names instead of ids.
        names: submission -> the name that stands for it.
        addressed: submission -> what stands for it in an address: its team, whose row by another score may be another
            submission, where it has one row alone.
        a, b: submissions; `b` is None for every other one.
    """

    document: Mapping[str, Any]
    names: Mapping[str, str]
    addressed: Mapping[str, str]
    a: str
    b: str | None


@blueprint.get("")
def show_comparison(benchmark: str) -> Response:
    """Show one submission, by default the first row's, against every other one or against one."""
    version, values = _compared_views(benchmark, *answers.query(LeaderboardQuery, *SIDES))
    return answers.known_page("compare.html", version, values)


@blueprint.get("/export")
def export_table(benchmark: str) -> Response:
    """Show the table of differences as a file: the same teams, the same digits."""
    query, own = answers.query(LeaderboardQuery, *SIDES, file=True)
    form = query.format
    if form not in TABLES:
        raise BadRequest(f"format: unknown value. Use one of: {', '.join(TABLES)}.", slug="invalid-query")
    _, values = _compared_views(benchmark, replace(query, format=None), own)
    shown = values()
    if shown["compared"] is None:
        raise NotFound("Nothing is compared on this board yet. Its page says why.")
    units = ("Won", "Tied", "Lost") if shown["with_units"] else ()
    lines = [
        [one_line(row["name"]), row["score"], row["difference"] or MISSING, row["interval"], row["p"] or MISSING,
         *[row["p_parts"] or MISSING] * shown["with_parts"],
         *map(whole, (row["units"] or (None, None, None)) if units else ())]
        for row in shown["rows"]
    ]  # fmt: skip
    points = ", points" if shown["score"].figures.share else ""
    against = f"{one_line(shown['me'])} against {one_line(shown['other'] or shown['every'])}"
    tested = f"{shown['correction']} over all {shown['pair_count']} at {shown['compared'].document['alpha']}"
    caption = f"{against}: difference in {shown['score'].label}{points}. Bold: significant after {tested}."
    figures = [shown["score"].head, "difference", shown["interval_head"], f"p ({shown['correction']})",
               *["p (parts)"] * shown["with_parts"], *units]  # fmt: skip
    table = Table(
        caption, [Column("team"), *(Column(head, numeric=True) for head in figures)], lines, claim=shown["said"],
        strong={(at, 2) for at, row in enumerate(shown["rows"]) if row["significant"]},
    )  # fmt: skip
    return table_file(table, form, f"{benchmark}-comparison")


def _compared_views(
    benchmark: str, query: LeaderboardQuery, own: Mapping[str, str]
) -> tuple[object, Callable[[], dict[str, Any]]]:
    """Return the validators of the board and of its comparison, and what makes of them what the page shows."""
    caller = visitors.visitor().caller
    board_view = leaderboard(calls.context(), caller, benchmark, query)
    board = board_view.document
    require(LEVELS[board["feedback"]], Level.SCORES, "comparisons")
    name = board["significance"]["comparison"]
    answered = None
    if name is not None and not board["significance"]["pending"]:
        try:
            answered = view_comparison(calls.context(), caller, name)
        except (NotFound, Gone):  # fewer than two rows were compared, or it was deleted
            answered = None
    heads = heading_now(benchmark, board_view)
    version = (board_view.etag, None if answered is None else answered.etag, heads)
    return version, partial(_compare_values, benchmark, board_view, answered, own)


@blueprint.post("")
def request_tests(benchmark: str) -> Response:
    """Have the differences of a board tested that is not tested by itself."""
    caller = visitors.sender("organise")
    board = {name: request.form.get(name) or None for name in ("score", "part")}
    asked = calls.loaded(ComparisonRequest, {"submissions": LEADERBOARD, **{k: v for k, v in board.items() if v}})
    comparisons.ask(calls.context(), caller, benchmark, asked)
    shown = urlencode({name: value for name, value in board.items() if value})
    return answers.go_to(f"/b/{quote(benchmark, safe='')}/compare?{shown}")


@blueprint.get("/live")
def show_comparison_live(benchmark: str) -> Response:
    """Send the browser to the comparison once the differences are tested."""
    query, _ = answers.query(LeaderboardQuery, *SIDES)
    board = leaderboard(calls.context(), visitors.visitor().caller, benchmark, query).document
    if board["significance"]["pending"]:
        return answers.unchanged()
    return answers.go_to(f"/b/{quote(benchmark, safe='')}/compare?{urlencode(list(request.args.items()))}")


def _compare_values(
    benchmark: str, view: Shown[Leaderboard], answered: Shown[StoredComparison] | None, own: Mapping[str, str]
) -> dict[str, Any]:
    board = view.document
    document = benchmark_document(visitors.visitor().caller, benchmark)
    names = ScoreNames(document, board["rounding"])
    score = names(board["score"])
    shown = {
        **heading(document, board),
        "board": board,
        "score": score,
        "names": [names(address) for address in board["scores"]],
        "parts": part_choices(document),
        "query": dict(request.args.items()),
        "compared": None,
        "reason": reason_words(board["significance"]),
        "asks": may_ask(document, board),
        "tested": _tested_boards(benchmark, board, names),
    }
    answer = None if answered is None else answered.document
    if board["significance"]["pending"]:  # until then the board stands here, with the last tests of its rows
        return {**shown, **board_values(benchmark, view, ""), "framed": True, "live": False}
    if answer is None or "pairs" not in answer or not answer["pairs"]:
        return shown
    compared = _compared_sides(board, answer, own)
    address, stored = f"/b/{benchmark}/compare", answer["id"]
    others = {"team": "every team", "row": "every other system"}
    tested = f"the {counted(len(answer['systems']) - 1, 'other tested system')}"
    return {
        **shown,
        **_shown(compared, score),
        "every": others.get(render.teams_compared(board), tested),
        "exports": export_links(f"{address}/export", shown["query"], TABLES),
        "whole": api_links(f"/v1/comparisons/{stored}", f"{address}/{stored}", {}, ("svg", "json")),
    }


def _tested_boards(benchmark: str, board: Leaderboard, names: ScoreNames) -> list[NamedScore]:
    """Return by which scores the differences over all parts are tested, where those of a board are not.

    They are the score of the board, and the main one.
    """
    if not board["significance"]["reason"]:
        return []
    others = [default_board(benchmark, score, board["revision"]) for score in (board["score"], None)]
    tested = dict.fromkeys(each["score"] for each in others if not each["significance"]["reason"])
    return [names(score) for score in tested]


def _compared_sides(board: Leaderboard, answer: StoredComparison, own: Mapping[str, str]) -> Compared:
    """Return the comparison with the two sides that are asked for: submissions or teams.

    Raises:
        NotFound: one of them is not compared on this board.
    """
    names = shown_names(answer["labels"], short=True)
    if board["anonymous"]:
        rows = render.lettered(board)["rows"]
        names |= {row["submission"]: row_name(row) for row in rows if row["role"] != "baseline"}
    ranked = [system["name"] for system in answer["systems"]]
    teams = {str(label["team"]): each for each, label in answer["labels"].items() if label["team"] is not None}
    counts = Counter(label["team"] for label in answer["labels"].values())
    addressed = {each: each for each in names} | {each: team for team, each in teams.items() if counts[team] == 1}

    def side(name: str) -> str | None:
        asked = own.get(name)
        if asked is None:
            return None
        found = asked if asked in names else teams.get(asked)
        if found not in ranked:
            raise NotFound(f"No compared submission of this board is {asked[:80]!r}. Choose one from the list.")
        return found

    a, b = side("a") or ranked[0], side("b")
    return Compared(labelled(answer, names), names, addressed, a, None if b == a else b)


def _shown(compared: Compared, score: NamedScore) -> dict[str, Any]:
    """Return what the template shows of a comparison."""
    shares = (score.address,) if score.figures.share else ()
    table = cross_table(compared.document, shares)
    me = compared.names[compared.a]
    every = opponents(table, me)
    other = None if compared.b is None else compared.names[compared.b]
    listed = [each for each in every if other is None or each.name == other]
    scale = against_scale(listed, table.figures.factor)
    sides = ("worse", "better") if compared.document["higher_is_better"] else ("better", "worse")
    by_rank = [system["name"] for system in compared.document["systems"]]
    return {
        "compared": compared,
        "me": me,
        "other": other,
        "sides": [(each, compared.addressed[each], name) for each, name in compared.names.items() if name in by_rank],
        "verdict": verdict(listed) if other is None else _one_verdict(me, listed, table),
        "axis": drawn(axis_svg(scale, *sides)),
        "dots": {filled: drawn(dot_svg(filled=filled)) for filled in (True, False)},
        "rows": [
            _opponent_row(each, table, drawn(interval_bar_svg(scale, each.mark(table.figures.factor))))
            for each in listed
        ],
        "pairs": None if other is not None else _pair_lines(table),
        "pair_count": counted(len(compared.document["pairs"]), "pair"),
        "correction": correction_name(compared.document["correction"]),
        "said": _said(compared.document),
        "interval_head": interval_head(compared.document),
        "with_units": any(each.units for each in listed),
        "unit_words": units_of(compared.document)[1],
        "with_parts": any(each.p_parts is not None for each in listed),
        "worse_words": sides,
    }


def _said(document: Mapping[str, Any]) -> list[str]:
    """Return what a comparison rests on; the digits of the API's figures are not those of the page."""
    every = (*document["warnings"], *notes(document))
    return [*(f"{SUPPORTED}." if each == ROUNDED else each.replace("`", "") for each in every), EXACT]


def _one_verdict(me: str, listed: Sequence[Opponent], table: CrossTable) -> str:
    """Return in one sentence what is known of two submissions."""
    (other,) = listed
    if other.difference is None:
        return f"{me} and {other.name} were not compared."
    by = signed_words(abs(other.difference), table.figures).lstrip("+")
    if not other.significant:
        return f"{me} and {other.name} do not differ significantly: by {by}, p {p_words(other.p)}."
    better, worse = (me, other.name) if other.better else (other.name, me)
    return f"{better} is better than {worse}, by {by}, p {p_words(other.p)}."


def _pair_lines(table: CrossTable) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return the systems by rank, each with its differences to all: the figure, and whether it is significant."""

    def shown(row: int, column: int) -> tuple[str, bool]:
        cell = table.cells.get((min(row, column), max(row, column)))
        if cell is None:
            return ("" if row == column else MISSING), False
        difference = (cell if row < column else turned(cell)).difference
        return signed_words(difference, table.figures), cell.significant

    places = range(len(table.names))
    return [(table.names[row], [shown(row, column) for column in places]) for row in places]


def _opponent_row(each: Opponent, table: CrossTable, bar: Markup) -> dict[str, Any]:
    figures = table.figures
    return {
        "name": each.name,
        "score": value_words(each.score, figures),
        "bar": bar,
        "difference": "" if each.difference is None else signed_words(each.difference, figures),
        "interval": interval_words(each.low, each.high, figures, signed=True),
        "p": p_words(each.p),
        "p_parts": p_words(each.p_parts),
        "significant": each.significant,
        "units": each.units,
    }


@blueprint.get("/<comparison>")
def export_comparison(benchmark: str, comparison: str) -> Response:
    """Show a comparison in another format, to a visitor who is signed in.

    Raises:
        NotFound: the comparison is of another benchmark.
    """
    query, _ = answers.query(ComparisonQuery, file=True)
    context, caller = calls.context(), visitors.visitor().caller
    if view_comparison(context, caller, comparison).document["benchmark"] != benchmark:
        raise NotFound(f"The benchmark has no comparison {comparison[:80]!r}.")
    return export(view_comparison(context, caller, comparison, query.format or "json"), f"{benchmark}-comparison")
