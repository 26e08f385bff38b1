"""What a finished job shows beside its document: items, slices, reports, comparisons."""

from __future__ import annotations

from typing import Any

import orjson

from service.caller import Caller
from service.context import Context
from service.errors import SOON, Conflict, NotFound
from service.store import artifacts, jobs
from service.store.runs import SUCCEEDED
from service.usecases.access.access import item_number
from service.usecases.jobs.jobs import view_job
from service.usecases.runs.views import Page, View, etag_of, json_view
from service.usecases.scoring.results import ITEMS_PER_PAGE
from treescore.render import render_comparisons


def artifact_name(kind: str, metric: int, system: int) -> str:
    """Where a worker puts what it made of one metric entry and one system, both by position."""
    return f"{kind}/{metric}/{system}"


def job_items(
    context: Context, caller: Caller, job_id: str, system: str, metric: str, cursor: str | None, limit: int
) -> Page:
    """Sentences of one system under one metric, from after the item numbered `cursor`."""
    start = item_number(cursor)
    place = _place(context, caller, job_id, system, metric)
    name = artifact_name("items", *place)
    items: list[dict[str, Any]] = []
    position = start
    with context.store.read() as db:
        while len(items) <= limit:
            page = artifacts.get(db, job_id, name, position // ITEMS_PER_PAGE)
            if page is None:
                break
            rows = artifacts.unpack_json(page)[position % ITEMS_PER_PAGE :]
            if not rows:
                break
            items.extend(rows)
            position += len(rows)
    more = len(items) > limit
    return Page(items[:limit], str(start + limit) if more else None)


def job_slices(context: Context, caller: Caller, job_id: str, system: str, metric: str, by: str | None) -> View:
    """Scores by groups of sentences, words or brackets; without `by`, the names of the groupings.

    Raises:
        NotFound: there is no such grouping.
    """
    place = _place(context, caller, job_id, system, metric)
    groupings: dict[str, Any] = _artifact(context, job_id, artifact_name("slices", *place))
    if by is None:
        return json_view({"system": system, "metric": metric, "groupings": sorted(groupings)})
    if by not in groupings:
        raise NotFound(f"There is no grouping {by!r} here. There are: {', '.join(sorted(groupings)) or 'none'}.")
    return json_view({"system": system, "metric": metric, "by": by, "slices": groupings[by]})


def job_report(context: Context, caller: Caller, job_id: str, system: str, metric: str, style: str) -> View:
    """The original program's own layout, as text.

    Raises:
        NotFound: the metric has no such style.
    """
    place = _place(context, caller, job_id, system, metric)
    reports: dict[str, str] = _artifact(context, job_id, artifact_name("reports", *place))
    if style not in reports:
        known = ", ".join(sorted(reports)) or "none"
        raise NotFound(f"The metric {metric!r} has no report style {style!r}. It has: {known}.")
    body = reports[style].encode()
    return View(body, etag_of(body), content_type="text/plain; charset=utf-8")


def job_comparisons(
    context: Context, caller: Caller, job_id: str, score: str | None = None, form: str = "json"
) -> View:
    """The significance documents of a job, or the one of a score, in one of `service.render.FORMATS`.

    Raises:
        NotFound: the score was not compared.
    """
    document = _finished(context, caller, job_id)
    # a validation compares nothing
    chosen: list[dict[str, Any]] = document["results"].get("comparisons", [])
    if score is not None:
        known = ", ".join(comparison["score"] for comparison in chosen) or "none"
        chosen = [comparison for comparison in chosen if comparison["score"] == score]
        if not chosen:
            raise NotFound(f"The score {score!r} was not compared in this job. Compared were: {known}.")
    if form == "json":
        return json_view({"items": chosen})
    shown = render_comparisons(chosen, form)
    return View(shown.content, etag_of(shown.content), content_type=shown.media_type)


def job_agreement(context: Context, caller: Caller, job_id: str) -> View:
    """Agreement between the metrics of a job, where the job asked for it.

    Raises:
        NotFound: it did not.
    """
    document = _finished(context, caller, job_id)
    found = document["results"].get("agreement")
    if found is None:
        raise NotFound('The job did not ask for agreement. Name pairs of scores under "agreement" in the job.')
    return json_view({"agreement": found})


def _finished(context: Context, caller: Caller, job_id: str) -> dict[str, Any]:
    view = view_job(context, caller, job_id)
    if not view.final:
        raise Conflict(
            f"The job {job_id} is {view.state}; ask again when it has finished.",
            slug="not-finished",
            title="The job has not finished",
            headers=SOON,
        )
    if view.state != SUCCEEDED:
        raise Conflict(
            f"The job {job_id} is {view.state} and has no results.", slug="no-results", title="The job has no results"
        )
    document: dict[str, Any] = orjson.loads(view.body)
    return document


def _place(context: Context, caller: Caller, job_id: str, system: str, metric: str) -> tuple[int, int]:
    view = view_job(context, caller, job_id)
    if not view.final or view.state != SUCCEEDED:
        _finished(context, caller, job_id)
    with context.store.read() as db:
        job = jobs.get(db, job_id)
    request = {} if job is None else job.request
    keys = [item if isinstance(item, str) else item.get("key", item["name"]) for item in request.get("metrics", ())]
    names = [item["name"] for item in request.get("systems", ())]
    if metric not in keys:
        raise NotFound(f"The job has no metric {metric!r}. It has: {', '.join(keys)}.")
    if system not in names:
        raise NotFound(f"The job has no system {system!r}. It has: {', '.join(names[:20])}.")
    return keys.index(metric), names.index(system)


def _artifact(context: Context, job_id: str, name: str) -> Any:
    with context.store.read() as db:
        body = artifacts.get(db, job_id, name)
    if body is None:
        raise NotFound("This was not kept for this job.")
    return artifacts.unpack_json(body)
