"""What an organiser does beside settings: revisions of a benchmark, its teams and invites, and webhooks.

Teams are made many at once from a table; there are new tokens and invites. Of webhooks: a test event, and the log
of deliveries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response, request
from werkzeug.datastructures import MultiDict

from service.api import answers as api_answers
from service.api import bodies, calls
from service.caller import ORGANISE, Caller
from service.contract.access import InviteRequest, TeamRequest, TokenRequest, WebhookRequest
from service.contract.benchmarks import RevisionRequest
from service.contract.common import PageQuery
from service.contract.submissions import Submission, SubmissionChanges, SubmissionsQuery
from service.errors import BadRequest, NotFound, ServiceError, invalid, refuse
from service.pages import answers, standing, submit, visitors
from service.pages.figures import ScoreNames, benchmark_document
from service.pages.settings import ZONES, faults_by_field, read_moment
from service.requests import EVENT_KINDS, MOST_REVISION, SCOPES, STATES, WITHDRAWN
from service.team_table import COLUMNS, MEDIA_TYPE, load_teams, teams_csv
from service.usecases import events, tokens
from service.usecases.benchmarks import benchmarks, revisions, teams
from service.usecases.runs import Shown
from service.usecases.submissions import submissions as use_cases
from treescore.core.text import digest_of

revisions_blueprint = answers.pages("admin_revisions", "/admin/<benchmark>/revisions")
GOLD, SCORING, DRY_RUN = "gold", "scoring", "dry_run"
"""Names of the fields of files and of metrics, transforms and the main score; what a button asks for."""
KEPT = ("reason", "public_reason", SCORING)
SCORED = ("metrics", "transforms", "main_score", "errors")
"""Members of a revision that are written as JSON."""


@revisions_blueprint.post("")
def revise(benchmark: str) -> Response:
    """Make a dry run or a revision of gold, by files, or by the dry run that was looked at."""
    caller = visitors.member("organise")
    upload = submit.read_upload()
    context = calls.context()
    document = benchmark_document(caller, benchmark)
    assigned = submit.assign(upload.files.get(GOLD, ()), submit.targets_of(document), upload.fields)
    dry_run = upload.fields.get("do") == DRY_RUN
    given: dict[str, object] = {"dry_run": dry_run}
    given |= {name: text for name in ("reason", "public_reason") if (text := upload.fields.get(name, "").strip())}
    tried, scoring = upload.fields.get("from_dry_run", ""), upload.fields.get(SCORING, "").strip()
    try:
        refuse(upload.problems)
        refuse(assigned.problems)
        if tried.isascii() and tried.isdigit() and len(tried) <= MOST_DIGITS:
            given["from_dry_run"] = int(tried)
        elif not assigned.outputs and not scoring:
            raise invalid("no-parts", "/parts", "Choose the files of the parts whose gold changes, or change scoring.")
        if assigned.outputs:
            given["parts"] = {part: {"gold": text} for part, text in assigned.outputs.items()}
        if scoring:
            changed = submit.json_object(scoring.encode(), "What is written under “Scoring”", f"/{SCORING}")
            for name in sorted(changed.keys() - SCORED):
                detail = f"{name[:80]!r} is not taken here. Write {', '.join(SCORED)}."
                raise invalid("unknown-field", f"/{SCORING}", detail)
            given |= changed
        asked = calls.loaded(RevisionRequest, given)
        number, _ = revisions.create_revision(context, caller, benchmark, asked)
    except answers.REFUSED as error:
        kept = {name: upload.fields.get(name, "") for name in KEPT}
        targets, most = submit.targets_of(document), context.config.max_upload_bytes
        values = {"benchmark": document, "kept": kept, "parts_sent": targets, "most_bytes": most}
        return answers.refused("admin_revise.html", error, **values, filled=upload.filled)
    return answers.go_to(f"/admin/{benchmark}/revisions/{number}")


@revisions_blueprint.get(f"/<int(max={MOST_REVISION}):number>")
def show_difference(benchmark: str, number: int) -> Response:
    """Show what a revision changes and who would move, also of one that is not active."""
    return answers.page("admin_difference.html", **_difference_values(benchmark, number))


@revisions_blueprint.get(f"/<int(max={MOST_REVISION}):number>/live")
def show_difference_live(benchmark: str, number: int) -> Response:
    """Show the difference, if it is not as the page shows it."""
    values = _difference_values(benchmark, number)
    return answers.fragment(
        "admin_difference_state.html", values["version"], final=values["final"], values=lambda: values
    )


def _difference_values(benchmark: str, number: int) -> dict[str, Any]:
    """Return what a revision changes and who moves, best first, with names."""
    caller = visitors.member("organise")
    context = calls.context()
    document = benchmark_document(caller, benchmark)
    difference = revisions.difference(context, caller, benchmark, number).document
    view = revisions.view_revision(context, caller, benchmark, number)
    named = {each["id"]: each["name"] for each in _every_team(caller, benchmark)}
    moved = sorted(difference["moved"] or (), key=lambda move: move["rank_after"] or MOST_REVISION)
    return {
        "benchmark": document, "difference": difference, "moved": moved, "names": named,
        "revision": view.document, "version": view.etag, "final": view.final,
        "figures": ScoreNames(document)(document["main_score"]).figures,
    }  # fmt: skip


ON_BOARD = {"withdraw": False, "restore": True}
"""What the buttons do that are for the board."""
submissions_blueprint = answers.pages("admin_submissions", "/admin/<benchmark>/submissions")


@submissions_blueprint.get("")
def show_submissions(benchmark: str) -> Response:
    """List submissions with what an organiser does to each."""
    caller = visitors.member(ORGANISE)
    query, _ = answers.query(SubmissionsQuery)
    return answers.page("admin_submissions.html", **_submissions_values(caller, benchmark, query))


@submissions_blueprint.get("/live")
def show_submissions_live(benchmark: str) -> Response:
    """List them again, if they are not as the page shows them."""
    caller = visitors.member(ORGANISE)
    query, _ = answers.query(SubmissionsQuery, "version")
    values = _submissions_values(caller, benchmark, query)
    return answers.fragment("admin_submissions_list.html", values["version"], final=False, values=lambda: values)


@submissions_blueprint.post("/<submission>")
def change_submission(benchmark: str, submission: str) -> Response:
    """Withdraw with a reason, bring back, cancel or retry. What is refused is said above the list."""
    caller = visitors.sender(ORGANISE)
    context = calls.context()
    asked, reason = request.form.get("do", ""), request.form.get("reason", "").strip()
    if asked not in ("cancel", "retry", *ON_BOARD):
        raise BadRequest("The form does not say what to change. Load the page again.")
    query = SubmissionsQuery(team=request.form.get("team") or None, state=request.form.get("state") or None)
    try:
        if asked == "cancel":
            use_cases.cancel_submission(context, caller, submission)
        elif asked == "retry":
            use_cases.retry_submission(context, caller, submission)
        else:
            given = {"withdrawn": not ON_BOARD[asked], **({"reason": reason} if reason else {})}
            use_cases.patch_submission(context, caller, submission, calls.loaded(SubmissionChanges, given))
    except answers.REFUSED as error:
        return answers.refused("admin_submissions.html", error, **_submissions_values(caller, benchmark, query))
    chosen = urlencode({name: value for name in ("team", "state") if (value := request.form.get(name))})
    return answers.go_to(f"/admin/{benchmark}/submissions{chosen and '?'}{chosen}")


def _submissions_values(caller: Caller, benchmark: str, query: SubmissionsQuery) -> dict[str, Any]:
    """Return what the template of the list shows."""
    context = calls.context()
    document = benchmark_document(caller, benchmark)
    page = use_cases.list_submissions(context, caller, benchmark, replace(query, include="main"))
    board = standing.board_of(caller, benchmark)
    ranks = {} if board is None else {row["submission"]: row["rank"] for row in board["rows"]}
    main = ScoreNames(document)(document["main_score"])
    failed = [str(each["id"]) for each in page.items if each["state"] == "failed"]
    retried = {name for name in failed if _may_retry(use_cases.view_submission(context, caller, name).document)}
    sent, _ = standing.sent_list(caller, benchmark, page.items, main, benchmarks.level_of(context, caller, benchmark))
    return {
        "benchmark": document, "main": main, "ranks": ranks, "retried": retried, "next": page.next, "problem": None,
        "chosen": {"team": query.team, "state": query.state}, "cursor": query.cursor, "states": (*STATES, WITHDRAWN),
        "sent": sent, "version": digest_of(repr((sent, ranks, page.next)).encode())[-16:],
        "teams": list(_every_team(caller, benchmark)),
    }  # fmt: skip


def _may_retry(document: Submission) -> bool:
    """Return whether the service failed, and still has the outputs."""
    failure = document["failure"]
    return failure is not None and failure["kind"] == "service" and document["output_deleted_at"] is None


def _every_team(caller: Caller, benchmark: str) -> Iterator[Mapping[str, object]]:
    """Yield all teams of a benchmark, by id."""
    query: PageQuery | None = MANY_INVITES
    while query is not None:
        page = teams.list_teams(calls.context(), caller, benchmark, query)
        yield from page.items
        query = None if page.next is None else replace(query, cursor=page.next)


teams_blueprint = answers.pages("admin_teams", "/admin/<benchmark>/teams")
MANY_INVITES = PageQuery(limit=1000)
_ADDRESS = re.compile(r"[^\s,;:<>()\"]+@[^\s,;:<>()\"]+")
"""Each of those that a contact names."""
MOST_OF_A_LINK = 1900
"""Signs of addresses in a link: mail programs cut links of more than about 2,000."""
BESIDE = {"team": COLUMNS, "invite": ("expires_at", "teams_at_most")}
"""Fields beside which their faults stand, by form; of the others these stand above the form."""
MOST_DIGITS = 9
"""Of a number in a form; Python refuses to read thousands."""


@teams_blueprint.get("")
def show_teams(benchmark: str) -> Response:
    """List teams and invites."""
    return _teams_page(benchmark)


@teams_blueprint.post("")
def make_teams(benchmark: str) -> Response:
    """Make the team of the fields, or the teams of a table, all or none; their tokens are in this answer only."""
    caller = visitors.member("organise")
    context = calls.context()
    request.max_content_length = request.max_form_memory_size = bodies.ALONE
    visitors.check_form()
    sent = request.files.get("file")
    table = sent.read() if sent is not None and sent.filename else request.form.get("table", "").encode()
    try:
        if "id" in request.form:
            given = {name: request.form.get(name, "").strip() for name in COLUMNS}
            asked = calls.loaded(TeamRequest, {**given, "contact": given["contact"] or None})
            made = [teams.create_team(context, caller, benchmark, asked)]
        else:
            made = teams.create_teams(context, caller, benchmark, load_teams(table, context.config.max_problems))
    except answers.REFUSED as error:
        return _teams_page(benchmark, error=error, at="team" if "id" in request.form else "table")
    return _teams_page(benchmark, made=made)


@teams_blueprint.get("/contacts.csv")
def get_contacts(benchmark: str) -> Response:
    """Send teams with their contacts as CSV."""
    caller = visitors.member("organise")
    view = Shown[None](None, teams_csv(_every_team(caller, benchmark), COLUMNS), content_type=MEDIA_TYPE)
    return answers.download(answers.sent(view), f"{benchmark}-contacts.csv")


@teams_blueprint.post("/<team>/token")
def make_token(benchmark: str, team: str) -> Response:
    """Make a new token for a team and revoke its earlier ones."""
    caller = visitors.sender("organise")
    return _teams_page(benchmark, made=[teams.rotate_token(calls.context(), caller, benchmark, team)])


@teams_blueprint.post("/<team>/erase")
def erase_team(benchmark: str, team: str) -> Response:
    """Erase a team whose id was typed again."""
    caller = visitors.sender("organise")
    if request.form.get("id", "").strip() != team:
        fault = invalid("bad-value", "/id", f"Type the id {team!r} of the team to erase it. Nothing was erased.")
        return _teams_page(benchmark, error=fault, at=f"erase-{team}")
    teams.erase_team(calls.context(), caller, benchmark, team)
    asked = request.query_string.decode()
    return answers.go_to(f"/admin/{benchmark}/teams{asked and '?'}{asked}")


@teams_blueprint.post("/invites")
def make_invite(benchmark: str) -> Response:
    """Make an invite; its address is in this answer only."""
    caller = visitors.sender("organise")
    context = calls.context()
    most = request.form.get("teams_at_most", "")
    number = int(most) if most.isascii() and most.isdigit() and len(most) <= MOST_DIGITS else most
    try:
        given = {"expires_at": read_moment(request.form, "expires_at"), "teams_at_most": number}
        invite = teams.create_invite(context, caller, benchmark, calls.loaded(InviteRequest, given))
    except answers.REFUSED as error:
        return _teams_page(benchmark, error=error, at="invite")
    return _teams_page(benchmark, invite=invite)


@teams_blueprint.post("/invites/<invite>")
def withdraw_invite(benchmark: str, invite: str) -> Response:
    """Withdraw an invite."""
    teams.delete_invite(calls.context(), visitors.sender("organise"), benchmark, invite)
    return answers.go_to(f"/admin/{benchmark}/teams")


def _teams_page(
    benchmark: str, *, made: list[dict[str, object]] | None = None, invite: dict[str, object] | None = None,
    error: ServiceError | None = None, at: str = "",
) -> Response:  # fmt: skip
    """Return the page; one with secrets answers a form, so that it is stored nowhere.

    Args:
        benchmark: its id.
        made: teams with their new tokens.
        invite: a new one.
        error: what is wrong with a form, which keeps what was typed.
        at: the form beside which that is said.
    """
    caller = visitors.member("organise")
    context = calls.context()
    query, _ = answers.query(PageQuery)
    listed, every = teams.list_teams(context, caller, benchmark, query), list(_every_team(caller, benchmark))
    values: dict[str, Any] = {
        "benchmark": benchmark_document(caller, benchmark), "made": made, "invite": invite, "teams": listed.items,
        "total": len(every), "next": listed.next, "asked": request.query_string.decode(),
        "tokens": made and f"data:text/csv,{quote(teams_csv(made))}",
        "host": request.host_url.rstrip("/"),
        "contacts": _letters_to(_ADDRESS.findall(" ".join(str(each["contact"]) for each in every))),
        "invites": teams.list_invites(context, caller, benchmark, MANY_INVITES).items,
        "at": at, "kept": request.form if error is not None else {}, "problem": None, "zones": ZONES,
    }  # fmt: skip
    return _page_of_form("admin_teams.html", error, BESIDE.get(at, ()), values)


def _letters_to(addresses: Iterable[str]) -> list[tuple[str, str]]:
    """Return links that write to all addresses, as many by each as mail programs take, and what these are called."""
    letters: list[list[str]] = []
    for each in dict.fromkeys(map(quote, addresses)):
        if not letters or len("%2C".join([*letters[-1], each])) > MOST_OF_A_LINK:
            letters.append([])
        letters[-1].append(each)
    return [
        ("all contacts" if len(letters) == 1 else f"contacts, letter {at} of {len(letters)}", "%2C".join(some))
        for at, some in enumerate(letters, 1)
    ]


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
    given: dict[str, object] = {"url": request.form.get("url", "").strip(), "kinds": request.form.getlist("kinds")}
    if request.form.get("benchmark"):
        given["benchmark"] = request.form["benchmark"]
    try:
        secret = events.create_webhook(context, caller, calls.loaded(WebhookRequest, given))
    except answers.REFUSED as error:
        return _webhooks_page(kept=given, error=error)
    except NotFound as error:
        return _webhooks_page(kept=given, error=invalid("bad-value", "/benchmark", error.detail))
    return _webhooks_page(secret)


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


def _webhooks_page(
    secret: dict[str, object] | None = None, *, kept: Mapping[str, object] = MappingProxyType({}),
    error: ServiceError | None = None,
) -> Response:  # fmt: skip
    """Return the page; one with a secret answers a form, so that it is stored nowhere."""
    listed = events.list_webhooks(calls.context(), visitors.organiser(), MANY_WEBHOOKS)
    kept = {"url": "", "benchmark": "", "kinds": (), **kept}
    values = {"webhooks": listed.items, "kinds": EVENT_KINDS, "secret": secret, "kept": kept, "problem": None}
    return _page_of_form("admin_webhooks.html", error, ("url", "benchmark", "kinds"), values)


def _page_of_form(
    template: str, error: ServiceError | None, fields: Sequence[str], values: Mapping[str, Any]
) -> Response:
    """Return a page with a form; what is wrong with that stands beside its fields."""
    if error is None:
        return answers.page(template, **values, faults={})
    faults = faults_by_field(api_answers.problem_of(error), (), dict(zip(fields, fields, strict=True)))
    return answers.refused(template, error, **values, faults=faults)


tokens_blueprint = answers.pages("admin_tokens", "/admin/tokens")


@tokens_blueprint.get("")
def show_tokens() -> Response:
    """List who may what."""
    return _tokens_page()


@tokens_blueprint.post("")
def make_token_of_scopes() -> Response:
    """Make a token, of one benchmark where one is named; it is in this answer only."""
    caller = visitors.sender("organise")
    given: dict[str, object] = {"scopes": request.form.getlist("scopes")}
    given |= {name: text for name in ("name", "benchmark") if (text := request.form.get(name, "").strip())}
    try:
        if not given["scopes"]:
            raise invalid("missing-field", "/scopes", "Choose at least one of what the token may do.")
        if request.form.get("expires_at"):
            given["expires_at"] = read_moment(request.form, "expires_at")
        made = tokens.create_token(calls.context(), caller, calls.loaded(TokenRequest, given))
    except answers.REFUSED as error:
        return _tokens_page(error=error)
    except NotFound as error:
        return _tokens_page(error=invalid("bad-value", "/benchmark", error.detail))
    return _tokens_page(made)


@tokens_blueprint.post("/<token>")
def revoke_token(token: str) -> Response:
    """Revoke a token."""
    tokens.revoke_token(calls.context(), visitors.sender("organise"), token)
    return answers.go_to("/admin/tokens")


def _tokens_page(made: dict[str, object] | None = None, *, error: ServiceError | None = None) -> Response:
    """Return the page; one with a token answers a form, so that it is stored nowhere."""
    caller = visitors.member("organise")
    query, _ = answers.query(PageQuery)
    listed = tokens.list_tokens(calls.context(), caller, query)
    kept = request.form if error is not None else MultiDict[str, str]()
    values: dict[str, Any] = {
        "tokens": listed.items,
        "next": listed.next,
        "made": made,
        "scopes": SCOPES,
        "kept": kept,
        "problem": None,
        "zones": ZONES,
    }
    return _page_of_form("admin_tokens.html", error, ("scopes", "name", "benchmark", "expires_at"), values)
