"""Serve stored significance tests across submissions."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.item_pages import item_page
from service.schemas import queries
from service.schemas.comparisons import ComparisonRequest
from service.usecases.comparisons import ask, items, series, show
from treescore.render import FORMATS

blueprint = Blueprint("comparisons", __name__, url_prefix="/v1")


@blueprint.post("/benchmarks/<benchmark>/comparisons")
def ask_comparison(benchmark: str) -> Response:
    """Store a question; the same question has the same address."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    context = calls.context()
    comparison = ask.ask(context, caller, benchmark, calls.body(ComparisonRequest()))
    wait = calls.wait_seconds()
    view = show.wait_for_comparison(context, caller, comparison, wait or 0)
    response = answers.accepted(view, f"/v1/comparisons/{comparison}", wait, repeated=False)
    response.headers.update(ask.rate_limits(context, caller, benchmark))
    return response


@blueprint.get("/benchmarks/<benchmark>/comparisons")
def list_benchmark_comparisons(benchmark: str) -> Response:
    """List comparisons of a benchmark."""
    caller = calls.caller()
    return answers.page(show.list_comparisons(calls.context(), caller, benchmark, calls.query(queries.PAGE)))


@blueprint.get("/comparisons/<comparison>")
def get_comparison(comparison: str) -> Response:
    """Show a comparison; with a wait, once it is answered."""
    caller = calls.caller()
    form = calls.form(FORMATS, calls.query(queries.COMPARISON).format)
    context = calls.context()
    if form != "json":
        wait = calls.wait_seconds()
        if wait:
            show.wait_for_comparison(context, caller, comparison, wait)
        view = show.view_comparison(context, caller, comparison, form)
        return answers.conditional(view, wait, answers.Kind.PUBLIC)
    return calls.polled(
        lambda: show.view_comparison(context, caller, comparison),
        lambda seconds, known: show.wait_for_comparison(context, caller, comparison, seconds, known),
        answers.Kind.PUBLIC,
    )


@blueprint.delete("/comparisons/<comparison>")
def delete_comparison(comparison: str) -> Response:
    """Delete a comparison."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    ask.delete_comparison(calls.context(), caller, comparison)
    return answers.nothing()


@blueprint.get("/comparisons/<comparison>/items")
def list_differing_items(comparison: str) -> Response:
    """List the sentences in which two submissions differ most."""
    caller = calls.caller("submit", "read")
    query = calls.query(queries.DIFFERING)
    return item_page(items.comparison_items(calls.context(), caller, comparison, query), query.format)


@blueprint.get("/series/<series_id>/comparison")
def compare_in_series(series_id: str) -> Response:
    """Compare two teams on all benchmarks of a series."""
    caller = calls.caller()
    view = series.compare_in_series(calls.context(), caller, series_id, calls.query(queries.SERIES))
    return answers.conditional(view, kind=answers.Kind.PUBLIC)
