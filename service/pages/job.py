"""The page of a scoring job, and its sentences.

It has its state, scores of each system, what the tests say of differences, and exports. Sentences are those of one
system beside gold, or of two systems where they differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast
from urllib.parse import quote

from flask import Response, request

from service.api import calls
from service.caller import Caller
from service.contract.common import Failure
from service.contract.comparisons import Comparison
from service.contract.jobs import ComparisonsQuery, ItemsQuery, Job, JobTreesQuery, MetricResult, Results, SystemResult
from service.errors import BadRequest, Conflict
from service.pages import answers, figures, sentences, visitors
from service.requests import Query
from service.usecases import jobs, runs
from treescore.core import params, scores
from treescore.render.crosstable import bounds, cross_table, headline, interval_head, notes, shown_interval

blueprint = answers.pages("job", "/j/<job_id>")

KEY_COOKIE = "treescore_job"
KEPT_SECONDS = 30 * 24 * 3600
ALL_SCORES = "scores"
MOST_PAIRS = 300
"""Pairs on the page; exports have all."""
MOST_ITEMS = 1000
"""Sentences of an export from the page."""
EXPORTS = tuple((words, form) for form, words in answers.EXPORT_NAMES.items() if form != "tsv")


def keep_key(response: Response, job_id: str, key: str | None) -> Response:
    """Let this browser change a job that was made without a token: it keeps the key for the job's own addresses."""
    if key is not None:
        response.set_cookie(
            KEY_COOKIE, key, max_age=KEPT_SECONDS, path=_job_address(job_id), httponly=True, samesite="Strict",
            secure=request.scheme == "https",
        )  # fmt: skip
    return response


@blueprint.get("")
def show_job(job_id: str) -> Response:
    """Show a job."""
    caller = visitors.scorer()
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.page("job.html", **_job_values(caller, view))


@blueprint.get("/live")
def show_job_live(job_id: str) -> Response:
    """Show the job again, if it differs from what the page shows."""
    caller = visitors.scorer()
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.fragment(
        "job_state.html", view.etag, final=view.final, values=partial(_job_values, caller, view, live=True)
    )


@blueprint.post("")
def cancel_job(job_id: str) -> Response:
    """Cancel an unfinished job."""
    caller = visitors.scorer()
    visitors.check_form()
    if request.form.get("do") != "cancel":
        raise BadRequest("The form does not say what to change. Load the page again.")
    try:
        jobs.cancel_job(calls.context(), caller, job_id, request.cookies.get(KEY_COOKIE))
    except Conflict as error:
        view = jobs.view_job(calls.context(), caller, job_id)
        return answers.refused("job.html", error, **_job_values(caller, view))
    return answers.go_to(_job_address(job_id))


@blueprint.get("/delete")
def ask_delete(job_id: str) -> Response:
    """Ask once more before deleting."""
    jobs.view_job(calls.context(), visitors.scorer(), job_id)
    return answers.page("job_delete.html", job_id=job_id)


@blueprint.post("/delete")
def delete_job(job_id: str) -> Response:
    """Delete texts and results."""
    caller = visitors.scorer()
    visitors.check_form()
    jobs.delete_job(calls.context(), caller, job_id, request.cookies.get(KEY_COOKIE))
    return answers.go_to("/jobs/new")


@blueprint.get("/comparisons")
def get_comparisons(job_id: str) -> Response:
    """Send the comparisons in one of the export formats."""
    query, _ = answers.query(ComparisonsQuery, file=True)
    return answers.sent(jobs.job_comparisons(calls.context(), visitors.scorer(), job_id, query))


@blueprint.get("/items")
def get_items(job_id: str) -> Response:
    """Send sentence by sentence what a metric found in an output."""
    query, _ = answers.query(ItemsQuery, file=True)
    form = query.format or "json"
    page = jobs.job_items(calls.context(), visitors.scorer(), job_id, query)
    return answers.finished(answers.download(calls.item_page(page, form), f"{query.system}.{query.metric}.{form}"))


def _job_address(job_id: str) -> str:
    return f"/j/{quote(job_id, safe='')}"


def _job_values(caller: Caller, view: runs.Shown[Job], *, live: bool = False) -> dict[str, Any]:
    """Return what the templates of a job show.

    Args:
        caller: who looks.
        view: of the job.
        live: whether the page asks, whose address has no query of its own.
    """
    document = view.document
    own = {} if live else answers.query(Query, ALL_SCORES)[1]
    every = own.get(ALL_SCORES) == "all"
    values: dict[str, Any] = {
        "job": document, "version": view.etag, "final": view.final, "problem": None, "exports": EXPORTS,
        "may_change": not caller.anonymous or KEY_COOKIE in request.cookies, "most_items": MOST_ITEMS,
        "unsigned": caller.anonymous, "columns": (), "rows": (), "notes": (), "left": 0, "every": every, "compared": (),
        "errors": _placed(document["failure"]), "metrics": (),
    }  # fmt: skip
    found = cast("Results | None", document["results"])  # those of a check have no systems
    if found is None or not found.get("systems"):
        return values
    systems, comparisons = found["systems"], found.get("comparisons") or ()
    names = figures.ScoreNames(_scoring(systems[0]["metrics"]))
    metrics = systems[0]["metrics"]
    listed = [f"{key}.{name}" for key, metric in metrics.items() for name, _ in scores.flat_values(metric["scores"])]
    columns, left = names.shown(comparisons[0]["score"] if comparisons else listed[0], listed, every=every)
    return values | {
        "columns": columns, "left": left, "rows": [_system_row(system, columns, comparisons) for system in systems],
        "notes": names.notes(systems), "compared": [_job_comparison(comparison, names) for comparison in comparisons],
        "metrics": list(metrics),
        "item_total": max((metric["sentences"]["total"] for metric in metrics.values()), default=0),
    }  # fmt: skip


