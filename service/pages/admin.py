"""What an organiser does with a benchmark: settings, description and reports. An organiser may look as a team does."""

from functools import partial
from typing import Any, cast

from flask import Response, request

from service.api import answers as api_answers
from service.api import calls
from service.caller import Caller
from service.contract.benchmarks import Benchmark, BenchmarkChanges, BenchmarksQuery, RevisionRequest
from service.contract.common import PageQuery
from service.errors import NotFound, PreconditionFailed, invalid, refuse
from service.pages import answers, making, settings, visitors
from service.pages.figures import ScoreNames, state_of
from service.pages.submit import assign, new_key, read_upload, targets_of
from service.usecases import access
from service.usecases.benchmarks import benchmarks, revisions
from service.usecases.runs import Shown
from service.usecases.submissions import fitting

blueprint = answers.pages("admin", "/admin")
FIELDS = tuple(field for group in settings.GROUPS.values() for field in group)
SAVED = "saved"
"""Parameter of the page of a benchmark: the state that a form has made, which is said as long as it lasts."""
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
    view = benchmarks.view_benchmark(calls.context(), caller, benchmark)
    saved = request.args.get(SAVED) == view.etag
    return answers.page("admin_benchmark.html", **_benchmark_values(caller, view) | {"saved": saved})


@blueprint.get("/<benchmark>/live")
def show_gold_live(benchmark: str) -> Response:
    """Show the page again, from which what became of gold is taken, if that differs from what is shown."""
    caller = visitors.member("organise")
    view = benchmarks.view_benchmark(calls.context(), caller, benchmark)
    shown = partial(_benchmark_values, caller, view)
    return answers.fragment("admin_benchmark.html", view.etag, final=view.final, values=shown)


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
        return answers.refused("admin_benchmark.html", error, **values)
    if "HX-Request" in request.headers:
        return answers.page("admin_benchmark.html", **_benchmark_values(caller, view) | {"saved": True})
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
        return answers.refused("admin_benchmark.html", error, **_benchmark_values(caller, view))
    return answers.go_to(f"/admin/{benchmark}")


@blueprint.post("/<benchmark>/delete")
def delete_benchmark(benchmark: str) -> Response:
    """Delete a benchmark without submissions whose id was typed again."""
    caller = visitors.sender("organise")
    view = benchmarks.view_benchmark(calls.context(), caller, benchmark)
    try:
        if request.form.get("id", "").strip() != benchmark:
            raise invalid("bad-value", "/id", f"Type the id {benchmark!r} to delete it. Nothing was deleted.")
        benchmarks.delete_benchmark(calls.context(), caller, benchmark)
    except answers.REFUSED as error:
        values = _benchmark_values(caller, view) | {
            "undeleted": error.problems[0].detail if error.problems else error.detail
        }
        return answers.refused("admin_benchmark.html", error, **values)
    return answers.go_to("/admin" if caller.organiser else "/sign-in")  # the token of one benchmark ends with it


def _benchmark_values(caller: Caller, view: Shown[Benchmark]) -> dict[str, Any]:
    """Return what the template of a benchmark shows."""
    context, document = calls.context(), view.document
    slug = document["id"]
    report = fitting.report(context, caller, slug, MANY) if document["active_revision"] else None
    texts, main = settings.texts_of(document, FIELDS), ScoreNames(document)(document["main_score"])
    return {
        "benchmark": document, "version": view.etag, "final": view.final, "saved": False, "main": main,
        "most_bytes": context.config.max_upload_bytes, "key": new_key(), "parts_sent": targets_of(document),
        "seen": settings.version_of(texts), "groups": settings.GROUPS, "zones": settings.ZONES, "texts": texts,
        "problem": None, "undeleted": "", "faults": {}, "stored": {}, "echoes": settings.echoes_of(texts),
        "guessed": making.GUESSED in request.args, "scores": making.score_labels(document),
        "revisions": revisions.list_revisions(context, caller, slug, MANY).items,
        "climbing": () if report is None else report.items,
        "more_teams": report is not None and report.next is not None,
        "warnings": [settings.in_words(each["detail"], FIELDS) for each in document["warnings"]],
        "figures": main.figures, "state": state_of(document, context.now()),
    }  # fmt: skip


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
