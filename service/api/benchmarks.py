"""Serve benchmarks and the words that participants get."""

from __future__ import annotations

from flask import Blueprint, Response, request

from service.api import answers, calls
from service.api.codings import plain_tags
from service.schemas import queries
from service.schemas.benchmarks import BenchmarkChanges, BenchmarkRequest
from service.usecases.benchmarks import analytics, benchmarks
from service.usecases.submissions import fitting

blueprint = Blueprint("benchmarks", __name__, url_prefix="/v1/benchmarks")


@blueprint.post("")
def create_benchmark() -> Response:
    """Create a benchmark; a worker checks its gold."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    context = calls.context()
    body = calls.parts_body(BenchmarkRequest(), "parts", "gold")
    slug, new = benchmarks.create_benchmark(context, caller, body, calls.idempotency_key(body))
    wait = calls.wait_seconds()
    view = benchmarks.wait_for_benchmark(context, caller, slug, wait or 0)
    return answers.created(view, f"/v1/benchmarks/{slug}", wait, repeated=not new)


@blueprint.get("")
def list_benchmarks() -> Response:
    """List benchmarks."""
    caller = calls.caller()
    return answers.page(benchmarks.list_benchmarks(calls.context(), caller, calls.query(queries.BENCHMARKS)))


@blueprint.get("/<benchmark>")
def get_benchmark(benchmark: str) -> Response:
    """Show a benchmark; with a wait, once its gold is checked."""
    caller = calls.caller()
    calls.query(queries.NOTHING)
    context = calls.context()
    return calls.polled(
        lambda: benchmarks.view_benchmark(context, caller, benchmark),
        lambda seconds, known: benchmarks.wait_for_benchmark(context, caller, benchmark, seconds, known),
    )


@blueprint.patch("/<benchmark>")
def patch_benchmark(benchmark: str) -> Response:
    """Change what cannot change a score."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    changes = calls.body(BenchmarkChanges())
    if_match = plain_tags(request.headers.get("If-Match"))
    return answers.plain(benchmarks.patch_benchmark(calls.context(), caller, benchmark, changes, if_match))


@blueprint.delete("/<benchmark>")
def delete_benchmark(benchmark: str) -> Response:
    """Delete a benchmark without submissions."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    benchmarks.delete_benchmark(calls.context(), caller, benchmark)
    return answers.nothing()


@blueprint.get("/<benchmark>/parts/<part>/input")
def get_part_input(benchmark: str, part: str) -> Response:
    """Show the words of a part, without annotation."""
    caller = calls.caller()
    calls.query(queries.NOTHING)
    return answers.conditional(benchmarks.part_input(calls.context(), caller, benchmark, part))


@blueprint.get("/<benchmark>/fitting")
def list_fitting(benchmark: str) -> Response:
    """Report which teams fit their outputs to the test set."""
    caller = calls.caller("organise")
    return answers.page(fitting.report(calls.context(), caller, benchmark, calls.query(queries.PAGE)))


@blueprint.get("/<benchmark>/analytics")
def get_analytics(benchmark: str) -> Response:
    """Tell how the benchmark runs."""
    caller = calls.caller("organise")
    query = calls.query(queries.ANALYTICS)
    return answers.conditional(analytics.analytics_of(calls.context(), caller, benchmark, query))
