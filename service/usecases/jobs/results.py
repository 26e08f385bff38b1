"""Results of a finished job beside its document: items, slices, reports, comparisons, trees of one system and gold.

All are the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypedDict

import orjson
from sqlalchemy import Connection

from service import requests
from service.caller import Caller
from service.context import Context
from service.errors import SOON, Conflict, NotFound, Unprocessable
from service.render.leaderboard import percent_of
from service.store import artifacts, jobs
from service.store.runs import SUCCEEDED
from service.usecases.access.access import item_number
from service.usecases.jobs.jobs import view_job
from service.usecases.runs.views import TEXT_TYPE, Page, View, body_view, items_page, json_view
from service.usecases.scoring.config import stored_spec
from service.usecases.scoring.results import ArtifactKey, StoredItems, load_output_items, load_slices, slices_view
from service.usecases.trees.choosing import DIFFERS, TREES_NOT_KEPT, Asked, Window, differing, listed, tree_page, window
from service.usecases.trees.documents import Document, OutputTrees
from service.usecases.trees.stored import JOB_GOLD, TreesKey
from treescore.core.arrays import BoolArray
from treescore.core.wording import did_you_mean
from treescore.evaluation.spec import Entry
from treescore.render import render_comparisons

RESULT_NOT_KEPT = "This result was not kept for this job."


class _Results(TypedDict, total=False):
    """What is read of the results of a job; those of a validation have neither."""

    comparisons: list[dict[str, object]]
    across: dict[str, object]
    agreement: list[dict[str, object]]


def job_items(context: Context, caller: Caller, job_id: str, query: requests.ItemsQuery) -> Page:
    """Return the items of one system under one metric, from after the item numbered `cursor`."""
    key, entry = _scored(context, caller, job_id, query)
    if not query.choice.everything:
        return _chosen_items(context, job_id, key, entry, query)
    start = item_number(query.cursor)
    with context.store.read() as db:
        items = load_output_items(db, job_id, key, entry.metric.table, start, start + query.limit + 1)
    return items_page(items, start, query.limit)


def _chosen_items(context: Context, job_id: str, key: ArtifactKey, entry: Entry, query: requests.ItemsQuery) -> Page:
    with context.store.read() as db:
        trees = OutputTrees(db, job_id, TreesKey(key.output), (job_id, JOB_GOLD))
        if not trees.beside_gold:
            raise NotFound(f"{RESULT_NOT_KEPT} Items cannot be chosen without stored trees.")
        asked = Asked((job_id, str(key.output), str(key.metric)), query.choice, query.cursor, query.limit)
        found = listed(trees, asked, beside_gold=True)
        return found.page(StoredItems(db, job_id, key, entry.metric.table).each(found.sentences))


def job_slices(context: Context, caller: Caller, job_id: str, query: requests.SlicesQuery) -> View:
    """Return scores by groups of sentences, words or brackets; without `by`, the names of the groupings.

    Raises:
        NotFound: unknown grouping.
    """
    key, _ = _scored(context, caller, job_id, query)
    with context.store.read() as db:
        groupings = load_slices(db, job_id, key)
    if groupings is None:
        raise NotFound(RESULT_NOT_KEPT)
    head = {"system": query.system, "metric": query.metric}
    return slices_view(head, sorted(groupings), query.by, lambda by: list(groupings[by]))


def job_report(context: Context, caller: Caller, job_id: str, query: requests.ReportQuery) -> View:
    """Return the report in the original program's own layout, as text.

    Raises:
        NotFound: the metric has no report of this style.
    """
    key, _ = _scored(context, caller, job_id, query)
    with context.store.read() as db:
        packed = artifacts.get(db, job_id, key.name("reports"))
    if packed is None:
        raise NotFound(RESULT_NOT_KEPT)
    reports: dict[str, str] = artifacts.unpack_json(packed)
    if query.style not in reports:
        known = f"Its styles: {', '.join(sorted(reports)) or 'none'}.{did_you_mean(query.style, reports)}"
        raise NotFound(f"The metric {query.metric!r} has no report style {query.style!r}. {known}")
    return body_view(reports[query.style].encode(), TEXT_TYPE)


def job_comparisons(context: Context, caller: Caller, job_id: str, query: requests.ComparisonsQuery) -> View:
    """Return the significance documents of a job, or the one of a score, in one of `treescore.render.FORMATS`.

    Raises:
        NotFound: the score was not compared.
    """
    results = _results(context, caller, job_id)
    chosen, across = results.get("comparisons", []), results.get("across")
    if query.score is not None:
        known = ", ".join(str(comparison["score"]) for comparison in chosen) or "none"
        chosen = [comparison for comparison in chosen if comparison["score"] == query.score]
        if not chosen:
            raise NotFound(f"The score {query.score!r} was not compared in this job. Compared scores: {known}.")
        across = None
    if query.format == "json":
        return json_view({"items": chosen} if across is None else {"items": chosen, "across": across})
    shares = percent_of((str(comparison["score"]) for comparison in chosen), query.format)
    shown = render_comparisons(chosen, query.format, across, shares)
    return body_view(shown.content, shown.media_type)


def job_agreement(context: Context, caller: Caller, job_id: str) -> View:
    """Return the agreement between the metrics of a job, if the job asked for it.

    Raises:
        NotFound: it did not ask.
    """
    agreement = _results(context, caller, job_id).get("agreement")
    if agreement is None:
        raise NotFound('The job did not ask for agreement. Name pairs of scores under "agreement" in the job.')
    return json_view({"agreement": agreement})


def _results(context: Context, caller: Caller, job_id: str) -> _Results:
    results: _Results = orjson.loads(_finished(context, caller, job_id).body)["results"]
    return results


def _finished(context: Context, caller: Caller, job_id: str) -> View:
    view = view_job(context, caller, job_id)
    if not view.final:
        raise Conflict(
            f"The job {job_id} is {view.state}; ask again when it has finished.",
            slug="not-finished",
            headers=SOON,
        )
    if view.state != SUCCEEDED:
        raise Conflict(f"The job {job_id} is {view.state} and has no results.", slug="no-results")
    return view


def system_number(context: Context, caller: Caller, job_id: str, system: str) -> int:
    """Return the position of a system of a job that has results.

    Raises:
        NotFound: unknown system.
        Conflict: the job has not finished, or has no results.
    """
    _finished(context, caller, job_id)
    stored = _request(context, job_id)
    return _position(stored, system)


def _scored(context: Context, caller: Caller, job_id: str, query: requests.ResultQuery) -> tuple[ArtifactKey, Entry]:
    """Return the artifacts' key of one system under one metric, and the metric entry."""
    _finished(context, caller, job_id)
    stored = _request(context, job_id)
    entries = () if stored is None else stored_spec(stored.scoring).entries
    keys = [entry.key for entry in entries]
    if query.metric not in keys:
        raise NotFound(
            f"The job has no metric {query.metric!r}. Its metrics: {', '.join(keys)}.{did_you_mean(query.metric, keys)}"
        )
    metric = keys.index(query.metric)
    return ArtifactKey(_position(stored, query.system), metric), entries[metric]


