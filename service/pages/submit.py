"""The page that sends outputs: a form with a file for each part, what a check found, and what was sent before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response

from service.api import calls
from service.api.answers import problem_of
from service.caller import Caller
from service.contract.benchmarks import Benchmark, BenchmarksQuery
from service.contract.common import PageQuery
from service.contract.derive import schema_of
from service.contract.jobs import Job
from service.contract.submissions import SubmissionRequest, SubmissionsQuery
from service.errors import BadRequest, Conflict, Forbidden, NotFound, TooManyRequests, Unprocessable, refuse
from service.pages import answers, uploads
from service.pages.answers import with_status_of
from service.pages.benchmarks import benchmark_document, is_open, state_of
from service.pages.uploads import Upload
from service.pages.visitors import member
from service.usecases import jobs
from service.usecases.benchmarks import benchmarks, teams
from service.usecases.runs import Shown
from service.usecases.scoring.config import stored_spec
from service.usecases.submissions import submissions, validation

blueprint = answers.pages("submit", "/submit")

READERS = ("submit", "read")
FILES = "files"
"""Name of the field of the files."""
BASELINE = "baseline"
KEPT = ("name", "notes", "team")
"""Fields that a form that is shown again keeps; of files browsers keep nothing."""
CHECK, SUBMIT = "check", "submit"
CHECK_WAIT = 3
"""Seconds after which a check that is not done is shown as running."""
MOST_LISTED = 1000
"""Benchmarks and teams that organisers choose of."""
MOST_ASKED = 20
"""Files whose part is asked for; more are named better."""
LISTED = 20
"""Submissions on a page."""


@blueprint.get("")
def show_submit() -> Response:
    """Show the form, and what was sent before."""
    caller = member(*READERS)
    query, own = answers.query(SubmissionsQuery, "benchmark")
    slug = _slug(caller, own.get("benchmark", ""))
    return answers.page("submit.html", **_submit_values(caller, slug, {"team": query.team or ""}, query))


@blueprint.post("")
def send_outputs() -> Response:
    """Check or submit outputs. What is wrong is shown above the form, which keeps the fields."""
    caller = member("submit")
    upload = uploads.read_upload()
    slug = _slug(caller, upload.fields.get("benchmark", ""))
    if not slug:
        raise BadRequest("Choose a benchmark first.")
    targets = _targets(benchmark_document(caller, slug))
    assigned = uploads.assign(upload.files.get(FILES, ()), targets, upload.fields)
    again = {"asked": assigned.asked[:MOST_ASKED], "targets": targets}
    try:
        refuse(upload.problems)
        refuse(assigned.problems)
        asked = _submission_of(upload, assigned.outputs)
        if upload.fields.get("do") == CHECK:
            return _checked(caller, slug, upload, asked, again)
        submission, _ = submissions.submit(calls.context(), caller, slug, asked, upload.key(asked, SUBMIT, slug))
    except (Unprocessable, Conflict, TooManyRequests) as error:
        values = {**_submit_values(caller, slug, upload.fields), **again, "problem": problem_of(error)}
        return with_status_of(answers.page("submit.html", **values), error)
    return answers.go_to(f"/s/{submission}")


@blueprint.get("/checks/<job_id>")
def show_check(job_id: str) -> Response:
    """Show what a check found."""
    caller = member(*READERS)
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.page("check_page.html", 200, **_check(view))


@blueprint.get("/checks/<job_id>/live")
def show_check_live(job_id: str) -> Response:
    """Show what a check found, if it differs from what the page shows."""
    caller = member(*READERS)
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.fragment("check.html", view.etag, final=view.final, values=lambda: _check(view))


def _slug(caller: Caller, asked: str) -> str:
    """Return the benchmark: that of the team; organisers choose.

    Raises:
        Forbidden: the token is of no team.
    """
    if caller.organiser:
        return asked
    if caller.benchmark is None:
        raise Forbidden("Your token belongs to no team of a benchmark. Ask the organisers for the token of a team.")
    return caller.benchmark


def _submission_of(upload: Upload, outputs: Mapping[str, object]) -> SubmissionRequest:
    """Return the request that the form stands for.

    Raises:
        Unprocessable: a field is invalid.
    """
    members: dict[str, object] = {"outputs": outputs}
    members |= {name: value for name in ("name", "notes") if (value := upload.fields.get(name, "").strip())}
    team = upload.fields.get("team", "")
    if team == BASELINE:
        members["role"] = BASELINE
    elif team:
        members["team"] = team
    return answers.loaded(schema_of(SubmissionRequest), members)


def _checked(
    caller: Caller, slug: str, upload: Upload, asked: SubmissionRequest, again: Mapping[str, object]
) -> Response:
    """Check outputs, and show what that found if it is done soon."""
    context = calls.context()
    job_id, _ = validation.validate(context, caller, slug, asked, upload.key(asked, slug))
    view = jobs.wait_for_job(context, caller, job_id, calls.granted_wait(CHECK_WAIT) or 0)
    values = {**_submit_values(caller, slug, upload.fields), **again, **_check(view)}
    return answers.page("submit.html", **values)


def _check(view: Shown[Job]) -> dict[str, object]:
    """Return what the templates of a check show.

    Raises:
        NotFound: the job is none of a check.
    """
    document = view.document
    results = document["results"]
    if results is not None and "valid" not in results:
        raise NotFound(f"Unknown check {document['id']}.")
    return {"check": document, "version": view.etag}


def _targets(document: Benchmark) -> list[str]:
    """Return what files are assigned to: the parts, or the texts of each for a format of several."""
    fields = stored_spec(document).format.format.fields
    parts: Sequence[str] = list(document["parts"])
    return [f"{part}/{side}" for part in parts for side in fields] if fields else list(parts)


def _submit_values(
    caller: Caller, slug: str, fields: Mapping[str, str], query: SubmissionsQuery | None = None
) -> dict[str, Any]:
    """Return what the template of the form shows."""
    context = calls.context()
    organiser = caller.organiser
    values: dict[str, Any] = {
        "slug": slug,
        "benchmarks": _benchmarks(caller) if organiser else (),
        "teams": _teams(caller, slug) if organiser and slug else (),
        "benchmark": None, "quota": None, "sent": (), "next": None, "closed": "", "state": "",
        "kept": {name: fields.get(name, "") for name in KEPT},
        "key": uploads.new_key(), "problem": None, "check": None, "asked": (), "targets": (), "baseline": BASELINE,
        "most_bytes": context.config.max_upload_bytes,
    }  # fmt: skip
    if not slug:
        return values
    document = benchmark_document(caller, slug)
    asked = query or SubmissionsQuery()
    page = submissions.list_submissions(
        context, caller, slug, SubmissionsQuery(cursor=asked.cursor, limit=LISTED, team=asked.team, state=asked.state)
    )
    state = state_of(document, context.now())
    return values | {
        "benchmark": document, "quota": submissions.quota_of(context, caller, slug), "state": state,
        "closed": _why_not(caller, document, state), "sent": page.items, "next": page.next,
    }  # fmt: skip


def _why_not(caller: Caller, document: Benchmark, state: str) -> str:
    """Return why nothing can be sent; empty where it can."""
    if not caller.allowed("submit"):
        return "You may look at submissions, not send them."
    if document["active_revision"] is None:
        return "The gold standard has not passed its check yet. Load the page again later."
    if not caller.organiser and not is_open(state):
        return "The benchmark is closed: nothing can be sent." if state == "closed" else f"The benchmark {state}."
    return ""


def _benchmarks(caller: Caller) -> list[tuple[str, str]]:
    page = benchmarks.list_benchmarks(calls.context(), caller, BenchmarksQuery(limit=MOST_LISTED))
    return [(str(each["id"]), str(each["title"])) for each in page.items]


def _teams(caller: Caller, slug: str) -> list[tuple[str, str]]:
    page = teams.list_teams(calls.context(), caller, slug, PageQuery(limit=MOST_LISTED))
    return [(str(each["id"]), str(each["name"])) for each in page.items]
