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
from service.requests import BoardQuery, LeaderboardQuery
from service.schemas import queries
from service.usecases.boards import leaderboard
from service.usecases.boards.viewing import Sheet, sheet_view, wait_for_sheet
from service.usecases.runs.views import View

blueprint = Blueprint("leaderboard", __name__, url_prefix="/v1/benchmarks/<benchmark>/leaderboard")


@blueprint.get("")
def get_leaderboard(benchmark: str) -> Response:
    """Show ranks, and which differences are significant."""
    caller = calls.caller()
    query = calls.query(queries.LEADERBOARD)
    query = replace(query, format=calls.form(LEADERBOARD_FORMATS, query.format))
    return sheet_response(caller, benchmark, leaderboard.BOARD_SHEET, query)


def sheet_response(caller: Caller, benchmark: str, sheet: Sheet, query: BoardQuery) -> Response:
    """Return a board as a sheet shows it; with a wait, once it has changed."""
    context = calls.context()
    asked = answers.asked_of(request.environ)
    known = only_known(asked.known, asked.codings)
    return calls.polled(
        lambda: sheet_view(context, caller, benchmark, sheet, query, known),
        lambda seconds, etag: wait_for_sheet(context, caller, benchmark, sheet, query, seconds, etag),
        answers.Kind.PUBLIC,
        ends=False,
    )


def board_view(context: Context, caller: Caller, benchmark: str, query: LeaderboardQuery, asked: Asked) -> View:
    """Return the board, without a body where the client has it."""
    return leaderboard.leaderboard(context, caller, benchmark, query, only_known(asked.known, asked.codings))
