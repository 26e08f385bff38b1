"""Serve the leaderboard."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Response, request

from service.api import answers, calls
from service.api.answers import Asked
from service.api.codings import only_known
from service.caller import Caller
from service.context import Context
from service.render import LEADERBOARD_FORMATS
from service.requests import LeaderboardQuery
from service.schemas import queries
from service.usecases.boards import leaderboard
from service.usecases.runs.views import View

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1/benchmarks/<benchmark>/leaderboard")


@blueprint.get("")
def get_leaderboard(benchmark: str) -> Response:
    """Show ranks, and which differences are significant."""
    caller = calls.caller()
    query = calls.query(queries.LEADERBOARD)
    query = replace(query, format=calls.form(LEADERBOARD_FORMATS, query.format))
    view = board_view(calls.context(), caller, benchmark, query, answers.asked_of(request.environ))
    return answers.linked(answers.conditional(view, kind=answers.Kind.PUBLIC), view.next)


def board_view(context: Context, caller: Caller, benchmark: str, query: LeaderboardQuery, asked: Asked) -> View:
    """Return the board, without a body where the client has it."""
    return leaderboard.leaderboard(context, caller, benchmark, query, only_known(asked.known, asked.codings))
