"""Serve benchmarks, their revisions and teams, the words that participants get, and invites; tokens, webhooks, events.

New teams are one or several as JSON, or a table. Tokens are those of CI jobs and dashboards too. Events are audit
trail, change feed and replay in one list.
"""

from __future__ import annotations

from flask import Blueprint, Request, Response, request

from service.api import answers, bodies, calls
from service.api.answers import plain_tags
from service.api.bodies import JSON
from service.config import Config
from service.contract.benchmarks import (
    AnalyticsQuery,
    BenchmarkChanges,
    BenchmarkRequest,
    BenchmarksQuery,
    RevisionRequest,
)
from service.contract.common import PageQuery
from service.contract.derive import schema_of
from service.contract.events import EventsQuery, WebhookRequest
from service.contract.fields import load
from service.contract.teams import InviteRequest, JoinRequest, TeamRequest, TeamsRequest
from service.contract.tokens import TokenRequest
from service.errors import NotFound
from service.team_table import MEDIA_TYPE, load_teams, tokens_csv
from service.usecases import events, tokens
from service.usecases.benchmarks import benchmarks, revisions, teams
from service.usecases.submissions import fitting

blueprint = Blueprint("benchmarks", __name__, url_prefix="/v1/benchmarks")


@blueprint.post("")
def create_benchmark() -> Response:
    """Create a benchmark; a worker checks its gold."""
    caller = calls.caller_without_query("organise")
    context = calls.context()
    body = calls.parts_body(schema_of(BenchmarkRequest), "parts", "gold")
    slug, new = benchmarks.create_benchmark(context, caller, body, calls.idempotency_key(body))
    wait = calls.wait_seconds()
    view = benchmarks.wait_for_benchmark(context, caller, slug, wait or 0)
    return answers.created(view, f"/v1/benchmarks/{slug}", wait, repeated=not new)


@blueprint.get("")
def list_benchmarks() -> Response:
    """List benchmarks."""
    caller = calls.caller()
    return answers.page(benchmarks.list_benchmarks(calls.context(), caller, calls.query(BenchmarksQuery)))


@blueprint.get("/<benchmark>")
def get_benchmark(benchmark: str) -> Response:
    """Show a benchmark; with a wait, once its gold is checked."""
    caller = calls.caller_without_query()
    context = calls.context()
    return calls.polled(
        lambda: benchmarks.view_benchmark(context, caller, benchmark),
        lambda seconds, known: benchmarks.wait_for_benchmark(context, caller, benchmark, seconds, known),
    )


@blueprint.patch("/<benchmark>")
def patch_benchmark(benchmark: str) -> Response:
    """Change what cannot change a score."""
    caller = calls.caller_without_query("organise")
    changes = calls.body(schema_of(BenchmarkChanges))
    if_match = plain_tags(request.headers.get("If-Match"))
    return answers.plain(benchmarks.patch_benchmark(calls.context(), caller, benchmark, changes, if_match))


@blueprint.delete("/<benchmark>")
def delete_benchmark(benchmark: str) -> Response:
    """Delete a benchmark without submissions."""
    caller = calls.caller_without_query("organise")
    benchmarks.delete_benchmark(calls.context(), caller, benchmark)
    return answers.nothing()


@blueprint.get("/<benchmark>/parts/<part>/input")
def get_part_input(benchmark: str, part: str) -> Response:
    """Show the words of a part, without annotation."""
    caller = calls.caller_without_query()
    return answers.conditional(benchmarks.part_input(calls.context(), caller, benchmark, part))


@blueprint.get("/<benchmark>/fitting")
def list_fitting(benchmark: str) -> Response:
    """Report which teams fit their outputs to the test set."""
    caller = calls.caller("organise")
    return answers.page(fitting.report(calls.context(), caller, benchmark, calls.query(PageQuery)))


@blueprint.get("/<benchmark>/analytics")
def get_analytics(benchmark: str) -> Response:
    """Tell how the benchmark runs."""
    caller = calls.caller("organise")
    query = calls.query(AnalyticsQuery)
    return answers.conditional(benchmarks.analytics_of(calls.context(), caller, benchmark, query))


revision_blueprint = Blueprint("revisions", __name__, url_prefix="/v1/benchmarks/<benchmark>/revisions")


