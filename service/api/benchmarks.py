"""Serve benchmarks, their revisions and teams, the words that participants get, and invites; tokens, webhooks, events.

New teams are one or several as JSON, or a table. Tokens are those of CI jobs and dashboards too. Events are audit
trail and change feed in one list.
"""

from flask import Blueprint, Request, Response, request

from service.api import answers, bodies, calls, forms
from service.api.calls import Body, answer, asks, publishes
from service.caller import Caller
from service.config import Config
from service.contract import access, derive
from service.contract import benchmarks as contract
from service.contract.common import PageQuery, TextsByName
from service.errors import NotFound
from service.requests import Query
from service.team_table import MEDIA_TYPE, load_teams, teams_csv
from service.usecases import events, tokens
from service.usecases.benchmarks import benchmarks, revisions, teams
from service.usecases.submissions import fitting

blueprint = Blueprint("benchmarks", __name__, url_prefix="/v1/benchmarks")


@blueprint.post("")
@asks(
    answer(
        "The benchmark is stored; a worker has checked its gold or will check it.",
        contract.Benchmark,
        status=201,
        headers="RetryAfterUnfinished",
        examples={"dependencies": "BenchmarkAnswer"},
    ),
    scopes=("organise",),
    also="wait keyed makes tagged",
    body=Body(json=contract.BenchmarkRequest, form="BenchmarkForm", examples={"dependencies": "BenchmarkRequest"}),
)
def create_benchmark(caller: Caller) -> Response:
    r"""Create a benchmark.

    A worker checks the gold: revision 1 of the benchmark is `checking`, then `active` or `failed`. With `Prefer: wait`
    the answer usually shows the result. Earlier submissions answer 409.

    In a form, `meta` is the JSON document without the texts, and the gold of each part is a file with the name of the
    part (`en` or `parts/en`; `en/source`, `en/target` and `en/alignment` for a format of several texts).

        curl -F 'meta={"id": "demo", "title": "Demo", "format": "conllu", "metrics": ["ud"]}' \
             -F en=@en.conllu -F de=@de.conllu -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8000/v1/benchmarks
    """
    context = calls.context()
    slug, new = benchmarks.create_benchmark(context, caller, *calls.sent(contract.BenchmarkRequest, forms.read_gold))
    location = f"/v1/benchmarks/{slug}"
    wait_for = benchmarks.wait_for_benchmark
    return calls.made(wait_for, caller, slug, location=location, repeated=not new, status=201)


@blueprint.get("")
@asks(answer("A page of benchmarks.", derive.Page[contract.Benchmark]), also="page")
def list_benchmarks(caller: Caller, query: contract.BenchmarksQuery) -> Response:
    """List the benchmarks, by id.

    Members that only organisers may see are null for other callers.
    """
    return answers.page(benchmarks.list_benchmarks(calls.context(), caller, query))


@blueprint.get("/<benchmark>")
@asks(answer("The benchmark.", contract.Benchmark), also="kept poll")
def get_benchmark(caller: Caller, benchmark: str) -> Response:
    """Get a benchmark.

    With `Prefer: wait` it answers when no revision is being checked. Members that only organisers may see are null for
    other callers.
    """
    return calls.polled(benchmarks.view_benchmark, benchmarks.wait_for_benchmark, caller, benchmark)


@blueprint.patch("/<benchmark>")
@asks(
    answer("The changed benchmark.", contract.Benchmark),
    scopes=("organise",),
    also="kept matched tagged",
    body=Body(json=contract.BenchmarkChanges, examples={"closing": "ClosingChange"}),
)
def patch_benchmark(caller: Caller, benchmark: str) -> Response:
    """Change the settings of a benchmark that change no score.

    Members of `quota`, `leaderboard` and `about` are merged. Gold, format and metrics change with a new revision.
    """
    changes = calls.body(contract.BenchmarkChanges)
    if_match = answers.plain_tags(request.headers.get("If-Match"))
    return answers.plain(benchmarks.patch_benchmark(calls.context(), caller, benchmark, changes, if_match))


@blueprint.delete("/<benchmark>")
@asks(scopes=("organise",), also="kept conflict erases")
def delete_benchmark(caller: Caller, benchmark: str) -> None:
    """Delete a benchmark that has no submissions.

    Its id stays reserved. Later requests for it answer 410.
    """
    benchmarks.delete_benchmark(calls.context(), caller, benchmark)


@blueprint.get("/<benchmark>/parts/<part>/input")
@asks(answer("One text; an object of texts for a format of several texts.", "text/plain", TextsByName), also="kept")
def get_part_input(caller: Caller, benchmark: str, part: str) -> Response:
    """Get the words of a part without annotation.

    Available from the opening on, if the organisers publish it (`publish_input`).
    """
    return answers.conditional(benchmarks.part_input(calls.context(), caller, benchmark, part))


