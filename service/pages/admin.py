"""What an organiser does: settings, description, revisions and reports of a benchmark, its teams, and webhooks.

Teams are made many at once from a table; there are new tokens and invites. Of webhooks: a test event, the log of
deliveries, sending again, new secrets. An organiser may look at a benchmark as a team does.
"""

from collections.abc import Mapping
from typing import Any, cast

from flask import Response, request

from service.api import answers as api_answers
from service.api import bodies, calls
from service.contract.access import InviteRequest, WebhookRequest
from service.contract.benchmarks import AnalyticsQuery, Benchmark, BenchmarkChanges, BenchmarksQuery
from service.contract.common import PageQuery
from service.errors import NotFound
from service.pages import answers, visitors
from service.pages.figures import ScoreNames, benchmark_document, state_of
from service.policy.gate import LEVELS
from service.requests import PICKS
from service.team_table import MEDIA_TYPE, load_teams, tokens_csv
from service.usecases import access, events
from service.usecases.benchmarks import benchmarks, revisions, teams
from service.usecases.submissions import fitting

blueprint = answers.pages("admin", "/admin")
TIMES = ("opens_at", "closes_at", "frozen_at")
DAYS = 14
"""Days of the analytics."""
ABOUT = ("description", "rules", "licence", "citation", "contact")
MANY = PageQuery(limit=1000)
MOST_REVISION = 10**9 - 1
"""Number that a revision can have; databases refuse much larger ones."""


@blueprint.get("")
def show_admin() -> Response:
    """List the benchmarks to organise."""
    caller = visitors.member("organise")
    query, _ = answers.query(BenchmarksQuery)
    listed = benchmarks.list_benchmarks(calls.context(), caller, query)
    now = calls.context().now()
    rows = [(document, state_of(cast("Benchmark", document), now)) for document in listed.items]
    return answers.page("admin.html", rows=rows, next=listed.next)


@blueprint.get("/<benchmark>")
def show_admin_benchmark(benchmark: str) -> Response:
    """Show settings, revisions and reports of a benchmark."""
    caller = visitors.member("organise")
    context = calls.context()
    view = benchmarks.view_benchmark(context, caller, benchmark)
    document = view.document
    listed = revisions.list_revisions(context, caller, benchmark, MANY)
    analytics = benchmarks.analytics_of(context, caller, benchmark, AnalyticsQuery(days=DAYS)).document
    report = fitting.report(context, caller, benchmark, MANY) if document["active_revision"] else None
    return answers.page(
        "admin_benchmark.html", benchmark=document, etag=view.etag, levels=list(LEVELS), picks=PICKS, about=ABOUT,
        links=_links_text(document), revisions=listed.items, analytics=analytics,
        climbing=() if report is None else report.items, more_teams=report is not None and report.next is not None,
        figures=ScoreNames(document)(document["main_score"]).figures, state=state_of(document, context.now()),
    )  # fmt: skip


@blueprint.post("/<benchmark>")
def change_benchmark(benchmark: str) -> Response:
    """Change the settings or the description of a benchmark, if it is as it was when the form was shown."""
    caller = visitors.sender("organise")
    form = request.form
    given = _settings(form) if form.get("what") == "settings" else {"about": _about(form)}
    context = calls.context()
    changes = calls.loaded(BenchmarkChanges, given)
    benchmarks.patch_benchmark(context, caller, benchmark, changes, f'"{form.get("etag", "")}"')
    return answers.go_to(f"/admin/{benchmark}")


@blueprint.get(f"/<benchmark>/revisions/<int(max={MOST_REVISION}):number>")
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


