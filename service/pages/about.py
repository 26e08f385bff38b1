"""What a benchmark says of itself, and what each of its revisions changed.

Description, rules, licence, citation, contact and links; its parts and settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from flask import Response

from service.api import calls
from service.pages import answers
from service.pages.benchmarks import benchmark_document
from service.pages.board import shown_board
from service.pages.figures import ScoreNames
from service.pages.markdown import strangers_html
from service.pages.visitors import visitor
from service.schemas import queries
from service.usecases.benchmarks import revisions

blueprint = answers.pages("about", "/b/<benchmark>/about")
TEXTS = {"description": "", "rules": "Rules", "licence": "Licence", "citation": "Citation", "contact": "Contact"}
FEEDBACK = {
    "none": "nothing but that it was received",
    "status": "whether it could be scored",
    "rounded": "rounded scores and ranks",
    "scores": "scores, intervals and tests",
    "items": "scores, tests and its own wrong words or brackets",
    "gold": "everything, the gold standard too",
}
"""What a team learns of a submission, by feedback level."""


@blueprint.get("")
def show_about(benchmark: str) -> Response:
    """Show what the organisers say of a benchmark."""
    document = benchmark_document(visitor().caller, benchmark)
    about = document["about"]
    texts = [(title, strangers_html(about[name])) for name, title in TEXTS.items() if about.get(name)]
    names = ScoreNames(document, None)
    return answers.page(
        "about.html", **shown_board(document), texts=texts, links=about.get("links") or (),
        main=names(document["main_score"]), feedback=FEEDBACK,
    )  # fmt: skip


revisions_blueprint = answers.pages("revisions", "/b/<benchmark>/revisions")
SETTINGS = {"format": "format", "transforms": "transforms", "metrics": "metrics", "main_score": "main score",
            "errors": "what missing sentences cost"}  # fmt: skip


@revisions_blueprint.get("")
def show_revisions(benchmark: str) -> Response:
    """Show the revisions, newest first."""
    caller = visitor().caller
    query, _ = answers.query(queries.PAGE)
    listed = revisions.list_revisions(calls.context(), caller, benchmark, query)
    document = benchmark_document(caller, benchmark)
    numbers = [int(str(item["number"])) for item in listed.items]
    shown = [orjson.loads(revisions.view_revision(calls.context(), caller, benchmark, each).body) for each in numbers]
    before = {each["number"]: each for each in shown}
    rows = [{"revision": each, "changes": list(_changes(before.get(each["number"] - 1), each))} for each in shown]
    names = ScoreNames(document, None)
    return answers.page(
        "revisions.html", **shown_board(document), rows=rows, next=listed.next,
        figures_of=lambda revision: names(revision["main_score"]).figures,
    )  # fmt: skip


def _changes(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a revision changed, in words."""
    if before is None:
        return
    yield from (f"changed: {words}" for name, words in SETTINGS.items() if before[name] != after[name])
    old, new = before["parts"], after["parts"]
    for words, names in (
        ("new gold", [name for name in new if name in old and old[name]["gold"] != new[name]["gold"]]),
        ("added", [name for name in new if name not in old]),
        ("left out", [name for name in old if name not in new]),
    ):
        if names:
            yield f"{words}: {', '.join(names[:20])}{f' and {len(names) - 20} more' if len(names) > 20 else ''}"
