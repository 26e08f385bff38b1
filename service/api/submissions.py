"""Serve submissions."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.api.calls import item_page
from service.caller import Caller
from service.contract.derive import schema_of
from service.contract.submissions import (
    OutputQuery,
    SubmissionChanges,
    SubmissionItemsQuery,
    SubmissionRequest,
    SubmissionSlicesQuery,
    SubmissionsQuery,
    SubmissionTreesQuery,
    SubmitQuery,
)
from service.usecases import jobs
from service.usecases.submissions import results, submissions, validation, views

blueprint = Blueprint("submissions", __name__, url_prefix="/v1")

SUBMISSION_READERS = ("submit", "read")


@blueprint.post("/benchmarks/<benchmark>/submissions")
def submit(benchmark: str) -> Response:
    """Create a submission; answer with its scores if it is scored within the wait."""
    caller = calls.caller("submit")
    query = calls.query(SubmitQuery)
    context = calls.context()
    views.require_room(context, caller, benchmark, calls.given_key(), scored=not query.validate_only)
    body = calls.parts_body(schema_of(SubmissionRequest), "outputs")
    if query.validate_only:
        return _validated(caller, benchmark, body)
    submission, new = submissions.submit(context, caller, benchmark, body, calls.idempotency_key(body))
    wait = calls.wait_seconds()
    view = submissions.wait_for_submission(context, caller, submission, wait or 0)
    response = answers.accepted(view, f"/v1/submissions/{submission}", wait, repeated=not new)
    response.headers.extend(dict(submissions.rate_limits(context, caller, benchmark)))
    return response


@blueprint.get("/benchmarks/<benchmark>/submissions")
def list_submissions(benchmark: str) -> Response:
    """List the team's submissions, newest first."""
    caller = calls.caller(*SUBMISSION_READERS)
    query = calls.query(SubmissionsQuery)
    context = calls.context()
    response = answers.page(submissions.list_submissions(context, caller, benchmark, query))
    response.headers.extend(dict(submissions.rate_limits(context, caller, benchmark)))
    return response


@blueprint.get("/submissions/<submission>")
def get_submission(submission: str) -> Response:
    """Show a submission; with a wait, once it differs from what the client knows."""
    caller = calls.caller_without_query(*SUBMISSION_READERS)
    context = calls.context()
    return calls.polled(
        lambda: submissions.view_submission(context, caller, submission),
        lambda seconds, known: submissions.wait_for_submission(context, caller, submission, seconds, known),
    )


@blueprint.patch("/submissions/<submission>")
def patch_submission(submission: str) -> Response:
    """Rename, annotate, choose or withdraw a submission."""
    caller = calls.caller_without_query("submit")
    body = calls.body(schema_of(SubmissionChanges))
    return answers.plain(submissions.patch_submission(calls.context(), caller, submission, body))


@blueprint.delete("/submissions/<submission>")
def delete_submission(submission: str) -> Response:
    """Delete a submission's outputs and scores."""
    caller = calls.caller_without_query("submit")
    submissions.delete_submission(calls.context(), caller, submission)
    return answers.nothing()


@blueprint.post("/submissions/<submission>/cancel")
def cancel_submission(submission: str) -> Response:
    """Cancel an unfinished submission."""
    caller = calls.caller_without_query("submit")
    return answers.plain(submissions.cancel_submission(calls.context(), caller, submission))


@blueprint.post("/submissions/<submission>/retry")
def retry_submission(submission: str) -> Response:
    """Start a new attempt after an internal error."""
    caller = calls.caller_without_query("submit")
    context = calls.context()
    submissions.retry_submission(context, caller, submission)
    wait = calls.wait_seconds()
    view = submissions.wait_for_submission(context, caller, submission, wait or 0)
    return answers.accepted(view, f"/v1/submissions/{submission}", wait, repeated=False)


@blueprint.get("/submissions/<submission>/items")
def list_submission_items(submission: str) -> Response:
    """List items, sentence by sentence, where the feedback level shows them."""
    caller = calls.caller(*SUBMISSION_READERS)
    query = calls.query(SubmissionItemsQuery)
    return item_page(results.submission_items(calls.context(), caller, submission, query), query.format)


@blueprint.get("/submissions/<submission>/trees")
def list_submission_trees(submission: str) -> Response:
    """List trees, sentence by sentence, as the feedback level shows them."""
    caller = calls.caller(*SUBMISSION_READERS)
    query = calls.query(SubmissionTreesQuery)
    return answers.page(results.submission_trees(calls.context(), caller, submission, query))


@blueprint.get("/submissions/<submission>/slices")
def get_submission_slices(submission: str) -> Response:
    """Show scores by groups; without `by`, the groupings."""
    caller = calls.caller(*SUBMISSION_READERS)
    query = calls.query(SubmissionSlicesQuery)
    return answers.conditional(results.submission_slices(calls.context(), caller, submission, query))


@blueprint.get("/submissions/<submission>/output")
def get_output(submission: str) -> Response:
    """Show the output of one part, byte for byte."""
    caller = calls.caller(*SUBMISSION_READERS)
    part = calls.query(OutputQuery).part
    return answers.conditional(submissions.submission_output(calls.context(), caller, submission, part))


def _validated(caller: Caller, benchmark: str, body: SubmissionRequest) -> Response:
    """Return 200 with the result of a validation, or 202 with its unfinished job."""
    context = calls.context()
    job_id, new = validation.validate(context, caller, benchmark, body, calls.idempotency_key(body))
    wait = calls.wait_seconds()
    view = jobs.wait_for_job(context, caller, job_id, wait or 0)
    response = answers.accepted(view, f"/v1/jobs/{job_id}", wait, repeated=not new)
    if view.final:
        response.status_code = 200
    response.headers.extend(dict(submissions.rate_limits(context, caller, benchmark)))
    return response
