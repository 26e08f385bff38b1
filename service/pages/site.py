"""Pages beside the boards: all benchmarks, what each says of itself, revisions, signing in, joining; all blueprints.

With an invite a team makes itself, and gets its token once.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from flask import Blueprint, Response, request

from service import errors, render
from service.api import calls
from service.caller import Caller
from service.contract.access import JoinRequest
from service.contract.benchmarks import Benchmark, BenchmarksQuery, Revision
from service.contract.common import PageQuery
from service.contract.leaderboards import Leaderboard, LeaderboardQuery
from service.errors import ServiceError, Unauthorized
from service.lru import LruCache
from service.pages import (
    admin,
    answers,
    board,
    compare,
    docs,
    elsewhere,
    figures,
    job,
    making,
    organise,
    sentences,
    submission,
    submit,
    visitors,
)
from service.pages.board import row_name, shown_board
from service.pages.markdown import strangers_html
from service.pages.settings import FEEDBACK
from service.pages.standing import board_of
from service.policy.documents import EXACT
from service.usecases.benchmarks import benchmarks, revisions, teams
from service.usecases.boards.viewing import leaderboard
from service.usecases.runs import TEXT_TYPE
from treescore.core.wording import one_line
from treescore.render.dot_table import strip_svg

benchmarks_blueprint = answers.pages("benchmarks")
NO_ROWS = ("none", "status")
"""Feedback levels at which boards have no rows."""
NO_LEADER: Mapping[str, object] = {"teams": None, "first": None, "score": "", "label": "", "shared": "", "strip": None}
STRIP, STRIP_ROWS, STRIP_WHISKERS = 420, 60, 25
"""Pixels of the small picture of a board, how many of its rows it shows, and of how many their intervals."""
_LEADING = LruCache[Mapping[str, object]](4096, lambda _: 1)
"""By the validators of boards: a board of 1,000 rows takes 20 ms to read, and a list shows 100 benchmarks."""


@benchmarks_blueprint.get("/")
def show_benchmarks() -> Response:
    """Show the benchmarks that the visitor may know of, their states and who is first."""
    caller = visitors.visitor().caller
    query, _ = answers.query(BenchmarksQuery)
    listed = benchmarks.list_benchmarks(calls.context(), caller, query)
    rows = [_benchmark_row(caller, cast("Benchmark", document)) for document in listed.items]
    rows.sort(key=lambda row: str(row["closes_at"] or "a"))  # what has no deadline comes last
    return answers.page("benchmarks.html", rows=rows, next=listed.next)


def _benchmark_row(caller: Caller, document: Benchmark) -> dict[str, object]:
    state = figures.state_of(document, calls.context().now())
    return {
        "id": document["id"],
        "title": document["title"],
        "kind": figures.kind_of(document["metrics"]),
        "parts": len(document["parts"]),
        "closes_at": document["closes_at"],
        "state": state,
        "open": figures.is_open(state),
        "ready": document["active_revision"] is not None,
        **_leading(caller, document),
    }


def _leading(caller: Caller, document: Benchmark) -> Mapping[str, object]:
    """Return who leads as the caller sees it; no one without a board, as before the gold is checked."""
    try:
        view = leaderboard(calls.context(), caller, document["id"], LeaderboardQuery())
    except ServiceError:
        return NO_LEADER
    return _LEADING.get_or_make(view.etag, lambda: _leading_of(document, render.lettered(view.document)))


def _leading_of(document: Benchmark, board: Leaderboard) -> Mapping[str, object]:
    """Return how many teams have a row, where rows are shown, who stands first, with which figure, and a picture."""
    if board["feedback"] in NO_ROWS:
        return NO_LEADER
    teams = len({each["team"] or each["submission"] for each in board["rows"] if each["role"] != "baseline"})
    leaders = [each for each in board["rows"] if each["rank"] == 1]
    if not leaders:
        return {**NO_LEADER, "teams": teams}
    first, more = leaders[0], len(leaders) - 1
    score = figures.ScoreNames(document, board["rounding"], rounded=not render.exact(board))(board["score"])
    written, name = score.figures.figures, row_name(first)
    others = [row for row in board["rows"] if row["score"] is not None and row is not first]
    marks = [render.row_mark(row, written) for row in (first, *others[: STRIP_ROWS - 1])]
    if len(marks) > STRIP_WHISKERS:  # which would be one dark block
        marks = [mark._replace(low=None, high=None) for mark in marks]
    return {
        "teams": teams, "first": name, "score": score.figures.value(first["score"]), "label": score.label,
        "shared": f" and {more} more" if more else "",
        "strip": answers.drawn(strip_svg(render.board_scale(board, written, STRIP), marks, one_line(name))),
    }  # fmt: skip


about_blueprint = answers.pages("about", "/b/<benchmark>/about")
TEXTS = {"description": "", "rules": "Rules", "licence": "Licence", "citation": "Citation", "contact": "Contact"}


@about_blueprint.get("")
def show_about(benchmark: str) -> Response:
    """Show what the organisers say of a benchmark."""
    caller, now = visitors.visitor().caller, calls.context().now()
    document = figures.benchmark_document(caller, benchmark)
    about = document["about"]
    dates = about.get("dates") or ()
    texts = [(title, strangers_html(about[name], title)) for name, title in TEXTS.items() if about.get(name)]
    names = figures.ScoreNames(document, None)
    return answers.page(
        "about.html", **shown_board(document), texts=texts, links=about.get("links") or (), dates=dates,
        next_date=sum(datetime.fromisoformat(each["at"]) <= now for each in dates),
        main=names(document["main_score"]), feedback=FEEDBACK,
        inputs=submit.inputs_of(caller, document), most_zipped=benchmarks.MOST_ZIPPED, root=answers.root(),
    )  # fmt: skip


@about_blueprint.get("/input/<part>")
def get_input(benchmark: str, part: str) -> Response:
    """Send the published words of a part."""
    context, caller = calls.context(), visitors.visitor().caller
    view = benchmarks.part_input(context, caller, benchmark, part)
    several = view.content_type != TEXT_TYPE
    suffix = "json" if several else benchmarks.input_suffix(context, caller, benchmark)
    return answers.download(answers.sent(view), f"{part}.{suffix}")


@about_blueprint.get("/input.zip")
def get_inputs(benchmark: str) -> Response:
    """Send the published words of all parts as one archive."""
    view = benchmarks.input_archive(calls.context(), visitors.visitor().caller, benchmark)
    return answers.download(answers.sent(view), f"{benchmark}.zip")


revisions_blueprint = answers.pages("revisions", "/b/<benchmark>/revisions")
SETTINGS = {"format": "format", "transforms": "transforms", "metrics": "metrics", "main_score": "main score",
            "errors": "what missing sentences cost"}  # fmt: skip


@revisions_blueprint.get("")
def show_revisions(benchmark: str) -> Response:
    """Show the revisions, newest first."""
    caller = visitors.visitor().caller
    query, _ = answers.query(PageQuery)
    listed = revisions.list_revisions(calls.context(), caller, benchmark, query, dry_runs=False)
    document = figures.benchmark_document(caller, benchmark)
    numbers = [int(str(item["number"])) for item in listed.items]
    shown = [revisions.view_revision(calls.context(), caller, benchmark, each).document for each in numbers]
    rows: list[dict[str, object]] = []
    before: Revision | None = None
    for each in reversed(shown):  # each beside the last one before it that came into force
        rows.append({"revision": each, "changes": list(_changes(before, each))})
        before = each if each["activated_at"] is not None else before
    names = figures.ScoreNames(document, None)
    return answers.page(
        "revisions.html", **shown_board(document), rows=rows[::-1], next=listed.next,
        figures_of=lambda revision: names(revision["main_score"]).figures, names=_row_names(caller, benchmark),
        exact=EXACT,
        best_first=lambda moved: sorted(moved, key=lambda move: (move["rank_after"] is None, move["rank_after"])),
    )  # fmt: skip


def _row_names(caller: Caller, benchmark: str) -> dict[str, str | None]:
    """Return the names of the teams and of the baselines on the board, by id, as far as the caller sees them."""
    board = board_of(caller, benchmark)
    rows = [] if board is None else board["rows"]
    return {row["team"] or row["submission"]: row["team_name"] if row["team"] else row["name"] for row in rows}


def _changes(before: Revision | None, after: Revision) -> Iterator[str]:
    """Yield what a revision changed, in words."""
    if before is None:
        return
    was: Mapping[str, object] = before
    now: Mapping[str, object] = after
    yield from (f"changed: {words}" for name, words in SETTINGS.items() if was[name] != now[name])
    old, new = before["parts"], after["parts"]
    for words, names in (
        ("new gold", [name for name in new if name in old and old[name]["gold"] != new[name]["gold"]]),
        ("added", [name for name in new if name not in old]),
        ("left out", [name for name in old if name not in new]),
    ):
        if names:
            yield f"{words}: {', '.join(names[:20])}{f' and {len(names) - 20} more' if len(names) > 20 else ''}"


sign_in_blueprint = answers.pages("sign_in")


@sign_in_blueprint.get("/sign-in")
def show_sign_in() -> Response:
    """Show the field for a token."""
    return answers.page("sign_in.html", next=visitors.local_address(request.args.get("next", "")), refused="")


@sign_in_blueprint.post("/sign-in")
def sign_in() -> Response:
    """Begin a session; a token that is refused is asked for again."""
    after = visitors.local_address(request.form.get("next", ""))
    try:
        return visitors.begin_session(answers.go_to(after), request.form.get("token", "").strip())
    except Unauthorized as refused:
        return answers.page("sign_in.html", 401, next=after, refused=refused.detail)


@sign_in_blueprint.post("/sign-out")
def sign_out() -> Response:
    """End the session."""
    visitors.check_form(ends_looking=True)
    return visitors.end_session(answers.go_to("/"))


@sign_in_blueprint.post("/theme")
def choose_theme() -> Response:
    """Keep the chosen colours."""
    after = visitors.local_address(request.form.get("next", ""))
    return visitors.set_theme(answers.go_to(after), request.form.get("theme", ""))


join_blueprint = answers.pages("join", "/join/<secret>")


TEAM_FIELDS = ("id", "name", "contact")


@join_blueprint.get("")
def show_join(secret: str) -> Response:
    """Show what the invite is to, and the form for a team."""
    return answers.page("join.html", **_join_values(secret, {}))


@join_blueprint.get("/live")
def show_id(secret: str) -> Response:
    """Say whether a team can have the id that is typed: what sending the form would say of it."""
    typed = request.args.get("id", "")
    said = ""
    try:
        asked = calls.loaded(JoinRequest, {"invite": secret, **dict.fromkeys(TEAM_FIELDS, typed)})
        teams.check_id(calls.context(), visitors.visitor().caller, secret, asked.id)
    except answers.REFUSED as error:
        said = error.problems[0].detail if error.problems else error.detail
    return answers.page("join_id.html", typed=typed, said=said)


@join_blueprint.post("")
def join(secret: str) -> Response:
    """Make the team; its token is in this answer only. What is refused is said above the form, which keeps it all."""
    visitors.check_form()
    given = {name: request.form.get(name, "").strip() for name in TEAM_FIELDS}
    caller = visitors.visitor().caller
    try:
        team = teams.join(calls.context(), caller, calls.loaded(JoinRequest, {"invite": secret, **given}))
    except (errors.Unprocessable, errors.Conflict) as error:
        return answers.refused("join.html", error, **_join_values(secret, given))
    return answers.page("join.html", team=team)


def _join_values(secret: str, kept: Mapping[str, str]) -> dict[str, Any]:
    """Return what the template of the form shows.

    Raises:
        Forbidden, Gone: the invite cannot be used (any more).
    """
    invite = teams.view_invite(calls.context(), visitors.visitor().caller, secret)
    fields = {name: kept.get(name, "") for name in TEAM_FIELDS}
    return {"invite": invite, "secret": secret, "team": None, "kept": fields, "problem": None}


_MODULES = (admin, answers, board, compare, docs, elsewhere, job, making, organise, sentences, submission, submit)
PAGES = [
    *(each for module in _MODULES for each in vars(module).values() if isinstance(each, Blueprint)),
    *(about_blueprint, benchmarks_blueprint, join_blueprint, revisions_blueprint, sign_in_blueprint),
]