@blueprint.get("/<benchmark>/fitting")
@asks(
    answer("A page of teams.", derive.Page[contract.TeamFitting]),
    scopes=("organise",),
    also="kept page conflict invalid",
)
def list_fitting(caller: Caller, query: PageQuery, benchmark: str) -> Response:
    """Report how teams fit their outputs to the test set.

    For organisers, all teams, from what is stored under the active revision. Nothing follows from it by itself. Teams
    with a `jump` come first, then those with outputs of other teams, then by `longest_climb`, `climbs`,
    `near_duplicates` and `bits_released`. Of each team the newest 2000 submissions count, fewer for steps where teams
    and parts are many. A sentence counts as changed if its counts under the metric that ranks differ.
    """
    return answers.page(fitting.report(calls.context(), caller, benchmark, query))


revision_blueprint = Blueprint("revisions", __name__, url_prefix="/v1/benchmarks/<benchmark>/revisions")


@revision_blueprint.post("")
@asks(
    answer(
        "The revision is active, ready or failed within the wait.",
        contract.Revision,
        status=201,
        examples={"fix": "RevisionAnswer"},
    ),
    answer("The revision is stored and being checked.", contract.Revision, status=202),
    scopes=("organise",),
    also="kept wait keyed makes tagged",
    body=Body(json=contract.RevisionRequest, form="RevisionForm", examples={"fix": "RevisionRequest"}),
)
def create_revision(caller: Caller, benchmark: str) -> Response:
    """Create a revision with changed gold or metrics.

    Absent members keep their values; a part that is null is removed. All submissions are scored again before the
    leaderboard changes; `moved` lists the rank changes. With `dry_run` the revision does not become active. Forms are
    as for a new benchmark.
    """
    context = calls.context()
    number, new = revisions.create_revision(
        context, caller, benchmark, *calls.sent(contract.RevisionRequest, forms.read_gold)
    )
    location = f"/v1/benchmarks/{benchmark}/revisions/{number}"
    return calls.made(revisions.wait_for_revision, caller, benchmark, number, location=location, repeated=not new)


@revision_blueprint.get("")
@asks(answer("A page of revisions.", derive.Page[contract.Revision]), also="kept page invalid")
def list_revisions(caller: Caller, query: PageQuery, benchmark: str) -> Response:
    """List the revisions of a benchmark, newest first.

    The list does not show rank changes.
    """
    return answers.page(revisions.list_revisions(calls.context(), caller, benchmark, query))


@revision_blueprint.get("/<number>")
@asks(answer("The revision.", contract.Revision), also="kept poll")
def get_revision(caller: Caller, benchmark: str, number: str) -> Response:
    """Get a revision.

    With `Prefer: wait` it answers when the revision has been checked and all submissions are scored.
    """
    which = _number(benchmark, number)
    return calls.polled(revisions.view_revision, revisions.wait_for_revision, caller, benchmark, which)


@revision_blueprint.get("/<number>/difference")
@asks(answer("The difference.", contract.RevisionDifference), also="kept")
def get_revision_difference(caller: Caller, benchmark: str, number: str) -> Response:
    """Get what a revision changes, and who moves.

    Against the revision that was active before, or that it would replace: parts, metrics and other members of the
    scoring, rank changes. Organisers see it before the revision is active too, of dry runs when they are `ready`;
    others of revisions that are or were active, as far as the feedback level shows it.
    """
    return answers.conditional(revisions.difference(calls.context(), caller, benchmark, _number(benchmark, number)))


def _number(benchmark: str, given: str) -> int:
    if not given.isascii() or not given.isdecimal() or len(given) > 9:
        raise NotFound(f"Unknown revision {given[:80]!r} of benchmark {benchmark!r}.")
    return int(given)


CSV = "text/csv"


def read_teams(request: Request, config: Config) -> access.TeamRequest | access.TeamsRequest:
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
        return calls.loaded(access.TeamsRequest, value)
    return calls.loaded(access.TeamRequest, value)


team_blueprint = Blueprint("teams", __name__, url_prefix="/v1/benchmarks/<benchmark>/teams")


