"""Join a benchmark with an invite: the team makes itself, and gets its token once."""

from __future__ import annotations

from flask import Response, request

from service.api import answers as api_answers
from service.api import calls
from service.pages import answers, visitors
from service.schemas.teams import JoinRequest
from service.usecases.benchmarks import invites

blueprint = answers.pages("join", "/join/<secret>")


@blueprint.get("")
def show_join(secret: str) -> Response:
    """Show what the invite is to, and the form for a team."""
    invite = invites.view_invite(calls.context(), visitors.visitor().caller, secret)
    return answers.page("join.html", invite=invite, secret=secret, team=None)


@blueprint.post("")
def join(secret: str) -> Response:
    """Make the team; its token is in this answer only."""
    visitors.check_form()
    context = calls.context()
    given = {"invite": secret, **{name: request.form.get(name, "") for name in ("id", "name", "contact")}}
    caller = visitors.visitor().caller
    team = invites.join(context, caller, answers.loaded(JoinRequest(), given))
    return api_answers.unstored(answers.page("join.html", invite=None, secret=secret, team=team))
