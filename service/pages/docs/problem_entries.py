"""Serve the catalogue of problems, to which the `type` of each problem leads: as JSON, and as pages."""

from __future__ import annotations

from functools import cache

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.answers import Kind
from service.pages.answers import HTML
from service.pages.docs import contract_reading, layout
from service.schemas import queries
from service.usecases.runs.views import JSON_TYPE, View, json_view
from service.usecases.status import problems

blueprint = Blueprint("problems", __name__, url_prefix="/problems")
blueprint.before_request(layout.look)
FORMS = {"json": JSON_TYPE, "html": HTML}


@blueprint.get("")
def list_problems() -> Response:
    """List every type of problems, and every code."""
    if _form() == "json":
        return answers.conditional(_listed(), kind=Kind.PUBLIC)
    return layout.docs_page("problems.html", "", lambda: {"problems": problems.problem_documents()}, Kind.PAGE_OR_FORMS)


@blueprint.get("/<problem>")
def get_problem(problem: str) -> Response:
    """Show one type or code of problems."""
    form = _form()
    document = problems.document_of(problem)
    if form == "json":
        return answers.conditional(json_view(document), kind=Kind.PUBLIC)
    return layout.docs_page("problem_entry.html", "", lambda: _problem_values(document), Kind.PAGE_OR_FORMS)


@cache
def _listed() -> View:
    return json_view({"problems": problems.problem_documents()})


def _form() -> str:
    return calls.form(FORMS, calls.query(queries.PROBLEMS).format)


def _problem_values(document: dict[str, object]) -> dict[str, object]:
    status = str(document.get("status", ""))
    answering = [each for each in contract_reading.operations() if status in each.document["responses"]]
    return {"problem": document, "operations": answering}
