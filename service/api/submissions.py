"""Serve submissions."""

from functools import partial

from flask import Blueprint, Response

from service.api import answers, calls, forms
from service.api.calls import Body, answer, asks, item_page, texts
from service.caller import Caller
from service.contract import submissions as contract
from service.contract.common import SubmissionItem, TextsByName
from service.contract.derive import Page
from service.contract.jobs import Job, Tree
from service.usecases import jobs
from service.usecases.submissions import results, submissions, validation, views

blueprint = Blueprint("submissions", __name__, url_prefix="/v1")

reads = partial(asks, scopes=("submit", "read"))


@blueprint.post("/benchmarks/<benchmark>/submissions")
@asks(
    answer("The finished job of `validate_only`.", Job, headers="Location"),
    answer(
        "The submission finished within the wait.",
        contract.Submission,
        status=201,
        examples={"biaffine": "SubmissionAnswer"},
    ),
    answer(
        "The submission (with `validate_only`, the job) is stored and not finished yet.",
        contract.SubmissionOrJob,
        status=202,
    ),
    scopes=("submit",),
    also="kept wait keyed makes tagged quota limited",
    body=Body(json=contract.SubmissionRequest, form="SubmissionForm", examples={"biaffine": "SubmissionRequest"}),
)
def submit(caller: Caller, query: contract.SubmitQuery, benchmark: str) -> Response:
    r"""Submit outputs.

    The service stores the submission before it answers. A part that is missing or cannot be scored counts as the worst
    value of the score in the mean of the parts. Organisers name the team, or submit a baseline. In a form, `meta` is
    the JSON document without `outputs`, and each output is a file with the name of its part (`en` or `outputs/en`).

        curl -F 'meta={"name": "biaffine-7"}' -F en=@en.conllu -H "Authorization: Bearer $TOKEN" \
             http://127.0.0.1:8000/v1/benchmarks/demo/submissions

    With `validate_only=true` the outputs are only checked against the text of gold. This counts as an attempt (quota
    `attempts_per_day`), also where the outputs do not fit, but not as a scored submission. The outputs are not kept.
    The answer is 200 with the finished job, or 202 with the job that checks them.
    """
    context = calls.context()
    views.require_room(context, caller, benchmark, calls.given_key(), scored=not query.validate_only)
    make, shown = (validation.validate, _validated) if query.validate_only else (submissions.submit, _made)
    made, new = make(context, caller, benchmark, *calls.sent(contract.SubmissionRequest, forms.read_outputs))
    response = shown(caller, made, repeated=not new)
    response.headers.extend(views.rate_limits(context, caller, benchmark))
    return response


@blueprint.get("/benchmarks/<benchmark>/submissions")
@reads(
    answer(
        "A page of submissions without outputs and scores; with `include=main`, with the main score.",
        Page[contract.SubmissionSummary],
        headers="RateLimit RateLimitLimit RateLimitPolicy RateLimitRemaining RateLimitReset",
    ),
    also="kept page",
)
def list_submissions(caller: Caller, query: contract.SubmissionsQuery, benchmark: str) -> Response:
    """List the submissions of your team, newest first.

    Organisers see all submissions, or those of the team in the query. A token that belongs to no team of the benchmark
    has none to list: the answer is 403.
    """
    context = calls.context()
    response = answers.page(submissions.list_submissions(context, caller, benchmark, query))
    response.headers.extend(views.rate_limits(context, caller, benchmark))
    return response


@blueprint.get("/submissions/<submission>")
@reads(answer("The submission.", contract.Submission), also="kept poll")
def get_submission(caller: Caller, submission: str) -> Response:
    """Get a submission.

    The feedback level of the benchmark decides what is shown. A submission of another team answers 404.
    """
    return calls.polled(submissions.view_submission, submissions.wait_for_submission, caller, submission)


@blueprint.patch("/submissions/<submission>")
@asks(
    answer("The changed submission.", contract.Submission),
    scopes=("submit",),
    also="kept tagged conflict limited",
    body=Body(json=contract.SubmissionChanges, examples={"withdrawn": "Withdrawal"}),
)
def patch_submission(caller: Caller, submission: str) -> Response:
    """Change the name, notes, links or leaderboard settings of a submission.

    Outputs and scores never change.
    """
    body = calls.body(contract.SubmissionChanges)
    return answers.plain(submissions.patch_submission(calls.context(), caller, submission, body))


