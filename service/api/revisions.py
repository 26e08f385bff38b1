"""Serve revisions: changes of gold or metrics."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.errors import NotFound
from service.schemas import queries
from service.schemas.benchmarks import RevisionRequest
from service.usecases.benchmarks import differences, revisions

blueprint = Blueprint("revisions", __name__, url_prefix="/v1/benchmarks/<benchmark>/revisions")


@blueprint.post("")
def create_revision(benchmark: str) -> Response:
    """Create a revision; every submission is scored again."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    context = calls.context()
    body = calls.parts_body(RevisionRequest(), "parts", "gold")
    number, new = revisions.create_revision(context, caller, benchmark, body, calls.idempotency_key(body))
    wait = calls.wait_seconds()
    view = revisions.wait_for_revision(context, caller, benchmark, number, wait or 0)
    return answers.accepted(view, f"/v1/benchmarks/{benchmark}/revisions/{number}", wait, repeated=not new)


@blueprint.get("")
def list_revisions(benchmark: str) -> Response:
    """List revisions, newest first."""
    caller = calls.caller()
    return answers.page(revisions.list_revisions(calls.context(), caller, benchmark, calls.query(queries.PAGE)))


@blueprint.get("/<number>")
def get_revision(benchmark: str, number: str) -> Response:
    """Show a revision; with a wait, once it has settled."""
    caller = calls.caller()
    calls.query(queries.NOTHING)
    context, which = calls.context(), _number(benchmark, number)
    return calls.polled(
        lambda: revisions.view_revision(context, caller, benchmark, which),
        lambda seconds, known: revisions.wait_for_revision(context, caller, benchmark, which, seconds, known),
    )


@blueprint.get("/<number>/difference")
def get_revision_difference(benchmark: str, number: str) -> Response:
    """Show what a revision changes and who moves, also before it is active."""
    caller = calls.caller()
    calls.query(queries.NOTHING)
    return answers.conditional(differences.difference(calls.context(), caller, benchmark, _number(benchmark, number)))


def _number(benchmark: str, given: str) -> int:
    if not given.isascii() or not given.isdecimal() or len(given) > 9:
        raise NotFound(f"Unknown revision {given[:80]!r} of benchmark {benchmark!r}.")
    return int(given)
