"""The sentences of a job: one system beside gold, or two systems in the sentences where they differ."""

from __future__ import annotations

from dataclasses import replace

import orjson
from flask import Response

from service.api import calls
from service.errors import NotFound
from service.pages import answers, tree_pictures
from service.pages.exports import export
from service.pages.sentences import SVG, asked_of_trees, members_of, shown_window
from service.pages.visitors import scorer
from service.requests import JobTreesQuery
from service.schemas import queries
from service.usecases.jobs.jobs import view_job
from service.usecases.jobs.trees import job_window
from service.usecases.runs.views import body_view

blueprint = answers.pages("job_sentences", "/j/<job>/sentences")
MEMBERS = ("system", "differs_from", "wrong", "label", "q", "order")


@blueprint.get("")
def show_job_sentence(job: str) -> Response:
    """Show one sentence of a job, by default the first of those that are asked for."""
    caller = scorer()
    document = orjson.loads(view_job(calls.context(), caller, job).body)
    systems = [system["name"] for system in (document["results"] or {}).get("systems") or ()]
    query = _job_trees_query(systems)
    found = job_window(calls.context(), caller, job, query)
    members = members_of(query, MEMBERS)
    beside = None
    if query.differs_from is not None and found.current is not None:
        other = replace(query, system=query.differs_from, differs_from=None, item=found.current["item"])
        tree = job_window(calls.context(), caller, job, other).current
        beside = None if tree is None else tree_pictures.picture_of(tree, f"Sentence {tree['item']}", "other")
    return answers.page(
        "job_sentences.html", job=document, systems=systems, beside=beside,
        **shown_window(found, members, f"/j/{job}/sentences"),
    )  # fmt: skip


@blueprint.get("/picture.svg")
def show_job_picture(job: str) -> Response:
    """Show the picture of one sentence of a job as a file."""
    found = job_window(calls.context(), scorer(), job, _job_trees_query([]))
    if found.current is None:
        raise NotFound("No sentence is chosen.")
    tree = found.current
    svg = tree_pictures.svg_of(tree, f"Sentence {tree['item']}")
    return export(body_view(svg.encode(), SVG), f"{job}-{tree['item']}.svg")


def _job_trees_query(systems: list[str]) -> JobTreesQuery:
    given = asked_of_trees()
    return calls.load_query(queries.JOB_TREES, {"system": systems[:1], **given} if systems else given)