@blueprint.delete("/submissions/<submission>")
@asks(scopes=("submit",), also="kept erases")
def delete_submission(caller: Caller, submission: str) -> None:
    """Delete a submission with its outputs and scores.

    This returns no quota, also before the submission has started. After closing only organisers may delete.
    """
    submissions.delete_submission(calls.context(), caller, submission)


@blueprint.post("/submissions/<submission>/cancel")
@asks(answer("The cancelled submission.", contract.Submission), scopes=("submit",), also="kept tagged conflict")
def cancel_submission(caller: Caller, submission: str) -> Response:
    """Cancel a submission.

    Only a submission that has not finished can be cancelled. Its quota is returned if it has not started.
    """
    return answers.plain(submissions.cancel_submission(calls.context(), caller, submission))


@blueprint.post("/submissions/<submission>/retry")
@asks(
    answer("The submission finished within the wait.", contract.Submission, status=201),
    answer("The submission is queued.", contract.Submission, status=202),
    scopes=("submit",),
    also="kept wait makes tagged conflict limited",
)
def retry_submission(caller: Caller, submission: str) -> Response:
    """Score a submission again after a failure of the service.

    Only after a failure of `kind` `service`. The record of the failed attempt is kept.
    """
    submissions.retry_submission(calls.context(), caller, submission)
    return _made(caller, submission)


@blueprint.get("/submissions/<submission>/items")
@reads(
    answer("A page of items in the order of gold.", Page[SubmissionItem], *texts(calls.ITEM_FORMS)),
    also="kept page forms conflict invalid",
)
def list_submission_items(caller: Caller, query: contract.SubmissionItemsQuery, submission: str) -> Response:
    """List the items of one part and one metric.

    Available if the feedback level of the benchmark shows items.
    """
    return item_page(results.submission_items(calls.context(), caller, submission, query), query.format)


@blueprint.get("/submissions/<submission>/trees")
@reads(answer("A page of trees.", Page[Tree]), also="kept page conflict invalid")
def list_submission_trees(caller: Caller, query: contract.SubmissionTreesQuery, submission: str) -> Response:
    """List the trees of one part, sentence by sentence.

    Workers store the trees while they score. Below feedback level `gold` they are those of your output alone, numbered
    by its own sentences: below `items` without marks, at `items` with marks on what is wrong. At `gold` they stand
    beside gold's, numbered by gold's sentences. An answer may hold fewer sentences than `limit`, where these are long.
    """
    return answers.page(results.submission_trees(calls.context(), caller, submission, query))


@blueprint.get("/submissions/<submission>/slices")
@reads(answer("The slices, or the names of the groupings.", contract.SubmissionSlices), also="kept conflict")
def get_submission_slices(caller: Caller, query: contract.SubmissionSlicesQuery, submission: str) -> Response:
    """Get scores by label, relation, part of speech, length or distance.

    Without `by`, the answer lists the groupings that you may see.
    """
    return answers.conditional(results.submission_slices(calls.context(), caller, submission, query))


@blueprint.get("/submissions/<submission>/output")
@reads(
    answer("The submitted bytes; an object of texts for a format of several texts.", "text/plain", TextsByName),
    also="kept",
)
def get_output(caller: Caller, query: contract.OutputQuery, submission: str) -> Response:
    """Get the submitted output of one part.

    Available until the output is deleted.
    """
    return answers.conditional(submissions.submission_output(calls.context(), caller, submission, query.part))


def _made(caller: Caller, submission: str, *, repeated: bool = False) -> Response:
    location = f"/v1/submissions/{submission}"
    return calls.made(submissions.wait_for_submission, caller, submission, location=location, repeated=repeated)


def _validated(caller: Caller, job_id: str, *, repeated: bool = False) -> Response:
    """Return 200 with the result of a validation, or 202 with its unfinished job."""
    response = calls.made(jobs.wait_for_job, caller, job_id, location=f"/v1/jobs/{job_id}", repeated=repeated)
    if response.status_code == 201:
        response.status_code = 200
    return response
