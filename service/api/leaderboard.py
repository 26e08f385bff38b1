"""Serve the leaderboard."""

from __future__ import annotations

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
    asked = calls.query(queries.LEADERBOARD)
    form = calls.form(LEADERBOARD_FORMATS, asked.format)
    known = request.if_none_match.as_set()
    etag = next(iter(known)) if len(known) == 1 else None
    view = leaderboard.leaderboard(
        calls.context(), caller, benchmark, score=asked.score, pick=asked.pick, revision=asked.revision,
        part=asked.part, form=form, etag=etag, cursor=asked.cursor,
    )  # fmt: skip
    return answers.varied(answers.linked(answers.conditional(view), view.next))
