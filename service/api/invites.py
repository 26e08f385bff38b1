"""Serve invites, and those who join with one."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.teams import InviteRequest, JoinRequest
from service.usecases.benchmarks import invites

blueprint = Blueprint("invites", __name__, url_prefix="/v1")


@blueprint.post("/benchmarks/<benchmark>/invites")
def create_invite(benchmark: str) -> Response:
    """Create an invite; its secret is shown in this answer only."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    invite = invites.create_invite(calls.context(), caller, benchmark, calls.body(InviteRequest()))
    return answers.secret(invite, f"/v1/benchmarks/{benchmark}/invites/{invite['id']}")


@blueprint.get("/benchmarks/<benchmark>/invites")
def list_invites(benchmark: str) -> Response:
    """List invites, without their secrets."""
    caller = calls.caller("organise")
    return answers.page(invites.list_invites(calls.context(), caller, benchmark, calls.query(queries.PAGE)))


@blueprint.delete("/benchmarks/<benchmark>/invites/<invite>")
def delete_invite(benchmark: str, invite: str) -> Response:
    """Withdraw an invite."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    invites.delete_invite(calls.context(), caller, benchmark, invite)
    return answers.nothing()


@blueprint.post("/join")
def join() -> Response:
    """Make a team with an invite; its token is shown in this answer only."""
    caller = calls.caller()
    calls.query(queries.NOTHING)
    team = invites.join(calls.context(), caller, calls.body(JoinRequest()))
    return answers.secret(team, f"/v1/benchmarks/{team['benchmark']}/teams/{team['id']}")
