"""Serve the catalogue of formats, transforms and metrics."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.suggestions import SuggestionRequest
from service.usecases.status import catalogue

blueprint = Blueprint("scorers", __name__, url_prefix="/v1/scorers")


@blueprint.get("")
def list_scorers() -> Response:
    """List metrics, formats and transforms."""
    calls.query(queries.NOTHING)
    return answers.conditional(catalogue.scorers(), kind=answers.Kind.PUBLIC)


@blueprint.post("/suggestions")
def suggest_scorers() -> Response:
    """Tell the format of a text by its first lines, and what it can be scored with."""
    calls.query(queries.NOTHING)
    return answers.plain(catalogue.suggested(calls.body(SuggestionRequest())))


@blueprint.get("/<name>")
def get_scorer(name: str) -> Response:
    """Show one metric, format or transform."""
    calls.query(queries.NOTHING)
    return answers.conditional(catalogue.scorer(name), kind=answers.Kind.PUBLIC)
