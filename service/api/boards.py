"""Serve boards: the leaderboard, its scores by part as a matrix and as lines, and comparisons of submissions."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.calls import item_page
from service.caller import Caller
from service.contract.common import PageQuery
from service.contract.comparisons import ComparisonQuery, ComparisonRequest, DifferingQuery, SeriesQuery
from service.contract.derive import schema_of
from service.contract.leaderboards import BoardQuery, LeaderboardQuery, MatrixQuery, ScoresQuery
from service.render import SHEET_FORMATS
from service.usecases import comparison_views, comparisons
from service.usecases.boards import leaderboard
from service.usecases.boards.viewing import Sheet, sheet_view, wait_for_sheet
from treescore.render.forms import FORMATS

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1/benchmarks/<benchmark>/leaderboard")


@blueprint.get("")
def get_leaderboard(benchmark: str) -> Response:
    """Show ranks, and which differences are significant."""
    caller = calls.caller()
    query = calls.query(LeaderboardQuery)
    query = replace(query, format=calls.form_of(SHEET_FORMATS, query.format))
    return sheet_response(caller, benchmark, leaderboard.BOARD_SHEET, query)


def sheet_response(caller: Caller, benchmark: str, sheet: Sheet, query: BoardQuery) -> Response:
    """Return a board as a sheet shows it; with a wait, once it has changed."""
    context = calls.context()
    return calls.polled(
        lambda: sheet_view(context, caller, benchmark, sheet, query),
        lambda seconds, etag: wait_for_sheet(context, caller, benchmark, sheet, query, seconds, etag),
        answers.Kind.PUBLIC,
        ends=False,
    )


matrix_blueprint = Blueprint("matrix", __name__, url_prefix="/v1/benchmarks/<benchmark>")


@matrix_blueprint.get("/matrix")
def get_matrix(benchmark: str) -> Response:
    """Show the score that ranks in every part."""
    caller = calls.caller()
    query = calls.query(MatrixQuery)
    query = replace(query, format=calls.form_of(SHEET_FORMATS, query.format))
    return sheet_response(caller, benchmark, leaderboard.MATRIX_SHEET, query)


@matrix_blueprint.get("/scores")
def list_scores(benchmark: str) -> Response:
    """List every score of every part."""
    caller = calls.caller()
    query = calls.query(ScoresQuery)
    page = leaderboard.list_scores(calls.context(), caller, benchmark, query)
    return item_page(page, query.format, answers.Kind.PUBLIC)


comparison_blueprint = Blueprint("comparisons", __name__, url_prefix="/v1")


@comparison_blueprint.post("/benchmarks/<benchmark>/comparisons")
def ask_comparison(benchmark: str) -> Response:
    """Store a question; the same question has the same address."""
    caller = calls.caller_without_query("submit")
    context = calls.context()
    comparison = comparisons.ask(context, caller, benchmark, calls.body(schema_of(ComparisonRequest)))
    wait = calls.wait_seconds()
    view = comparison_views.wait_for_comparison(context, caller, comparison, wait or 0)
    response = answers.accepted(view, f"/v1/comparisons/{comparison}", wait, repeated=False)
    response.headers.update(comparisons.rate_limits(context, caller, benchmark))
    return response


@comparison_blueprint.get("/benchmarks/<benchmark>/comparisons")
def list_benchmark_comparisons(benchmark: str) -> Response:
    """List comparisons of a benchmark."""
    caller = calls.caller()
    return answers.page(comparison_views.list_comparisons(calls.context(), caller, benchmark, calls.query(PageQuery)))


@comparison_blueprint.get("/comparisons/<comparison>")
def get_comparison(comparison: str) -> Response:
    """Show a comparison; with a wait, once it is answered."""
    caller = calls.caller()
    form = calls.form_of(FORMATS, calls.query(ComparisonQuery).format)
    context = calls.context()
    if form != "json":
        wait = calls.wait_seconds()
        if wait:
            comparison_views.wait_for_comparison(context, caller, comparison, wait)
        view = comparison_views.view_comparison(context, caller, comparison, form)
        return answers.conditional(view, wait, answers.Kind.PUBLIC)
    return calls.polled(
        lambda: comparison_views.view_comparison(context, caller, comparison),
        lambda seconds, known: comparison_views.wait_for_comparison(context, caller, comparison, seconds, known),
        answers.Kind.PUBLIC,
    )


@comparison_blueprint.delete("/comparisons/<comparison>")
def delete_comparison(comparison: str) -> Response:
    """Delete a comparison."""
    caller = calls.caller_without_query("submit")
    comparisons.delete_comparison(calls.context(), caller, comparison)
    return answers.nothing()


@comparison_blueprint.get("/comparisons/<comparison>/items")
def list_differing_items(comparison: str) -> Response:
    """List the sentences in which two submissions differ most."""
    caller = calls.caller("submit", "read")
    query = calls.query(DifferingQuery)
    return item_page(comparisons.comparison_items(calls.context(), caller, comparison, query), query.format)


@comparison_blueprint.get("/series/<series_id>/comparison")
def compare_in_series(series_id: str) -> Response:
    """Compare two teams on all benchmarks of a series."""
    caller = calls.caller()
    view = comparisons.compare_in_series(calls.context(), caller, series_id, calls.query(SeriesQuery))
    return answers.conditional(view, kind=answers.Kind.PUBLIC)
