"""The page of a scoring job: its state, scores of each system, what the tests say of differences, and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

import orjson
from flask import Response, request

from service.api import answers as api_answers
from service.api import calls
from service.api.item_pages import item_page
from service.caller import Caller
from service.errors import BadRequest, Conflict
from service.pages import answers
from service.pages.answers import finished
from service.pages.downloads import download
from service.pages.exports import NAMES
from service.pages.faults import problem_of, with_status_of
from service.pages.score_names import NamedScore, ScoreNames
from service.pages.visitors import check_form, scorer
from service.pages.words import correction_name, units_name
from service.schemas import queries
from service.usecases.jobs import jobs, results
from service.usecases.runs.views import View
from treescore.core.counting import counted
from treescore.core.params import Json
from treescore.core.values import flat_values, member_at

blueprint = answers.pages("job", "/j/<job_id>")

KEY_COOKIE = "treescore_job"
KEPT_SECONDS = 30 * 24 * 3600
ALL_SCORES = "scores"
MOST_PAIRS = 300
"""Pairs on the page; exports have all."""
MOST_ITEMS = 1000
"""Sentences of an export from the page."""
EXPORTS = tuple((words, form) for form, words in NAMES.items() if form != "tsv")


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
    caller = scorer()
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.page("job.html", **_job_values(caller, view))


@blueprint.get("/live")
def show_job_live(job_id: str) -> Response:
    """Show the job again, if it differs from what the page shows."""
    caller = scorer()
    view = jobs.view_job(calls.context(), caller, job_id)
    return answers.fragment(
        "job_state.html", view.etag, final=view.final, values=partial(_job_values, caller, view, live=True)
    )


@blueprint.post("")
def cancel_job(job_id: str) -> Response:
    """Cancel an unfinished job."""
    caller = scorer()
    check_form()
    if request.form.get("do") != "cancel":
        raise BadRequest("The form does not say what to change. Load the page again.")
    try:
        jobs.cancel_job(calls.context(), caller, job_id, request.cookies.get(KEY_COOKIE))
    except Conflict as error:
        view = jobs.view_job(calls.context(), caller, job_id)
        values = {**_job_values(caller, view), "problem": problem_of(error)}
        return with_status_of(answers.page("job.html", **values), error)
    return answers.go_to(_job_address(job_id))


@blueprint.get("/delete")
def ask_delete(job_id: str) -> Response:
    """Ask once more before deleting."""
    jobs.view_job(calls.context(), scorer(), job_id)
    return answers.page("job_delete.html", job_id=job_id)


@blueprint.post("/delete")
def delete_job(job_id: str) -> Response:
    """Delete texts and results."""
    caller = scorer()
    check_form()
    jobs.delete_job(calls.context(), caller, job_id, request.cookies.get(KEY_COOKIE))
    return answers.go_to("/jobs/new")


@blueprint.get("/comparisons")
def get_comparisons(job_id: str) -> Response:
    """Send the comparisons in one of the export formats."""
    query, _ = answers.query(queries.COMPARISONS)
    view = results.job_comparisons(calls.context(), scorer(), job_id, query)
    return finished(api_answers.conditional(view, kind=api_answers.Kind.PAGE))


@blueprint.get("/items")
def get_items(job_id: str) -> Response:
    """Send sentence by sentence what a metric found in an output."""
    query, _ = answers.query(queries.ITEMS)
    form = query.format or "json"
    page = results.job_items(calls.context(), scorer(), job_id, query)
    return finished(download(item_page(page, form), f"{query.system}.{query.metric}.{form}"))


def _job_address(job_id: str) -> str:
    return f"/j/{quote(job_id, safe='')}"


def _job_values(caller: Caller, view: View, *, live: bool = False) -> dict[str, Any]:
    """Return what the templates of a job show.

    Args:
        caller: who looks.
        view: of the job.
        live: whether the page asks, whose address has no query of its own.
    """
    document = orjson.loads(view.body)
    own = {} if live else answers.query(queries.NOTHING, ALL_SCORES)[1]
    every = own.get(ALL_SCORES) == "all"
    values: dict[str, Any] = {
        "job": document, "version": view.etag, "final": view.final, "problem": None, "exports": EXPORTS,
        "may_change": not caller.anonymous or KEY_COOKIE in request.cookies, "most_items": MOST_ITEMS,
        "unsigned": caller.anonymous, "columns": (), "rows": (), "left": 0, "every": every, "compared": (),
        "errors": _placed(document.get("failure")), "metrics": (),
    }  # fmt: skip
    found = document["results"]
    if found is None or not found.get("systems"):
        return values
    systems, comparisons = found["systems"], found.get("comparisons") or ()
    names = ScoreNames(_scoring(systems[0]["metrics"]))
    columns, left = _columns(systems, comparisons, names, every=every)
    return values | {
        "columns": columns, "left": left, "rows": [_system_row(system, columns, comparisons) for system in systems],
        "compared": [_job_comparison(comparison, names) for comparison in comparisons],
        "metrics": list(systems[0]["metrics"]), "item_total": _sentences(systems[0]["metrics"]),
    }  # fmt: skip


def _placed(failure: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the errors of a failure with the file that each is in."""
    placed = []
    for error in (failure or {}).get("errors", ()):
        steps = error.get("pointer", "").split("/")
        file = "gold" if steps[1:2] == ["gold"] else ""
        if steps[1:2] == ["systems"] and steps[2:3] and steps[2].isdecimal():
            file = f"output {int(steps[2]) + 1}"
        placed.append({**error, "file": file} if file else error)
    return placed


