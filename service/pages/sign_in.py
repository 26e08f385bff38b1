"""Sign in with a token, sign out, choose colours."""

from __future__ import annotations

from flask import Response, request

from service.errors import Unauthorized
from service.pages import answers, visitors

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
