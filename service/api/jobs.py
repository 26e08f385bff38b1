"""Scoring jobs."""

from __future__ import annotations

from flask import Blueprint, Response, request

from service.api import answers, bodies, calls, forms
from service.api.item_pages import item_page
from service.schemas import queries
from service.schemas.base import load
from service.schemas.jobs import JobRequest
from service.usecases.jobs import jobs, results

blueprint = Blueprint("jobs", __name__, url_prefix="/v1/jobs")

READERS = ("score", "read")


@blueprint.post("")
def submit_job() -> Response:
    """Take a job; answer with its result where it is done within the wait."""
    caller = calls.caller("score")
    calls.query(queries.NOTHING)
    config = calls.context().config
    if bodies.media_type(request, bodies.JSON, forms.FORM) == forms.FORM:
        given: object = forms.read_job(request, config)
    else:
        given = bodies.read_json(request, config.max_body_bytes)
    document = load(JobRequest(config.max_systems), given, config.max_problems)
    job_id, new = jobs.submit_job(calls.context(), caller, document, calls.idempotency_key(document))
    wait = calls.wait_seconds()
    view = jobs.wait_for_job(calls.context(), caller, job_id, wait or 0)
    return answers.accepted(view, f"/v1/jobs/{job_id}", wait, repeated=not new)


@blueprint.get("")
def list_jobs() -> Response:
    """The caller's jobs, newest first."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.JOBS)
    return answers.page(
        jobs.list_jobs(calls.context(), caller, asked.get("cursor"), asked["limit"], asked.get("state"))
    )


@blueprint.get("/<job_id>")
def get_job(job_id: str) -> Response:
    """The job as it stands; with a wait, once it has moved on from what the client knows."""
    caller = calls.caller(*READERS)
    calls.query(queries.NOTHING)
    context = calls.context()
    return calls.polled(
        lambda: jobs.view_job(context, caller, job_id),
        lambda seconds, known: jobs.wait_for_job(context, caller, job_id, seconds, known),
    )


@blueprint.delete("/<job_id>")
def delete_job(job_id: str) -> Response:
    """Erase a job's texts and results."""
    caller = calls.caller("score")
    calls.query(queries.NOTHING)
    jobs.delete_job(calls.context(), caller, job_id)
    return answers.nothing()


@blueprint.post("/<job_id>/cancel")
def cancel_job(job_id: str) -> Response:
    """Stop a job that is not finished."""
    caller = calls.caller("score")
    calls.query(queries.NOTHING)
    return answers.plain(jobs.cancel_job(calls.context(), caller, job_id))


@blueprint.get("/<job_id>/items")
def list_items(job_id: str) -> Response:
    """Sentence by sentence."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.ITEMS)
    found = results.job_items(
        calls.context(), caller, job_id, asked["system"], asked["metric"], asked.get("cursor"), asked["limit"]
    )
    return item_page(found, asked.get("format"))


@blueprint.get("/<job_id>/slices")
def get_slices(job_id: str) -> Response:
    """Scores by groups; without `by`, which groupings there are."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.SLICES)
    return answers.conditional(
        results.job_slices(calls.context(), caller, job_id, asked["system"], asked["metric"], asked.get("by"))
    )


@blueprint.get("/<job_id>/report")
def get_report(job_id: str) -> Response:
    """The original program's own layout."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.REPORT)
    return answers.conditional(
        results.job_report(calls.context(), caller, job_id, asked["system"], asked["metric"], asked["style"])
    )


@blueprint.get("/<job_id>/comparisons")
def get_comparisons(job_id: str) -> Response:
    """Which differences between the systems are real."""
    caller = calls.caller(*READERS)
    asked = calls.query(queries.COMPARISONS)
    return answers.conditional(
        results.job_comparisons(calls.context(), caller, job_id, asked.get("score"), asked["format"])
    )


@blueprint.get("/<job_id>/agreement")
def get_agreement(job_id: str) -> Response:
    """How far two scores agree over the same sentences."""
    caller = calls.caller(*READERS)
    calls.query(queries.NOTHING)
    return answers.conditional(results.job_agreement(calls.context(), caller, job_id))
