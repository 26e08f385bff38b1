"""Submissions of a benchmark, and what can be done with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.item_pages import item_page
from service.caller import Caller
from service.schemas import queries
from service.schemas.submissions import SubmissionChanges, SubmissionRequest
from service.usecases.jobs import jobs
from service.usecases.submissions import changes, results, submissions, validation

blueprint = Blueprint("submissions", __name__, url_prefix="/v1")

READERS = ("submit", "read")


@blueprint.post("/benchmarks/<benchmark>/submissions")
def submit(benchmark: str) -> Response:
    """Take a submission; answer with its scores where it is done within the wait."""
    caller = calls.caller("submit")
    asked = calls.query(queries.SUBMIT)
    document = calls.parts_body(SubmissionRequest(), "outputs")
    if asked["validate_only"] == "true":
        return _validated(caller, benchmark, document)
    context = calls.context()
    submission, new = submissions.submit(context, caller, benchmark, document, calls.idempotency_key(document))
    wait = calls.wait_seconds()
    view = submissions.wait_for_submission(context, caller, submission, wait or 0)
    response = answers.accepted(view, f"/v1/submissions/{submission}", wait, repeated=not new)
    response.headers.extend(dict(submissions.rate_limits(context, caller, benchmark)))
    return response


@blueprint.get("/benchmarks/<benchmark>/submissions")
def list_submissions(benchmark: str) -> Response:
    """The team's submissions, newest first."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.SUBMISSIONS)
    context = calls.context()
    found = submissions.list_submissions(
        context, caller, benchmark, asked.get("cursor"), asked["limit"], asked.get("team"), asked.get("state")
    )
    response = answers.page(found)
    response.headers.extend(dict(submissions.rate_limits(context, caller, benchmark)))
    return response


@blueprint.get("/submissions/<submission>")
def get_submission(submission: str) -> Response:
    """The submission as it stands; with a wait, once it has moved on from what the client knows."""
    caller = calls.caller(*READERS)
    calls.query(queries.NOTHING)
    context = calls.context()
    return calls.polled(
        lambda: submissions.view_submission(context, caller, submission),
        lambda seconds, known: submissions.wait_for_submission(context, caller, submission, seconds, known),
    )


@blueprint.patch("/submissions/<submission>")
def patch_submission(submission: str) -> Response:
    """Rename, annotate, choose, withdraw."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    wanted = calls.body(SubmissionChanges())
    return answers.plain(changes.patch_submission(calls.context(), caller, submission, wanted))


@blueprint.delete("/submissions/<submission>")
def delete_submission(submission: str) -> Response:
    """Erase a submission's outputs and scores."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    changes.delete_submission(calls.context(), caller, submission)
    return answers.nothing()


@blueprint.post("/submissions/<submission>/cancel")
def cancel_submission(submission: str) -> Response:
    """Stop a submission that is not finished."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    return answers.plain(changes.cancel_submission(calls.context(), caller, submission))


@blueprint.post("/submissions/<submission>/retry")
def retry_submission(submission: str) -> Response:
    """A new attempt after a fault of the service."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    context = calls.context()
    changes.retry_submission(context, caller, submission)
    wait = calls.wait_seconds()
    view = submissions.wait_for_submission(context, caller, submission, wait or 0)
    return answers.accepted(view, f"/v1/submissions/{submission}", wait, repeated=False)


@blueprint.get("/submissions/<submission>/items")
def list_submission_items(submission: str) -> Response:
    """Sentence by sentence, where the organisers show that."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.SUBMISSION_ITEMS)
    found = results.submission_items(
        calls.context(), caller, submission, asked.get("part"), asked.get("metric"), asked.get("cursor"), asked["limit"]
    )
    return item_page(found, asked.get("format"))


@blueprint.get("/submissions/<submission>/slices")
def get_submission_slices(submission: str) -> Response:
    """Scores by groups; without `by`, which groupings there are."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.SUBMISSION_SLICES)
    return answers.conditional(
        results.submission_slices(
            calls.context(), caller, submission, asked.get("part"), asked.get("metric"), asked.get("by")
        )
    )


@blueprint.get("/submissions/<submission>/output")
def get_output(submission: str) -> Response:
    """One part of what was sent, byte for byte."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.OUTPUT)
    return answers.conditional(changes.submission_output(calls.context(), caller, submission, asked.get("part")))


def _validated(caller: Caller, benchmark: str, document: Mapping[str, Any]) -> Response:
    """200 with what was found, or 202 with the job that is looking."""
    context = calls.context()
    job_id = validation.validate(context, caller, benchmark, document)
    wait = calls.wait_seconds()
    view = jobs.wait_for_job(context, caller, job_id, wait or 0)
    response = answers.accepted(view, f"/v1/jobs/{job_id}", wait, repeated=False)
    if view.final:
        response.status_code = 200
    return response
