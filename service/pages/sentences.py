"""The sentences of a submission, one at a time: the trees of output and gold, as far as the visitor may see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from flask import Response, request

from service.api import calls
from service.caller import Caller
from service.errors import NotFound
from service.pages import answers, tree_pictures
from service.pages.exports import export
from service.pages.visitors import member
from service.requests import ORDERS, WRONG_KINDS, JobTreesQuery, SubmissionTreesQuery
from service.schemas import queries
from service.usecases.runs.views import body_view
from service.usecases.submissions.trees import heading_of, submission_window
from service.usecases.trees.window import Window

blueprint = answers.pages("sentences", "/s/<submission>/sentences")
SVG = "image/svg+xml"
NUMBER = "n"
AGAINST = "against"
FILTERS = ("part", "wrong", "label", "q", "order")
SNIPPET = 60
"""Letters of a sentence in the list."""
WRONG_WORDS = {"any": "anything", "head": "the head", "label": "only the label", "span": "a constituent"}
ORDER_WORDS = {"-errors": "most errors first"}


@blueprint.get("")
def show_sentence(submission: str) -> Response:
    """Show one sentence, by default the first of those that are asked for."""
    caller = member("submit", "read")
    query, against = _submission_trees_query()
    heading = heading_of(calls.context(), caller, submission)
    query = replace(query, part=query.part or heading.parts[0])
    found = submission_window(calls.context(), caller, submission, query, against)
    members = members_of(query, FILTERS) | ({} if against is None else {AGAINST: against})
    return answers.page(
        "sentences.html", submission=heading,
        other=None if against is None else heading_of(calls.context(), caller, against),
        beside=() if against is None else _beside(caller, against, query, found),
        **shown_window(found, members, f"/s/{submission}/sentences"),
    )  # fmt: skip


@blueprint.get("/picture.svg")
def show_picture(submission: str) -> Response:
    """Show the picture of one sentence as a file."""
    caller = member("submit", "read")
    query, against = _submission_trees_query()
    found = submission_window(calls.context(), caller, submission, query, against)
    if found.current is None:
        raise NotFound("No sentence is chosen.")
    tree = found.current
    svg = tree_pictures.svg_of(tree, f"Sentence {tree['item']}")
    return export(body_view(svg.encode(), SVG), f"{submission}-{tree['item']}.svg")


def _beside(
    caller: Caller, against: str, query: SubmissionTreesQuery, found: Window
) -> list[tree_pictures.Picture]:  # fmt: skip
    """Return the pictures of the other submission in the sentence that is looked at."""
    if found.current is None:
        return []
    wanted = SubmissionTreesQuery(part=query.part, item=int(str(found.current["item"])))
    tree = submission_window(calls.context(), caller, against, wanted).current
    return [] if tree is None else tree_pictures.picture_of(tree, f"Sentence {tree['item']}", "other")


def _submission_trees_query() -> tuple[SubmissionTreesQuery, str | None]:
    """Return which sentence is asked for, and the submission that it is compared with."""
    given = asked_of_trees()
    against = given.pop(AGAINST, [None])[0]
    return calls.load_query(queries.SUBMISSION_TREES, given), against


def asked_of_trees() -> dict[str, Any]:
    """Return what the address asks of trees, the number of the sentence as `item`; empty controls are not given."""
    given = request.args.to_dict(flat=False)
    return {"item" if name == NUMBER else name: values for name, values in given.items() if values != [""]}


def members_of(query: SubmissionTreesQuery | JobTreesQuery, names: Sequence[str]) -> dict[str, Any]:
    """Return the members of these names that a query gives."""
    return {name: value for name in names if (value := getattr(query, name)) is not None}


def shown_window(found: Window, members: Mapping[str, Any], address: str) -> dict[str, Any]:
    """Return what the template shows of some sentences.

    Args:
        found: the current sentence and those around it.
        members: of the query that chooses them.
        address: of the page.
    """

    def at(item: object) -> str:
        return f"{address}?{urlencode({**members, NUMBER: item})}"

    tree = found.current
    return {
        "window": found,
        "tree": tree,
        "pictures": [] if tree is None else tree_pictures.picture_of(tree, f"Sentence {tree['item']}"),
        "errors": None if tree is None else tree_pictures.errors_of(tree),
        "listed": [(each, at(each.item), each.text[:SNIPPET]) for each in found.around],
        "members": members,
        "address": address,
        "here_link": None if tree is None else at(tree["item"]),
        "svg_link": None if tree is None else f"{address}/picture.svg?{urlencode({**members, NUMBER: tree['item']})}",
        "previous": None if found.before is None else at(found.before),
        "following": None if found.after is None else at(found.after),
        "kinds": {kind: WRONG_WORDS.get(kind, kind) for kind in WRONG_KINDS},
        "orders": {order: ORDER_WORDS.get(order, order) for order in ORDERS},
    }
