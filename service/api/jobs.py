"""Serve scoring jobs."""

from functools import partial

from flask import Blueprint, Response

from service.api import answers, calls, forms
from service.api.calls import Body, answer, asks, item_page, texts
from service.caller import Caller
from service.contract import jobs as contract
from service.contract.common import Item
from service.contract.derive import Page
from service.usecases import jobs
from treescore.render.forms import FORMATS

blueprint = Blueprint("jobs", __name__, url_prefix="/v1/jobs")

reads = partial(asks, scopes=("score", "read"), anyone=True)


@blueprint.post("")
@asks(
    answer(
        "The job finished within the wait (succeeded, failed or cancelled).",
        contract.Job,
        status=201,
        examples={"trees": "TreesAnswer"},
    ),
    answer("The job is stored and not finished yet.", contract.Job, status=202),
    scopes=("score",),
    anyone=True,
    also="wait keyed makes tagged limited",
    body=Body(
        json=contract.JobRequest,
        form="JobForm",
        examples={"trees": "TreesRequest", "dependencies": "DependenciesRequest"},
    ),
)
def submit_job(caller: Caller) -> Response:
    r"""Score systems against gold.

    The service stores the job before it answers, and scores it even if the queue is lost. A job that failed within the
    wait answers 201 with the `state` `failed`; `failure` says what is wrong with the texts.

    In a form, `meta` is the JSON document without the texts, and each text is a file: `gold`, and for each system its
    name or its index in `meta` (`systems/0`). Systems that `meta` does not list are added. A format of several texts
    takes `gold/source`, `gold/target` and `gold/alignment`.

        curl -F 'meta={"format": "conllu", "metrics": ["attachment"]}' \
             -F gold=@gold.conllu -F udpipe=@udpipe.conllu http://127.0.0.1:8000/v1/jobs
    """
    context = calls.context()
    schema = contract.job_schema(context.config.max_systems)
    made = jobs.submit_job(context, caller, *calls.sent(schema, forms.read_job))
    location = f"/v1/jobs/{made.id}"
    response = calls.made(jobs.wait_for_job, caller, made.id, location=location, repeated=not made.new)
    return response if made.key is None else answers.with_secret(response, {"key": made.key})


@blueprint.get("")
@asks(answer("A page of jobs.", Page[contract.JobSummary]), scopes=jobs.MAKERS, also="page")
def list_jobs(caller: Caller, query: contract.JobsQuery) -> Response:
    """List your jobs, newest first.

    Organisers see all jobs. Callers without a token have no list, nor has a token that cannot make jobs or validations,
    such as one of the scope `read` alone.
    """
    return answers.page(jobs.list_jobs(calls.context(), caller, query))


@blueprint.get("/<job_id>")
@reads(answer("The job.", contract.Job), also="kept poll")
def get_job(caller: Caller, job_id: str) -> Response:
    """Get a job.

    With `Prefer: wait` it answers when the job has finished. With `If-None-Match` as well, it answers when the job has
    changed (progress included), or with 304 when the wait is over.
    """
    return calls.polled(jobs.view_job, jobs.wait_for_job, caller, job_id)


@blueprint.delete("/<job_id>")
@asks(scopes=("score",), anyone=True, also="kept erases owned")
def delete_job(caller: Caller, job_id: str) -> None:
    """Delete a job with its texts and results.

    A running job is stopped first. Later requests for the job answer 410.
    """
    jobs.delete_job(calls.context(), caller, job_id, calls.job_key())


@blueprint.post("/<job_id>/cancel")
@asks(answer("The cancelled job.", contract.Job), scopes=("score",), anyone=True, also="kept tagged conflict owned")
def cancel_job(caller: Caller, job_id: str) -> Response:
    """Cancel a job.

    Only a job that has not finished can be cancelled.
    """
    return answers.plain(jobs.cancel_job(calls.context(), caller, job_id, calls.job_key()))


@blueprint.get("/<job_id>/items")
@reads(
    answer("A page of items in the order of gold.", Page[Item], *texts(calls.ITEM_FORMS)),
    also="kept page forms conflict invalid",
)
def list_items(caller: Caller, query: contract.ItemsQuery, job_id: str) -> Response:
    """List the items of one system and one metric.

    An item holds the scores and counts of one sentence.
    """
    return item_page(jobs.job_items(calls.context(), caller, job_id, query), query.format)


@blueprint.get("/<job_id>/trees")
@reads(
    answer("A page of trees.", Page[contract.Tree], examples={"dependencies": "TreesOfJob"}),
    also="kept page conflict invalid",
)
def list_job_trees(caller: Caller, query: contract.JobTreesQuery, job_id: str) -> Response:
    """List the trees of one system beside gold's, sentence by sentence.

    Workers store the trees while they score. Show two systems against gold with two requests for the same `item`;
    `differs_from` lists the sentences in which they are not right and wrong alike. An answer may hold fewer sentences
    than `limit`, where these are long.
    """
    return answers.page(jobs.job_trees(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/slices")
@reads(answer("The slices, or the names of the groupings.", contract.Slices), also="kept conflict")
def get_slices(caller: Caller, query: contract.SlicesQuery, job_id: str) -> Response:
    """Get scores by label, relation, part of speech, length or distance.

    Without `by`, the answer lists the groupings of the metric. Some metrics take more groupings as a parameter of the
    job: `attachment` takes groupings of several attributes (`groupings`, such as `Cpostag@-1#Wordform@0`) and the
    metrics of MaltEval (`slice_metrics`). `GET /v1/scorers` lists the names.
    """
    return answers.conditional(jobs.job_slices(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/report")
@reads(answer("The report.", "text/plain"), also="kept conflict")
def get_report(caller: Caller, query: contract.ReportQuery, job_id: str) -> Response:
    """Get a report in the layout of the original program.

    The report equals the output of the original program to the byte.
    """
    return answers.conditional(jobs.job_report(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/comparisons")
@reads(
    answer("One comparison for each score that the job names.", contract.Comparisons, *texts(FORMATS)),
    also="kept conflict",
)
def get_comparisons(caller: Caller, query: contract.ComparisonsQuery, job_id: str) -> Response:
    """Get the significance tests between the systems.

    A comparison tests all pairs of systems on one score.
    """
    return answers.conditional(jobs.job_comparisons(calls.context(), caller, job_id, query))


@blueprint.get("/<job_id>/agreement")
@reads(answer("Correlations and decile tables.", contract.Agreements), also="kept conflict")
def get_agreement(caller: Caller, job_id: str) -> Response:
    """Get the agreement of pairs of scores over the sentences.

    The job names the pairs under `agreement`.
    """
    return answers.conditional(jobs.job_agreement(calls.context(), caller, job_id))
