"""Serve the catalogue of problems, to which the `type` of each problem leads."""

from __future__ import annotations

from functools import cache

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.docs import PAGE_POLICY, problem_page
from service.schemas import queries
from service.usecases.runs.views import JSON_TYPE, View, body_view, json_view
from service.usecases.status import problems

blueprint = Blueprint("problems", __name__, url_prefix="/problems")
HTML_TYPE = "text/html; charset=utf-8"
FORMS = {"json": JSON_TYPE, "html": HTML_TYPE}


@blueprint.get("")
def list_problems() -> Response:
    """List every type of problems, and every code."""
    form = calls.form(FORMS, calls.query(queries.PROBLEMS).format)
    return _answer(_listed(form), form)


@blueprint.get("/<problem>")
def get_problem(problem: str) -> Response:
    """Show one type or code of problems."""
    form = calls.form(FORMS, calls.query(queries.PROBLEMS).format)
    document = problems.document_of(problem)
    return _answer(_page([document]) if form == "html" else json_view(document), form)


@cache
def _listed(form: str) -> View:
    documents = problems.documents()
    return _page(documents) if form == "html" else json_view({"problems": documents})


def _page(documents: list[dict[str, object]]) -> View:
    return body_view(problem_page(documents).encode(), HTML_TYPE)


def _answer(view: View, form: str) -> Response:
    response = answers.conditional(view, kind=answers.Kind.PUBLIC)
    if form == "html":
        response.headers["Content-Security-Policy"] = PAGE_POLICY
    return response
