"""What an organiser does: settings, description, revisions and reports of a benchmark, its teams, and webhooks.

Teams are made many at once from a table; there are new tokens and invites. Of webhooks: a test event, the log of
deliveries, sending again, new secrets. An organiser may look at a benchmark as a team does.
"""

from functools import partial
from typing import Any, cast

from flask import Response, request

from service.api import answers as api_answers
from service.api import bodies, calls
from service.caller import Caller
from service.contract.access import InviteRequest, WebhookRequest
from service.contract.benchmarks import AnalyticsQuery, Benchmark, BenchmarkChanges, BenchmarksQuery, RevisionRequest
from service.contract.common import PageQuery
from service.errors import NotFound, PreconditionFailed, refuse
from service.pages import answers, making, settings, visitors
from service.pages.figures import ScoreNames, benchmark_document, state_of
from service.pages.settings import moment_of
from service.pages.submit import assign, new_key, read_upload, targets_of
from service.team_table import MEDIA_TYPE, load_teams, tokens_csv
from service.usecases import access, events
from service.usecases.benchmarks import benchmarks, revisions, teams
from service.usecases.runs import Shown
from service.usecases.submissions import fitting

blueprint = answers.pages("admin", "/admin")
FIELDS = tuple(field for group in settings.GROUPS.values() for field in group)
SAVED = "saved"
"""Parameter of the page of a benchmark: the state that a form has made, which is said as long as it lasts."""
DAYS = 14
"""Days of the analytics."""
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
    view = benchmarks.view_benchmark(calls.context(), caller, benchmark)
    values = _benchmark_values(caller, view)
    return answers.page("admin_benchmark.html", **values, saved=request.args.get(SAVED) == view.etag)


@blueprint.get("/<benchmark>/live")
def show_gold_live(benchmark: str) -> Response:
    """Show again what became of gold, if it differs from what the page shows."""
    view = benchmarks.view_benchmark(calls.context(), visitors.member("organise"), benchmark)
    return answers.fragment("admin_gold.html", view.etag, final=view.final, values=partial(_gold_values, view))


@blueprint.post("/<benchmark>")
def change_benchmark(benchmark: str) -> Response:
    """Change what differs in the form, if the settings are as they were when the form was shown.

    Where it is not, the page shows what was typed, and beside it what another organiser has stored.
    """
    caller = visitors.sender("organise")
    view = benchmarks.view_benchmark(calls.context(), caller, benchmark)
    shown = settings.texts_of(view.document, FIELDS)
    sent = {name: "\n".join(values) for name, values in request.form.lists()}
    changes = settings.differing(sent, shown, FIELDS)
    try:
        # gold's check changes the benchmark, but none of its settings
        known = view.etag if sent.get("seen") == settings.version_of(shown) else ""
        if changes:
            asked = calls.loaded(BenchmarkChanges, settings.nested(changes))
            view = benchmarks.patch_benchmark(calls.context(), caller, benchmark, asked, f'"{known}"')
    except (*answers.REFUSED, PreconditionFailed) as error:
        stored = settings.stored_texts(changes, shown, FIELDS) if isinstance(error, PreconditionFailed) else {}
        values = _benchmark_values(caller, view) | {
            "texts": sent, "echoes": {}, "stored": stored,
            "faults": settings.faults_by_field(api_answers.problem_of(error), FIELDS, {}),
        }  # fmt: skip
        return answers.refused("admin_benchmark.html", error, **values, saved=False)
    if "HX-Request" in request.headers:
        return answers.page("admin_benchmark.html", **_benchmark_values(caller, view), saved=True)
    return answers.go_to(f"/admin/{benchmark}?{SAVED}={view.etag}")


@blueprint.post("/<benchmark>/gold")
def send_gold(benchmark: str) -> Response:
    """Try again with other files where the gold of a benchmark could not be used."""
    caller = visitors.member("organise")
    upload = read_upload()
    view = benchmarks.view_benchmark(calls.context(), caller, benchmark)
    try:
        refuse(upload.problems)
        assigned = assign(upload.files.get(making.GOLD, ()), targets_of(view.document), {})
        refuse(assigned.problems)
        parts = {name: {"gold": text} for name, text in assigned.outputs.items()}
        asked = calls.loaded(RevisionRequest, {"parts": parts})
        revisions.create_revision(calls.context(), caller, benchmark, asked, upload.key(asked, benchmark))
    except answers.REFUSED as error:
        return answers.refused("admin_benchmark.html", error, **_benchmark_values(caller, view), saved=False)
    return answers.go_to(f"/admin/{benchmark}")


def _benchmark_values(caller: Caller, view: Shown[Benchmark]) -> dict[str, Any]:
    """Return what the template of a benchmark shows."""
    context, document = calls.context(), view.document
    slug = document["id"]
    analytics = benchmarks.analytics_of(context, caller, slug, AnalyticsQuery(days=DAYS)).document
    report = fitting.report(context, caller, slug, MANY) if document["active_revision"] else None
    texts = settings.texts_of(document, FIELDS)
    return {
        **_gold_values(view),
        "seen": settings.version_of(texts), "groups": settings.GROUPS, "zones": settings.ZONES, "texts": texts,
        "problem": None, "faults": {}, "stored": {}, "echoes": settings.echoes_of(texts),
        "guessed": making.GUESSED in request.args, "scores": making.score_labels(document),
        "revisions": revisions.list_revisions(context, caller, slug, MANY).items, "analytics": analytics,
        "climbing": () if report is None else report.items,
        "more_teams": report is not None and report.next is not None,
        "figures": ScoreNames(document)(document["main_score"]).figures, "state": state_of(document, context.now()),
    }  # fmt: skip


def _gold_values(view: Shown[Benchmark]) -> dict[str, Any]:
    """Return what the template of gold's state shows."""
    return {
        "benchmark": view.document, "version": view.etag, "final": view.final,
        "main": ScoreNames(view.document)(view.document["main_score"]),
        "most_bytes": calls.context().config.max_upload_bytes, "key": new_key(),
    }  # fmt: skip


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
