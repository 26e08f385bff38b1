"""Serve the leaderboard."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Response, request

from service.api import answers, calls
from service.render import LEADERBOARD_FORMATS
from service.schemas import queries
from service.usecases.boards import leaderboard

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1/benchmarks/<benchmark>/leaderboard")


@blueprint.get("")
def get_leaderboard(benchmark: str) -> Response:
    """Show ranks, and which differences are significant."""
    caller = calls.caller()
    query = calls.query(queries.LEADERBOARD)
    query = replace(query, format=calls.form(LEADERBOARD_FORMATS, query.format))
    etags = request.if_none_match.as_set()
    etag = next(iter(etags)) if len(etags) == 1 else None
    view = leaderboard.leaderboard(calls.context(), caller, benchmark, query, etag)
    return answers.varied(answers.linked(answers.conditional(view), view.next))