@revision_blueprint.post("")
def create_revision(benchmark: str) -> Response:
    """Create a revision; every submission is scored again."""
    caller = calls.caller_without_query("organise")
    context = calls.context()
    body = calls.parts_body(schema_of(RevisionRequest), "parts", "gold")
    number, new = revisions.create_revision(context, caller, benchmark, body, calls.idempotency_key(body))
    wait = calls.wait_seconds()
    view = revisions.wait_for_revision(context, caller, benchmark, number, wait or 0)
    return answers.accepted(view, f"/v1/benchmarks/{benchmark}/revisions/{number}", wait, repeated=not new)


@revision_blueprint.get("")
def list_revisions(benchmark: str) -> Response:
    """List revisions, newest first."""
    caller = calls.caller()
    return answers.page(revisions.list_revisions(calls.context(), caller, benchmark, calls.query(PageQuery)))


@revision_blueprint.get("/<number>")
def get_revision(benchmark: str, number: str) -> Response:
    """Show a revision; with a wait, once it has settled."""
    caller = calls.caller_without_query()
    context, which = calls.context(), _number(benchmark, number)
    return calls.polled(
        lambda: revisions.view_revision(context, caller, benchmark, which),
        lambda seconds, known: revisions.wait_for_revision(context, caller, benchmark, which, seconds, known),
    )


@revision_blueprint.get("/<number>/difference")
def get_revision_difference(benchmark: str, number: str) -> Response:
    """Show what a revision changes and who moves, also before it is active."""
    caller = calls.caller_without_query()
    return answers.conditional(revisions.difference(calls.context(), caller, benchmark, _number(benchmark, number)))


def _number(benchmark: str, given: str) -> int:
    if not given.isascii() or not given.isdecimal() or len(given) > 9:
        raise NotFound(f"Unknown revision {given[:80]!r} of benchmark {benchmark!r}.")
    return int(given)


CSV = "text/csv"


def read_teams(request: Request, config: Config) -> TeamRequest | TeamsRequest:
    """Return the team of a request, or the teams.

    Raises:
        ServiceError: 400, 413, 415 or 422.
    """
    table = bodies.media_type(request, bodies.JSON, CSV) == CSV
    body = bodies.whole(request, config, min(bodies.ALONE, config.max_body_bytes))
    if table:
        return load_teams(body, config.max_problems)
    value = bodies.parse_json(body, config)
    if isinstance(value, dict) and "teams" in value:
        return load(schema_of(TeamsRequest), value, config.max_problems)
    return load(schema_of(TeamRequest), value, config.max_problems)


team_blueprint = Blueprint("teams", __name__, url_prefix="/v1/benchmarks/<benchmark>/teams")


@team_blueprint.post("")
def create_team(benchmark: str) -> Response:
    """Create a team, or several; their tokens are shown in this answer only."""
    caller = calls.caller_without_query("organise")
    context, here = calls.context(), f"/v1/benchmarks/{benchmark}/teams"
    asked = read_teams(request, context.config)
    if isinstance(asked, TeamRequest):
        team = teams.create_team(context, caller, benchmark, asked)
        return answers.secret(team, f"{here}/{team['id']}")
    made = teams.create_teams(context, caller, benchmark, asked)
    if request.accept_mimetypes.best_match([JSON, CSV]) == CSV:
        return answers.secret_text(tokens_csv(made), MEDIA_TYPE, here)
    return answers.secret({"teams": made}, here)


@team_blueprint.get("")
def list_teams(benchmark: str) -> Response:
    """List teams, without their tokens."""
    caller = calls.caller("organise")
    return answers.page(teams.list_teams(calls.context(), caller, benchmark, calls.query(PageQuery)))


@team_blueprint.post("/<team>/token")
def rotate_token(benchmark: str, team: str) -> Response:
    """Make a new token for a team and revoke its earlier ones."""
    caller = calls.caller_without_query("organise")
    rotated = teams.rotate_token(calls.context(), caller, benchmark, team)
    return answers.secret(rotated, f"/v1/benchmarks/{benchmark}/teams/{team}")


@team_blueprint.delete("/<team>")
def erase_team(benchmark: str, team: str) -> Response:
    """Erase a team's name and outputs."""
    caller = calls.caller_without_query("organise")
    teams.erase_team(calls.context(), caller, benchmark, team)
    return answers.nothing()


invite_blueprint = Blueprint("invites", __name__, url_prefix="/v1")


@invite_blueprint.post("/benchmarks/<benchmark>/invites")
def create_invite(benchmark: str) -> Response:
    """Create an invite; its secret is shown in this answer only."""
    caller = calls.caller_without_query("organise")
    invite = teams.create_invite(calls.context(), caller, benchmark, calls.body(schema_of(InviteRequest)))
    return answers.secret(invite, f"/v1/benchmarks/{benchmark}/invites/{invite['id']}")


