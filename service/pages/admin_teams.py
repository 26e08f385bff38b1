"""The teams of a benchmark: many at once from a table, new tokens, invites."""

from __future__ import annotations

from flask import Response, request

from service.api import answers as api_answers
from service.api import calls
from service.pages import answers, visitors
from service.pages.admin import moment_of
from service.pages.benchmarks import benchmark_document
from service.render.team_tokens import MEDIA_TYPE, tokens_csv
from service.requests import PageQuery
from service.schemas.team_table import load_teams
from service.schemas.teams import InviteRequest
from service.usecases.benchmarks import invites, teams

blueprint = answers.pages("admin_teams", "/admin/<benchmark>/teams")
MANY = PageQuery(limit=1000)
DOWNLOAD = "download"
MOST_DIGITS = 9
"""Of a number in a form; Python refuses to read thousands."""


@blueprint.get("")
def show_teams(benchmark: str) -> Response:
    """List teams and invites."""
    return _teams_page(benchmark)


@blueprint.post("")
def make_teams(benchmark: str) -> Response:
    """Make the teams of a table, all or none; their tokens are in this answer only."""
    caller = visitors.member("organise")
    visitors.check_form()
    context = calls.context()
    sent = request.files.get("file")
    table = sent.read() if sent is not None and sent.filename else request.form.get("table", "").encode()
    made = teams.create_teams(context, caller, benchmark, load_teams(table, context.config.max_problems))
    if request.form.get("as") == DOWNLOAD:
        response = api_answers.secret_text(tokens_csv(made), MEDIA_TYPE, f"/admin/{benchmark}/teams")
        response.status_code = 200
        response.headers["Content-Disposition"] = f'attachment; filename="{benchmark}-tokens.csv"'
        return answers.finished(response)
    return _teams_page(benchmark, made=made)


@blueprint.post("/<team>/token")
def make_token(benchmark: str, team: str) -> Response:
    """Make a new token for a team and revoke its earlier ones."""
    caller = visitors.member("organise")
    visitors.check_form()
    return _teams_page(benchmark, made=[teams.rotate_token(calls.context(), caller, benchmark, team)])


@blueprint.post("/invites")
def make_invite(benchmark: str) -> Response:
    """Make an invite; its address is in this answer only."""
    caller = visitors.member("organise")
    visitors.check_form()
    context = calls.context()
    given: dict[str, object] = {"expires_at": moment_of(request.form.get("expires_at", ""))}
    most = request.form.get("teams_at_most", "")
    given["teams_at_most"] = int(most) if most.isascii() and most.isdigit() and len(most) <= MOST_DIGITS else most
    invite = invites.create_invite(context, caller, benchmark, answers.loaded(InviteRequest(), given))
    return _teams_page(benchmark, invite=invite)


@blueprint.post("/invites/<invite>")
def withdraw_invite(benchmark: str, invite: str) -> Response:
    """Withdraw an invite."""
    caller = visitors.member("organise")
    visitors.check_form()
    invites.delete_invite(calls.context(), caller, benchmark, invite)
    return answers.go_to(f"/admin/{benchmark}/teams")


def _teams_page(
    benchmark: str, *, made: list[dict[str, object]] | None = None, invite: dict[str, object] | None = None
) -> Response:
    """Return the page; one with secrets is stored nowhere."""
    caller = visitors.member("organise")
    context = calls.context()
    response = answers.page(
        "admin_teams.html", benchmark=benchmark_document(caller, benchmark), made=made, invite=invite,
        teams=teams.list_teams(context, caller, benchmark, MANY).items,
        invites=invites.list_invites(context, caller, benchmark, MANY).items,
    )  # fmt: skip
    return response if made is None and invite is None else api_answers.unstored(response)