@team_blueprint.post("")
@asks(
    answer(
        "The team and its token, or the teams with theirs.",
        access.NewTeamOrTeams,
        "text/csv",
        status=201,
        examples={"lyon": "TeamAnswer"},
    ),
    scopes=("organise",),
    also="kept makes conflict",
    body=Body(json=access.TeamOrTeams, texts=["text/csv"], examples={"lyon": "TeamRequest", "several": "TeamsRequest"}),
)
def create_team(caller: Caller, benchmark: str) -> Response:
    r"""Create a team, or up to 1,000 at once.

    The tokens (scopes `submit` and `read`, for this benchmark) are shown only in this answer. Of several teams all are
    made, or none. They come as JSON, or as a table: CSV in UTF-8 with the header `id,name,contact`. The answer to
    several teams is a table if `Accept` prefers `text/csv`, with the columns `id,name,contact,token`; a text that a
    spreadsheet would take for a formula begins with `'`. Errors of a table name `line` and `column` (the number of the
    field).

        curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: text/csv' -H 'Accept: text/csv' \
             --data-binary @teams.csv http://127.0.0.1:8000/v1/benchmarks/demo/teams -o tokens.csv
    """
    context, here = calls.context(), f"/v1/benchmarks/{benchmark}/teams"
    asked = read_teams(request, context.config)
    if isinstance(asked, access.TeamRequest):
        team = teams.create_team(context, caller, benchmark, asked)
        return answers.secret(team, f"{here}/{team['id']}")
    made = teams.create_teams(context, caller, benchmark, asked)
    if request.accept_mimetypes.best_match([bodies.JSON, CSV]) == CSV:
        return answers.secret_text(teams_csv(made), MEDIA_TYPE, here)
    return answers.secret({"teams": made}, here)


@team_blueprint.get("")
@asks(answer("A page of teams.", derive.Page[access.Team]), scopes=("organise",), also="kept page")
def list_teams(caller: Caller, query: PageQuery, benchmark: str) -> Response:
    """List the teams of a benchmark, by id.

    The list does not show tokens.
    """
    return answers.page(teams.list_teams(calls.context(), caller, benchmark, query))


@team_blueprint.delete("/<team>")
@asks(scopes=("organise",), also="kept erases")
def erase_team(caller: Caller, benchmark: str, team: str) -> None:
    """Delete the name and the outputs of a team.

    Its tokens are revoked. Its scores stay on the leaderboard without a name.
    """
    teams.erase_team(calls.context(), caller, benchmark, team)


@team_blueprint.post("/<team>/token")
@asks(answer("The team and its new token.", access.NewTeam, status=201), scopes=("organise",), also="kept makes")
def rotate_token(caller: Caller, benchmark: str, team: str) -> Response:
    """Replace the token of a team.

    Earlier tokens of the team are revoked at once.
    """
    rotated = teams.rotate_token(calls.context(), caller, benchmark, team)
    return answers.secret(rotated, f"/v1/benchmarks/{benchmark}/teams/{team}")


invite_blueprint = Blueprint("invites", __name__, url_prefix="/v1")


@invite_blueprint.post("/benchmarks/<benchmark>/invites")
@asks(
    answer("The invite and its secret.", access.NewInvite, status=201),
    scopes=("organise",),
    also="kept makes",
    body=Body(json=access.InviteRequest, examples={"call": "InviteRequest"}),
)
def create_invite(caller: Caller, benchmark: str) -> Response:
    """Create an invite, with which strangers make teams of the benchmark.

    No one can join without one. Send the `address` to those who may join. It ends at `expires_at`, after
    `teams_at_most` teams, and when the benchmark closes. The secret is shown only in this answer; the service keeps a
    hash.
    """
    invite = teams.create_invite(calls.context(), caller, benchmark, calls.body(access.InviteRequest))
    return answers.secret(invite, f"/v1/benchmarks/{benchmark}/invites/{invite['id']}")


@invite_blueprint.get("/benchmarks/<benchmark>/invites")
@asks(answer("A page of invites.", derive.Page[access.Invite]), scopes=("organise",), also="kept page")
def list_invites(caller: Caller, query: PageQuery, benchmark: str) -> Response:
    """List the invites of a benchmark, newest first.

    The list does not show secrets.
    """
    return answers.page(teams.list_invites(calls.context(), caller, benchmark, query))


@invite_blueprint.delete("/benchmarks/<benchmark>/invites/<invite>")
@asks(scopes=("organise",), also="kept erases")
def delete_invite(caller: Caller, benchmark: str, invite: str) -> None:
    """Withdraw an invite.

    It lets no one join any more. The teams that were made with it stay.
    """
    teams.delete_invite(calls.context(), caller, benchmark, invite)


@invite_blueprint.post("/join")
@publishes(
    answer("The team and its token.", access.JoinedTeam, status=201),
    also="shown over conflict limited makes",
    body=Body(json=access.JoinRequest, examples={"gent": "JoinRequest"}),
)
def join() -> Response:
    """Make a team with an invite.

    No token is needed. The token of the team (scopes `submit` and `read`, for this benchmark) is shown only in this
    answer. 403: the invite is unknown (`unknown-invite`), or the benchmark has closed (`joining-closed`). 410: it
    expired, was withdrawn or is used up. 409: the id is taken (`id-taken`), or name or id look like those of another
    team or a baseline (`name-taken`); 422 `reserved-name`: they are words such as `organiser` or `baseline`. Unknown
    invites count as failed authentications.
    """
    caller = calls.caller()
    calls.query(Query)
    team = teams.join(calls.context(), caller, calls.body(access.JoinRequest))
    return answers.secret(team, f"/v1/benchmarks/{team['benchmark']}/teams/{team['id']}")