def _request(context: Context, job_id: str) -> requests.JobRequest | None:
    """Return the request of a job; None of a validation, which has neither metrics nor systems."""
    with context.store.read() as db:
        job = jobs.get(db, job_id)
    return None if job is None or "metrics" not in job.request else requests.JobRequest.stored(job.request)


def _position(stored: requests.JobRequest | None, system: str) -> int:
    names = [] if stored is None else [each.name for each in stored.systems]
    if system not in names:
        known = f"Its systems: {', '.join(names[:20])}.{did_you_mean(system, names)}"
        raise NotFound(f"The job has no system {system!r}. {known}")
    return names.index(system)


def job_trees(context: Context, caller: Caller, job_id: str, query: requests.JobTreesQuery) -> Page:
    """Return the trees of one system, from after `cursor`; or of one item.

    Raises:
        NotFound: unknown system or item; no trees are stored.
        Conflict: the job has not finished, or has no results.
        Unprocessable: the cursor is invalid, or the systems cannot be compared.
    """
    with context.store.read() as db:
        trees, asked, shown = _chosen(db, context, caller, job_id, query)
        return tree_page(listed(trees, asked, beside_gold=trees.beside_gold), shown)


def job_window(context: Context, caller: Caller, job_id: str, query: requests.JobTreesQuery) -> Window:
    """Return the sentence `query.item` of one system, by default the first chosen one, among those around it.

    Raises:
        NotFound, Conflict, Unprocessable: as `job_trees`.
    """
    with context.store.read() as db:
        trees, asked, shown = _chosen(db, context, caller, job_id, query)
        beside = trees.beside_gold
        return window(trees, asked, shown, partial(trees.outline, beside_gold=beside, marks=beside), beside_gold=beside)


def _chosen(
    db: Connection, context: Context, caller: Caller, job_id: str, query: requests.JobTreesQuery
) -> tuple[OutputTrees, Asked, Callable[[int], Document]]:
    """Return the trees of one system, what of them is asked, and what shows a sentence."""
    number = system_number(context, caller, job_id, query.system)
    other = None if query.differs_from is None else system_number(context, caller, job_id, query.differs_from)
    trees = _stored(db, job_id, number)
    only = None if other is None else _differing(trees, _stored(db, job_id, other))
    owner = (job_id, str(number), *(() if other is None else (DIFFERS, str(other))))
    asked = Asked(owner, query.choice, query.cursor, query.limit, query.item, only)
    return trees, asked, trees.both if trees.beside_gold else lambda sentence: trees.own(sentence, marks=False)


def job_output(db: Connection, job_id: str, number: int) -> OutputTrees:
    """Return the trees of one system of a job, by position."""
    return OutputTrees(db, job_id, TreesKey(number), (job_id, JOB_GOLD))


def _stored(db: Connection, job_id: str, number: int) -> OutputTrees:
    trees = job_output(db, job_id, number)
    if not len(trees.text):
        raise NotFound(f"{RESULT_NOT_KEPT} {TREES_NOT_KEPT}")
    return trees


def _differing(one: OutputTrees, other: OutputTrees) -> BoolArray:
    if not (one.beside_gold and other.beside_gold):
        raise Unprocessable("The two systems were not compared with gold tree by tree.")
    return differing(one, other)
