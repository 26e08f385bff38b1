"""What an organiser does with a benchmark: settings, description and reports. An organiser may look as a team does."""

from collections.abc import Mapping
from typing import Any, cast

from flask import Response, request

from service.api import calls
from service.contract.benchmarks import AnalyticsQuery, Benchmark, BenchmarkChanges, BenchmarksQuery
from service.contract.common import PageQuery
from service.errors import NotFound
from service.pages import answers, visitors
from service.pages.figures import ScoreNames, state_of
from service.policy.gate import LEVELS
from service.requests import PICKS
from service.usecases import access
from service.usecases.benchmarks import benchmarks, revisions
from service.usecases.submissions import fitting

blueprint = answers.pages("admin", "/admin")
TIMES = ("opens_at", "closes_at", "frozen_at")
DAYS = 14
"""Days of the analytics."""
ABOUT = ("description", "rules", "licence", "citation", "contact")
MANY = PageQuery(limit=1000)


@blueprint.get("")
def show_admin() -> Response:
    """List the benchmarks to organise."""
    caller = visitors.organiser()
    if caller.benchmark is not None:
        return answers.go_to(f"/admin/{caller.benchmark}")
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
