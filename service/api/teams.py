"""Serve teams of a benchmark and their tokens."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.teams import TeamRequest
from service.usecases.benchmarks import teams

blueprint = Blueprint("teams", __name__, url_prefix="/v1/benchmarks/<benchmark>/teams")


@blueprint.post("")
def create_team(benchmark: str) -> Response:
    """Create a team; its token is shown in this answer only."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    team = teams.create_team(calls.context(), caller, benchmark, calls.body(TeamRequest()))
    return answers.secret(team, f"/v1/benchmarks/{benchmark}/teams/{team['id']}")


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
