"""Teams of a benchmark and their tokens."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.teams import TeamRequest
from service.usecases.benchmarks import teams

blueprint = Blueprint("teams", __name__, url_prefix="/v1/benchmarks/<benchmark>/teams")


@blueprint.post("")
def create_team(benchmark: str) -> Response:
    """Make a team; its token is shown in this answer only."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    asked = calls.body(TeamRequest())
    made = teams.create_team(calls.context(), caller, benchmark, asked["id"], asked["name"])
    return answers.secret(made, f"/v1/benchmarks/{benchmark}/teams/{made['id']}")


@blueprint.get("")
def list_teams(benchmark: str) -> Response:
    """The teams, without their tokens."""
    caller = calls.caller("organise")
    asked = calls.query(queries.PAGE)
    return answers.page(teams.list_teams(calls.context(), caller, benchmark, asked.get("cursor"), asked["limit"]))


@blueprint.post("/<team>/token")
def rotate_token(benchmark: str, team: str) -> Response:
    """A new token for a team; its earlier ones end."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    made = teams.rotate_token(calls.context(), caller, benchmark, team)
    return answers.secret(made, f"/v1/benchmarks/{benchmark}/teams/{team}")


@blueprint.delete("/<team>")
def erase_team(benchmark: str, team: str) -> Response:
    """Erase a team's name and outputs."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    teams.erase_team(calls.context(), caller, benchmark, team)
    return answers.nothing()
