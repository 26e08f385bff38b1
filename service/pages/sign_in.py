"""Come in: sign in with a token, sign out, choose colours; or join a benchmark with an invite.

With an invite a team makes itself, and gets its token once.
"""

from __future__ import annotations

from flask import Response, request

from service.api import answers as api_answers
from service.api import calls
from service.errors import Unauthorized
from service.pages import answers, visitors
from service.schemas.teams import JoinRequest
from service.usecases.benchmarks import teams

blueprint = answers.pages("sign_in")


@blueprint.get("/sign-in")
def show_sign_in() -> Response:
    """Show the field for a token."""
    return answers.page("sign_in.html", next=visitors.local_address(request.args.get("next", "")), refused="")


@blueprint.post("/sign-in")
def sign_in() -> Response:
    """Begin a session; a token that is refused is asked for again."""
    after = visitors.local_address(request.form.get("next", ""))
    try:
        return visitors.begin_session(answers.go_to(after), request.form.get("token", "").strip())
    except Unauthorized as refused:
        return answers.page("sign_in.html", 401, next=after, refused=refused.detail)


@blueprint.post("/sign-out")
def sign_out() -> Response:
    """End the session."""
    visitors.check_form(ends_looking=True)
    return visitors.end_session(answers.go_to("/"))


@blueprint.post("/theme")
def choose_theme() -> Response:
    """Keep the chosen colours."""
    after = visitors.local_address(request.form.get("next", ""))
    return visitors.set_theme(answers.go_to(after), request.form.get("theme", ""))


join_blueprint = answers.pages("join", "/join/<secret>")


@join_blueprint.get("")
def show_join(secret: str) -> Response:
    """Show what the invite is to, and the form for a team."""
    invite = teams.view_invite(calls.context(), visitors.visitor().caller, secret)
    return answers.page("join.html", invite=invite, secret=secret, team=None)


@join_blueprint.post("")
def join(secret: str) -> Response:
    """Make the team; its token is in this answer only."""
    visitors.check_form()
    context = calls.context()
    given = {"invite": secret, **{name: request.form.get(name, "") for name in ("id", "name", "contact")}}
    caller = visitors.visitor().caller
    team = teams.join(context, caller, answers.loaded(JoinRequest(), given))
    return api_answers.unstored(answers.page("join.html", invite=None, secret=secret, team=team))