token_blueprint = Blueprint("tokens", __name__, url_prefix="/v1/tokens")


@token_blueprint.post("")
@asks(
    answer("The token.", access.NewToken, status=201),
    scopes=("organise",),
    also="kept makes",
    body=Body(json=access.TokenRequest, examples={"dashboard": "DashboardToken"}),
)
def create_token(caller: Caller) -> Response:
    """Create a token.

    The secret of the token is shown only in this answer; the service keeps a hash. With `benchmark` and the scope
    `organise` it may do to this benchmark, its teams and their submissions all that organisers may, and reads others as
    everyone does; it makes neither benchmarks nor tokens.
    """
    token = tokens.create_token(calls.context(), caller, calls.body(access.TokenRequest))
    return answers.secret(token, f"/v1/tokens/{token['id']}")


@token_blueprint.get("")
@asks(answer("A page of tokens.", derive.Page[access.Token]), scopes=("organise",), also="page")
def list_tokens(caller: Caller, query: PageQuery) -> Response:
    """List all tokens, newest first.

    The list does not show their secrets.
    """
    return answers.unstored(answers.page(tokens.list_tokens(calls.context(), caller, query)))


@token_blueprint.delete("/<token_id>")
@asks(scopes=("organise",), also="found erases")
def revoke_token(caller: Caller, token_id: str) -> None:
    """Revoke a token.

    The token is invalid at once.
    """
    tokens.revoke_token(calls.context(), caller, token_id)


webhook_blueprint = Blueprint("webhooks", __name__, url_prefix="/v1/webhooks")


@webhook_blueprint.post("")
@asks(
    answer("The webhook and its secret.", access.NewWebhook, status=201),
    scopes=("submit",),
    also="kept makes conflict limited",
    body=Body(json=access.WebhookRequest, examples={"scored": "WebhookRequest"}),
)
def create_webhook(caller: Caller) -> Response:
    """Create a webhook.

    Events are sent as Standard Webhooks: thin, signed, at least once. The secret is shown only in this answer.
    """
    webhook = events.create_webhook(calls.context(), caller, calls.body(access.WebhookRequest))
    return answers.secret(webhook, f"/v1/webhooks/{webhook['id']}")


@webhook_blueprint.get("")
@asks(answer("A page of webhooks.", derive.Page[access.Webhook]), scopes=("submit",), also="page")
def list_webhooks(caller: Caller, query: PageQuery) -> Response:
    """List your webhooks, newest first.

    The list does not show secrets.
    """
    return answers.page(events.list_webhooks(calls.context(), caller, query))


@webhook_blueprint.delete("/<webhook>")
@asks(scopes=("submit",), also="found erases limited")
def delete_webhook(caller: Caller, webhook: str) -> None:
    """Delete a webhook.

    No more events are sent to its address.
    """
    events.delete_webhook(calls.context(), caller, webhook)


@webhook_blueprint.post("/<webhook>/test")
@asks(answer("The delivery of the test.", access.Delivery, status=202), scopes=("submit",), also="found conflict")
def test_webhook(caller: Caller, webhook: str) -> Response:
    """Send a test to a webhook.

    An event `webhook.test` is sent to this webhook only, also if its `kinds` are others, signed and retried as any
    other. The log tells how it went. A disabled webhook answers 409.
    """
    return answers.queued(events.send_test(calls.context(), caller, webhook))


@webhook_blueprint.get("/<webhook>/deliveries")
@asks(answer("A page of deliveries.", derive.Page[access.Delivery]), scopes=("submit",), also="found page")
def list_deliveries(caller: Caller, query: PageQuery, webhook: str) -> Response:
    """List the deliveries of a webhook, newest first.

    Those that wait, and the newest 200 that have ended, of events that you may know of now.
    """
    return answers.page(events.list_deliveries(calls.context(), caller, webhook, query))


event_blueprint = Blueprint("events", __name__, url_prefix="/v1/events")


@event_blueprint.get("")
@asks(answer("A page of events.", derive.Page[access.Event]), also="found page")
def list_events(caller: Caller, query: access.EventsQuery) -> Response:
    """List events, oldest first.

    Audit trail and change feed. Continue with `after`, the id of the last event that you have. Without a token you see
    the public events of public benchmarks.
    """
    return answers.page(events.list_events(calls.context(), caller, query), "after")