def _placed(failure: Failure | None) -> list[Mapping[str, object]]:
    """Return the errors of a failure with the file that each is in."""
    placed: list[Mapping[str, object]] = []
    for error in () if failure is None else failure["errors"]:
        steps = error.get("pointer", "").split("/")
        file = "gold" if steps[1:2] == ["gold"] else ""
        if steps[1:2] == ["systems"] and steps[2:3] and steps[2].isdecimal():
            file = f"output {int(steps[2]) + 1}"
        placed.append({**error, "file": file} if file else error)
    return placed


def _scoring(metrics: Mapping[str, MetricResult]) -> dict[str, params.Json]:
    """Return the scoring configuration that the signatures of a system's metrics tell."""
    signatures = {key: metric["signature"] for key, metric in metrics.items()}
    return {
        "format": next(iter(signatures.values()))["format"],
        "transforms": [],
        "metrics": [{"name": each["metric"], "key": key, "params": each["params"]} for key, each in signatures.items()],
    }


def _system_row(
    system: SystemResult, columns: Sequence[figures.NamedScore], comparisons: Sequence[Comparison]
) -> dict[str, object]:
    cells = []
    for column in columns:
        key, _, name = column.address.partition(".")
        cells.append(column.figures.value(scores.member_at(system["metrics"][key]["scores"], name)))
    ranked = comparisons[0]["systems"] if comparisons else ()
    own = next((each.get("ci") for each in ranked if each["name"] == system["name"]), None)
    return {"name": system["name"], "cells": cells, "interval": columns[0].figures.interval(*bounds(own))}


def _job_comparison(comparison: Comparison, names: figures.ScoreNames) -> dict[str, object]:
    """Return one score's comparison as the page shows it."""
    score = names(comparison["score"])
    alpha = comparison["alpha"]
    pairs = []
    for pair in comparison["pairs"][:MOST_PAIRS]:
        p = pair.get("p_adjusted")
        pairs.append({
            "a": pair["a"], "b": pair["b"], "difference": score.figures.difference(pair.get("difference")),
            "span": score.figures.span(*bounds(shown_interval(pair))),
            "p": pair.get("p"), "adjusted": p, "significant": p is not None and p <= alpha,
        })  # fmt: skip
    table = cross_table(comparison, [comparison["score"]] if score.figures.share else ())
    return {
        "score": score, "pairs": pairs, "left": len(comparison["pairs"]) - len(pairs),
        "caption": f"{headline(table)}. Bold: significant.", "interval_head": interval_head(comparison),
        "said": [*comparison["warnings"], *notes(comparison)], "address": comparison["score"],
    }  # fmt: skip


UNKNOWN = "unknown"
"""Stands for the systems of a job without results, of which the use-case then says why."""
sentences_blueprint = answers.pages("job_sentences", "/j/<job>/sentences")
MEMBERS = ("system", "differs_from", "wrong", "label", "q", "order")


@sentences_blueprint.get("")
def show_job_sentence(job: str) -> Response:
    """Show one sentence of a job, by default the first of those that are asked for."""
    caller = visitors.scorer()
    document = jobs.view_job(calls.context(), caller, job).document
    results = cast("Results | None", document["results"])  # those of a check have no systems
    scored = () if results is None else results.get("systems", ())
    systems = [system["name"] for system in scored]
    metrics = [each["signature"]["metric"] for system in scored for each in system["metrics"].values()]
    query = _job_trees_query(systems or [UNKNOWN])
    found = jobs.job_window(calls.context(), caller, job, query)
    members = sentences.members_of(query, MEMBERS)
    beside = None
    if query.differs_from is not None and found.current is not None:
        other = replace(query, system=query.differs_from, differs_from=None, item=found.current["item"])
        tree = jobs.job_window(calls.context(), caller, job, other).current
        beside = None if tree is None else sentences.picture_of(tree, f"Sentence {tree['item']}", "other")
    return answers.page(
        "job_sentences.html", job=document, systems=systems, beside=beside,
        **sentences.shown_window(found, members, f"/j/{job}/sentences", metrics),
    )  # fmt: skip


@sentences_blueprint.get("/picture.svg")
def show_job_picture(job: str) -> Response:
    """Show the picture of one sentence of a job as a file."""
    return sentences.picture_file(jobs.job_window(calls.context(), visitors.scorer(), job, _job_trees_query([])), job)


def _job_trees_query(systems: Sequence[str]) -> JobTreesQuery:
    """Return which sentence is asked for, by default of the first system."""
    given = sentences.asked_of_trees()
    return calls.load_query(JobTreesQuery, {"system": systems[:1], **given} if systems else given)