def _scoring(metrics: Mapping[str, Any]) -> dict[str, Json]:
    """Return the scoring configuration that the signatures of a system's metrics tell."""
    signatures = {key: metric["signature"] for key, metric in metrics.items()}
    return {
        "format": next(iter(signatures.values()))["format"],
        "transforms": [],
        "metrics": [{"name": each["metric"], "key": key, "params": each["params"]} for key, each in signatures.items()],
    }


def _columns(
    systems: Sequence[Mapping[str, Any]], comparisons: Sequence[Mapping[str, Any]], names: ScoreNames, *, every: bool
) -> tuple[list[NamedScore], int]:
    """Return the scores to show, the compared one first, and how many are left out."""
    metrics = systems[0]["metrics"]
    listed = [f"{key}.{name}" for key, metric in metrics.items() for name, _ in flat_values(metric["scores"])]
    main = comparisons[0]["score"] if comparisons else listed[0]
    others = [address for address in listed if address != main]
    shown = [names(address) for address in others] if every else names.columns(main, listed)
    return [names(main), *shown], len(others) - len(shown)


def _system_row(
    system: Mapping[str, Any], columns: Sequence[NamedScore], comparisons: Sequence[Mapping[str, Any]]
) -> dict[str, object]:
    cells = []
    for column in columns:
        key, _, name = column.address.partition(".")
        cells.append(column.figures.value(member_at(system["metrics"][key]["scores"], name)))
    ranked = comparisons[0]["systems"] if comparisons else ()
    bounds = next((each.get("ci") for each in ranked if each["name"] == system["name"]), None)
    interval = "" if bounds is None else columns[0].figures.interval(bounds["low"], bounds["high"])
    return {"name": system["name"], "cells": cells, "interval": interval}


def _job_comparison(comparison: Mapping[str, Any], names: ScoreNames) -> dict[str, object]:
    """Return one score's comparison as the page shows it."""
    score = names(comparison["score"])
    alpha = comparison["alpha"]
    pairs = []
    for pair in comparison["pairs"][:MOST_PAIRS]:
        bounds, p = pair.get("ci"), pair.get("p_adjusted")
        pairs.append({
            "a": pair["a"], "b": pair["b"], "difference": score.figures.difference(pair.get("difference")),
            "span": "" if bounds is None else score.figures.span(bounds["low"], bounds["high"]),
            "p": pair.get("p"), "adjusted": p, "significant": p is not None and p <= alpha,
        })  # fmt: skip
    units, correction = units_name(str(comparison["units"])), correction_name(str(comparison["correction"]))
    tested = counted(len(comparison["pairs"]), "pair")
    caption = (
        f"{score.label}: differences of {tested}, tested over {counted(comparison['unit_count'], units[:-1])}. The "
        f"corrected p is {correction}'s over these pairs; bold rows are significant at α = {alpha:g}."
    )
    return {
        "score": score, "pairs": pairs, "caption": caption, "left": len(comparison["pairs"]) - len(pairs),
        "warnings": comparison["warnings"], "address": comparison["score"],
    }  # fmt: skip


def _sentences(metrics: Mapping[str, Any]) -> int:
    return max((metric["sentences"]["total"] for metric in metrics.values()), default=0)
