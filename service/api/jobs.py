"""Serve scoring jobs."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls, forms
from service.api.calls import item_page
from service.contract.jobs import (
    ComparisonsQuery,
    ItemsQuery,
    JobsQuery,
    JobTreesQuery,
    ReportQuery,
    SlicesQuery,
    job_schema,
)
from service.usecases import jobs

blueprint = Blueprint("jobs", __name__, url_prefix="/v1/jobs")

JOB_READERS = ("score", "read")


@blueprint.post("")
def submit_job() -> Response:
    """Create a job; answer with its result if it is done within the wait."""
    caller = calls.caller_without_query("score")
    context = calls.context()
    body = calls.body(job_schema(context.config.max_systems), forms.read_job)
    made = jobs.submit_job(context, caller, body, calls.idempotency_key(body))
    wait = calls.wait_seconds()
    view = jobs.wait_for_job(context, caller, made.id, wait or 0)
    response = answers.accepted(view, f"/v1/jobs/{made.id}", wait, repeated=not made.new)
    return response if made.key is None else answers.with_secret(response, {"key": made.key})


@blueprint.get("")
def list_jobs() -> Response:
    """List the caller's jobs, newest first."""
    caller = calls.caller(*jobs.MAKERS)
    return answers.page(jobs.list_jobs(calls.context(), caller, calls.query(JobsQuery)))


@blueprint.get("/<job_id>")
def get_job(job_id: str) -> Response:
    """Show a job; with a wait, once it differs from what the client knows."""
    caller = calls.caller_without_query(*JOB_READERS)
    context = calls.context()
    return calls.polled(
        lambda: jobs.view_job(context, caller, job_id),
        lambda seconds, known: jobs.wait_for_job(context, caller, job_id, seconds, known),
    )


@blueprint.delete("/<job_id>")
def delete_job(job_id: str) -> Response:
    """Delete a job's texts and results."""
    caller = calls.caller_without_query("score")
    jobs.delete_job(calls.context(), caller, job_id, calls.job_key())
    return answers.nothing()


@blueprint.post("/<job_id>/cancel")
def cancel_job(job_id: str) -> Response:
    """Cancel an unfinished job."""
    caller = calls.caller_without_query("score")
    return answers.plain(jobs.cancel_job(calls.context(), caller, job_id, calls.job_key()))


@blueprint.get("/<job_id>/items")
def list_items(job_id: str) -> Response:
    """List items, sentence by sentence."""
    caller = calls.caller(*JOB_READERS)
    query = calls.query(ItemsQuery)
    return item_page(jobs.job_items(calls.context(), caller, job_id, query), query.format)


@blueprint.get("/<job_id>/trees")
def list_job_trees(job_id: str) -> Response:
    """List the trees of a system beside gold's, sentence by sentence."""
    caller = calls.caller(*JOB_READERS)
    query = calls.query(JobTreesQuery)
    return answers.page(jobs.job_trees(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/slices")
def get_slices(job_id: str) -> Response:
    """Show scores by groups; without `by`, the groupings."""
    caller = calls.caller(*JOB_READERS)
    query = calls.query(SlicesQuery)
    return answers.conditional(jobs.job_slices(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/report")
def get_report(job_id: str) -> Response:
    """Show a report in the layout of the original program."""
    caller = calls.caller(*JOB_READERS)
    query = calls.query(ReportQuery)
    return answers.conditional(jobs.job_report(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/comparisons")
def get_comparisons(job_id: str) -> Response:
    """Show which differences between the systems are significant."""
    caller = calls.caller(*JOB_READERS)
    query = calls.query(ComparisonsQuery)
    return answers.conditional(jobs.job_comparisons(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/agreement")
def get_agreement(job_id: str) -> Response:
    """Show how far two scores agree over the same sentences."""
    caller = calls.caller_without_query(*JOB_READERS)
    return answers.conditional(jobs.job_agreement(calls.context(), caller, job_id))
