"""Serve the scores of a board by part: as a matrix, and as lines."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.item_pages import item_page
from service.api.leaderboard import sheet_response
from service.render import MATRIX_FORMATS
from service.schemas import queries
from service.usecases.boards import all_scores, matrix

blueprint = Blueprint("matrix", __name__, url_prefix="/v1/benchmarks/<benchmark>")


@blueprint.get("/matrix")
def get_matrix(benchmark: str) -> Response:
    """Show the score that ranks in every part."""
    caller = calls.caller()
    query = calls.query(queries.MATRIX)
    query = replace(query, format=calls.form(MATRIX_FORMATS, query.format))
    return sheet_response(caller, benchmark, matrix.MATRIX_SHEET, query)


@blueprint.get("/scores")
def list_scores(benchmark: str) -> Response:
    """List every score of every part."""
    caller = calls.caller()
    query = calls.query(queries.SCORES)
    page = all_scores.list_scores(calls.context(), caller, benchmark, query)
    return item_page(page, query.format, answers.Kind.PUBLIC)