@blueprint.post("/see-as")
def see_as() -> Response:
    """Look at the pages as a team does, or as the organiser again."""
    known = visitors.visitor()
    if known.signed is None:
        visitors.member("organise")
        raise NotFound("Only a browser that is signed in can see the pages as a team.")
    visitors.check_form(ends_looking=True)
    benchmark, team = (request.form.get(name) or None for name in ("benchmark", "team"))
    if team is None:
        benchmark = None  # an end of looking; an unchecked name must not become part of an address
    access.see_as(calls.context(), known.signed, benchmark, team)
    return answers.go_to(visitors.local_address(request.form.get("next", ""), f"/b/{benchmark}" if benchmark else "/"))


def _settings(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the changes of a form; a time that is left empty is none."""
    times = {name: moment_of(form.get(name, "")) for name in TIMES}
    frozen = times.pop("frozen_at")
    return {
        "title": form.get("title", ""),
        **times,
        "feedback": form.get("feedback", ""),
        "feedback_after_closing": form.get("feedback_after_closing") or None,
        "leaderboard": {
            "public": "public" in form,
            "anonymous": "anonymous" in form,
            "pick": form.get("pick", ""),
            "frozen_at": frozen,
        },
    }


def moment_of(text: str) -> str | None:
    """Return a time of a form, which is in UTC and has no zone, as the API takes it."""
    if not text:
        return None
    return text if text.endswith("Z") else f"{text}{':00' if text.count(':') == 1 else ''}Z"


def _about(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the description of a form; links are lines of a label and an address."""
    lines = [line.strip() for line in form.get("links", "").splitlines() if line.strip()]
    links = [{"label": label.strip() or url, "url": url} for label, _, url in (line.rpartition(" ") for line in lines)]
    texts = {name: form.get(name, "").replace("\r\n", "\n").strip() or None for name in ABOUT}
    return {**texts, "links": links or None}


def _links_text(document: Benchmark) -> str:
    return "\n".join(f"{link['label']} {link['url']}" for link in document["about"].get("links") or ())


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
    caller = visitors.sender("organise")
    context = calls.context()
    given = {"url": request.form.get("url", "").strip()}
    if request.form.get("benchmark"):
        given["benchmark"] = request.form["benchmark"]
    return _webhooks_page(secret=events.create_webhook(context, caller, calls.loaded(WebhookRequest, given)))


@webhooks_blueprint.post("/<webhook>/rotate")
def rotate_webhook(webhook: str) -> Response:
    """Make a new secret; the old one signs too for a day."""
    return _webhooks_page(secret=events.rotate_secret(calls.context(), visitors.sender("organise"), webhook))


@webhooks_blueprint.post("/<webhook>/test")
def test_webhook(webhook: str) -> Response:
    """Send a test event."""
    events.send_test(calls.context(), visitors.sender("organise"), webhook)
    return answers.go_to(f"/admin/webhooks/{webhook}")


@webhooks_blueprint.post("/<webhook>/delete")
def delete_webhook(webhook: str) -> Response:
    """Delete a webhook."""
    events.delete_webhook(calls.context(), visitors.sender("organise"), webhook)
    return answers.go_to("/admin/webhooks")


@webhooks_blueprint.get("/<webhook>")
def show_deliveries(webhook: str) -> Response:
    """Show the log of deliveries."""
    found = events.list_deliveries(calls.context(), visitors.member("organise"), webhook, MANY_WEBHOOKS)
    return answers.page("admin_deliveries.html", webhook=webhook, deliveries=found.items)


@webhooks_blueprint.post("/<webhook>/<delivery>/replay")
def replay_delivery(webhook: str, delivery: str) -> Response:
    """Send an event again."""
    events.replay_delivery(calls.context(), visitors.sender("organise"), webhook, delivery)
    return answers.go_to(f"/admin/webhooks/{webhook}")


def _webhooks_page(secret: dict[str, object] | None = None) -> Response:
    """Return the page; one with a secret answers a form, so that it is stored nowhere."""
    listed = events.list_webhooks(calls.context(), visitors.member("organise"), MANY_WEBHOOKS)
    return answers.page("admin_webhooks.html", webhooks=listed.items, secret=secret)
