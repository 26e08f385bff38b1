"""Serve teams of a benchmark and their tokens."""

from __future__ import annotations

from flask import Blueprint, Response, request

from service.api import answers, calls
from service.api.bodies import JSON
from service.api.team_bodies import CSV, read_teams
from service.render.team_tokens import MEDIA_TYPE, tokens_csv
from service.requests import TeamRequest
from service.schemas import queries
from service.usecases.benchmarks import teams

blueprint = Blueprint("teams", __name__, url_prefix="/v1/benchmarks/<benchmark>/teams")


@blueprint.post("")
def create_team(benchmark: str) -> Response:
    """Create a team, or several; their tokens are shown in this answer only."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    context, here = calls.context(), f"/v1/benchmarks/{benchmark}/teams"
    asked = read_teams(request, context.config)
    if isinstance(asked, TeamRequest):
        team = teams.create_team(context, caller, benchmark, asked)
        return answers.secret(team, f"{here}/{team['id']}")
    made = teams.create_teams(context, caller, benchmark, asked)
    if request.accept_mimetypes.best_match([JSON, CSV]) == CSV:
        return answers.secret_text(tokens_csv(made), MEDIA_TYPE, here)
    return answers.secret({"teams": made}, here)


@blueprint.get("")
def list_teams(benchmark: str) -> Response:
    """List teams, without their tokens."""
    caller = calls.caller("organise")
    return answers.page(teams.list_teams(calls.context(), caller, benchmark, calls.query(queries.PAGE)))


@blueprint.post("/<team>/token")
def rotate_token(benchmark: str, team: str) -> Response:
    """Make a new token for a team and revoke its earlier ones."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    rotated = teams.rotate_token(calls.context(), caller, benchmark, team)
    return answers.secret(rotated, f"/v1/benchmarks/{benchmark}/teams/{team}")


@blueprint.delete("/<team>")
def erase_team(benchmark: str, team: str) -> Response:
    """Erase a team's name and outputs."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    teams.erase_team(calls.context(), caller, benchmark, team)
    return answers.nothing()
