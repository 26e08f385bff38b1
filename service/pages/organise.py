"""What an organiser does beside settings: revisions of a benchmark, its teams and invites, and webhooks.

Teams are made many at once from a table; there are new tokens and invites. Of webhooks: a test event, the log of
deliveries, sending again, new secrets.
"""

from flask import Response, request

from service.api import answers as api_answers
from service.api import bodies, calls
from service.contract.access import InviteRequest, WebhookRequest
from service.contract.common import PageQuery
from service.pages import answers, visitors
from service.pages.admin import moment_of
from service.pages.figures import ScoreNames, benchmark_document
from service.team_table import MEDIA_TYPE, load_teams, tokens_csv
from service.usecases import events
from service.usecases.benchmarks import revisions, teams

revisions_blueprint = answers.pages("admin_revisions", "/admin/<benchmark>/revisions")
MOST_REVISION = 10**9 - 1
"""Number that a revision can have; databases refuse much larger ones."""


@revisions_blueprint.get(f"/<int(max={MOST_REVISION}):number>")
def show_difference(benchmark: str, number: int) -> Response:
    """Show what a revision changes and who would move, also of one that is not active."""
    caller = visitors.member("organise")
    context = calls.context()
    document = benchmark_document(caller, benchmark)
    difference = revisions.difference(context, caller, benchmark, number).document
    failure = revisions.view_revision(context, caller, benchmark, number).document["failure"]
    figures = ScoreNames(document)(document["main_score"]).figures
    return answers.page(
        "admin_difference.html", benchmark=document, difference=difference, failure=failure, figures=figures
    )


teams_blueprint = answers.pages("admin_teams", "/admin/<benchmark>/teams")
MANY_INVITES = PageQuery(limit=1000)
DOWNLOAD = "download"
MOST_DIGITS = 9
"""Of a number in a form; Python refuses to read thousands."""


@teams_blueprint.get("")
def show_teams(benchmark: str) -> Response:
    """List teams and invites."""
    return _teams_page(benchmark)


@teams_blueprint.post("")
def make_teams(benchmark: str) -> Response:
    """Make the teams of a table, all or none; their tokens are in this answer only."""
    caller = visitors.member("organise")
    context = calls.context()
    request.max_content_length = request.max_form_memory_size = bodies.ALONE
    visitors.check_form()
    sent = request.files.get("file")
    table = sent.read() if sent is not None and sent.filename else request.form.get("table", "").encode()
    made = teams.create_teams(context, caller, benchmark, load_teams(table, context.config.max_problems))
    if request.form.get("as") == DOWNLOAD:
        response = api_answers.secret_text(tokens_csv(made), MEDIA_TYPE, f"/admin/{benchmark}/teams")
        response.status_code = 200
        response.headers["Content-Disposition"] = f'attachment; filename="{benchmark}-tokens.csv"'
        return answers.finished(response)
    return _teams_page(benchmark, made=made)


@teams_blueprint.post("/<team>/token")
def make_token(benchmark: str, team: str) -> Response:
    """Make a new token for a team and revoke its earlier ones."""
    caller = visitors.sender("organise")
    return _teams_page(benchmark, made=[teams.rotate_token(calls.context(), caller, benchmark, team)])


@teams_blueprint.post("/invites")
def make_invite(benchmark: str) -> Response:
    """Make an invite; its address is in this answer only."""
    caller = visitors.sender("organise")
    context = calls.context()
    given: dict[str, object] = {"expires_at": moment_of(request.form.get("expires_at", ""))}
    most = request.form.get("teams_at_most", "")
    given["teams_at_most"] = int(most) if most.isascii() and most.isdigit() and len(most) <= MOST_DIGITS else most
    invite = teams.create_invite(context, caller, benchmark, calls.loaded(InviteRequest, given))
    return _teams_page(benchmark, invite=invite)


@teams_blueprint.post("/invites/<invite>")
def withdraw_invite(benchmark: str, invite: str) -> Response:
    """Withdraw an invite."""
    teams.delete_invite(calls.context(), visitors.sender("organise"), benchmark, invite)
    return answers.go_to(f"/admin/{benchmark}/teams")


def _teams_page(
    benchmark: str, *, made: list[dict[str, object]] | None = None, invite: dict[str, object] | None = None
) -> Response:
    """Return the page; one with secrets answers a form, so that it is stored nowhere."""
    caller = visitors.member("organise")
    context = calls.context()
    return answers.page(
        "admin_teams.html", benchmark=benchmark_document(caller, benchmark), made=made, invite=invite,
        teams=teams.list_teams(context, caller, benchmark, MANY_INVITES).items,
        invites=teams.list_invites(context, caller, benchmark, MANY_INVITES).items,
    )  # fmt: skip


webhooks_blueprint = answers.pages("admin_webhooks", "/admin/webhooks")
MANY_WEBHOOKS = PageQuery(limit=100)


@webhooks_blueprint.get("")
def show_webhooks() -> Response:
    """List webhooks."""
    return _webhooks_page()


@webhooks_blueprint.post("")
def make_webhook() -> Response:
    """Make a webhook; its secret is in this answer only."""
    caller = visitors.organiser(sends=True)
    context = calls.context()
    given = {"url": request.form.get("url", "").strip()}
    if request.form.get("benchmark"):
        given["benchmark"] = request.form["benchmark"]
    return _webhooks_page(secret=events.create_webhook(context, caller, calls.loaded(WebhookRequest, given)))


@webhooks_blueprint.post("/<webhook>/rotate")
def rotate_webhook(webhook: str) -> Response:
    """Make a new secret; the old one signs too for a day."""
    return _webhooks_page(secret=events.rotate_secret(calls.context(), visitors.organiser(sends=True), webhook))


@webhooks_blueprint.post("/<webhook>/test")
def test_webhook(webhook: str) -> Response:
    """Send a test event."""
    events.send_test(calls.context(), visitors.organiser(sends=True), webhook)
    return answers.go_to(f"/admin/webhooks/{webhook}")


@webhooks_blueprint.post("/<webhook>/delete")
def delete_webhook(webhook: str) -> Response:
    """Delete a webhook."""
    events.delete_webhook(calls.context(), visitors.organiser(sends=True), webhook)
    return answers.go_to("/admin/webhooks")


@webhooks_blueprint.get("/<webhook>")
def show_deliveries(webhook: str) -> Response:
    """Show the log of deliveries."""
    found = events.list_deliveries(calls.context(), visitors.organiser(), webhook, MANY_WEBHOOKS)
    return answers.page("admin_deliveries.html", webhook=webhook, deliveries=found.items)


@webhooks_blueprint.post("/<webhook>/<delivery>/replay")
def replay_delivery(webhook: str, delivery: str) -> Response:
    """Send an event again."""
    events.replay_delivery(calls.context(), visitors.organiser(sends=True), webhook, delivery)
    return answers.go_to(f"/admin/webhooks/{webhook}")


def _webhooks_page(secret: dict[str, object] | None = None) -> Response:
    """Return the page; one with a secret answers a form, so that it is stored nowhere."""
    listed = events.list_webhooks(calls.context(), visitors.organiser(), MANY_WEBHOOKS)
    return answers.page("admin_webhooks.html", webhooks=listed.items, secret=secret)
