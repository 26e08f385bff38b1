"""Stored significance tests across submissions."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.item_pages import item_page
from service.schemas import queries
from service.schemas.comparisons import ComparisonRequest
from service.usecases.comparisons import ask, items
from treescore.render import FORMATS

blueprint = Blueprint("comparisons", __name__, url_prefix="/v1")

ASKERS = ("submit", "read", "score")


@blueprint.post("/benchmarks/<benchmark>/comparisons")
def ask_comparison(benchmark: str) -> Response:
    """Take a question; the same question has the same address."""
    caller = calls.caller(*ASKERS)
    calls.query(queries.NOTHING)
    context = calls.context()
    comparison = ask.ask(context, caller, benchmark, calls.body(ComparisonRequest()))
    wait = calls.wait_seconds()
    view = ask.wait_for_comparison(context, caller, comparison, wait or 0)
    return answers.accepted(view, f"/v1/comparisons/{comparison}", wait, repeated=False)


@blueprint.get("/benchmarks/<benchmark>/comparisons")
def list_benchmark_comparisons(benchmark: str) -> Response:
    """Which questions were asked."""
    caller = calls.caller()
    asked = calls.query(queries.PAGE)
    return answers.page(ask.list_comparisons(calls.context(), caller, benchmark, asked.get("cursor"), asked["limit"]))


@blueprint.get("/comparisons/<comparison>")
def get_comparison(comparison: str) -> Response:
    """The comparison as it stands; with a wait, once it is answered."""
    caller = calls.caller()
    asked = calls.query(queries.COMPARISON)
    form = calls.form(FORMATS, asked.get("format"))
    context = calls.context()
    if form != "json":
        wait = calls.wait_seconds()
        if wait:
            ask.wait_for_comparison(context, caller, comparison, wait)
        return answers.varied(answers.conditional(ask.view_comparison(context, caller, comparison, form), wait))
    return answers.varied(
        calls.polled(
            lambda: ask.view_comparison(context, caller, comparison),
            lambda seconds, known: ask.wait_for_comparison(context, caller, comparison, seconds, known),
        )
    )


@blueprint.get("/comparisons/<comparison>/items")
def list_differing_items(comparison: str) -> Response:
    """The sentences in which two submissions differ most."""
    caller = calls.caller("submit", "read")
    asked = calls.query(queries.DIFFERING)
    found = items.comparison_items(
        calls.context(), caller, comparison, asked.get("a"), asked.get("b"), asked.get("cursor"), asked["limit"]
    )
    return item_page(found, asked.get("format"))