@invite_blueprint.get("/benchmarks/<benchmark>/invites")
def list_invites(benchmark: str) -> Response:
    """List invites, without their secrets."""
    caller = calls.caller("organise")
    return answers.page(teams.list_invites(calls.context(), caller, benchmark, calls.query(PageQuery)))


@invite_blueprint.delete("/benchmarks/<benchmark>/invites/<invite>")
def delete_invite(benchmark: str, invite: str) -> Response:
    """Withdraw an invite."""
    caller = calls.caller_without_query("organise")
    teams.delete_invite(calls.context(), caller, benchmark, invite)
    return answers.nothing()


@invite_blueprint.post("/join")
def join() -> Response:
    """Make a team with an invite; its token is shown in this answer only."""
    caller = calls.caller_without_query()
    team = teams.join(calls.context(), caller, calls.body(schema_of(JoinRequest)))
    return answers.secret(team, f"/v1/benchmarks/{team['benchmark']}/teams/{team['id']}")


token_blueprint = Blueprint("tokens", __name__, url_prefix="/v1/tokens")


@token_blueprint.post("")
def create_token() -> Response:
    """Create a token; its text is shown in this answer only."""
    caller = calls.caller_without_query("organise")
    token = tokens.create_token(calls.context(), caller, calls.body(schema_of(TokenRequest)))
    return answers.secret(token, f"/v1/tokens/{token['id']}")


@token_blueprint.get("")
def list_tokens() -> Response:
    """List tokens, without their texts."""
    caller = calls.caller("organise")
    return answers.unstored(answers.page(tokens.list_tokens(calls.context(), caller, calls.query(PageQuery))))


@token_blueprint.delete("/<token_id>")
def revoke_token(token_id: str) -> Response:
    """Revoke a token."""
    caller = calls.caller_without_query("organise")
    tokens.revoke_token(calls.context(), caller, token_id)
    return answers.nothing()


webhook_blueprint = Blueprint("webhooks", __name__, url_prefix="/v1/webhooks")


@webhook_blueprint.post("")
def create_webhook() -> Response:
    """Create a webhook; its secret is shown in this answer only."""
    caller = calls.caller_without_query("submit")
    webhook = events.create_webhook(calls.context(), caller, calls.body(schema_of(WebhookRequest)))
    return answers.secret(webhook, f"/v1/webhooks/{webhook['id']}")


@webhook_blueprint.get("")
def list_webhooks() -> Response:
    """List the caller's webhooks, without their secrets."""
    caller = calls.caller("submit")
    return answers.page(events.list_webhooks(calls.context(), caller, calls.query(PageQuery)))


@webhook_blueprint.delete("/<webhook>")
def delete_webhook(webhook: str) -> Response:
    """Delete a webhook."""
    caller = calls.caller_without_query("submit")
    events.delete_webhook(calls.context(), caller, webhook)
    return answers.nothing()


@webhook_blueprint.post("/<webhook>/test")
def test_webhook(webhook: str) -> Response:
    """Send a test to a webhook."""
    caller = calls.caller_without_query("submit")
    return answers.queued(events.send_test(calls.context(), caller, webhook))


@webhook_blueprint.post("/<webhook>/rotate")
def rotate_webhook(webhook: str) -> Response:
    """Replace the secret of a webhook; the new one is shown in this answer only."""
    caller = calls.caller_without_query("submit")
    return answers.secret(events.rotate_secret(calls.context(), caller, webhook), f"/v1/webhooks/{webhook}")


@webhook_blueprint.get("/<webhook>/deliveries")
def list_deliveries(webhook: str) -> Response:
    """List the deliveries of a webhook."""
    caller = calls.caller("submit")
    query = calls.query(PageQuery)
    return answers.page(events.list_deliveries(calls.context(), caller, webhook, query))


@webhook_blueprint.post("/<webhook>/deliveries/<delivery>/replay")
def replay_delivery(webhook: str, delivery: str) -> Response:
    """Deliver an event again."""
    caller = calls.caller_without_query("submit")
    return answers.queued(events.replay_delivery(calls.context(), caller, webhook, delivery))


event_blueprint = Blueprint("events", __name__, url_prefix="/v1/events")


@event_blueprint.get("")
def list_events() -> Response:
    """List the events after a known one, oldest first."""
    caller = calls.caller("submit", "read")
    return answers.page(events.list_events(calls.context(), caller, calls.query(EventsQuery)), "after")
