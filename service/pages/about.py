"""What a benchmark says of itself: description, rules, licence, citation, contact and links; its parts and settings."""

from __future__ import annotations

from flask import Response

from service.pages import answers
from service.pages.benchmarks import benchmark_document
from service.pages.board import shown_board
from service.pages.score_names import ScoreNames
from service.pages.visitors import visitor
from service.render.markdown_text import markdown_html

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
    texts = [(title, markdown_html(about[name])) for name, title in TEXTS.items() if about.get(name)]
    names = ScoreNames(document, None)
    return answers.page(
        "about.html", **shown_board(document), texts=texts, links=about.get("links") or (),
        main=names(document["main_score"]), feedback=FEEDBACK,
    )  # fmt: skip
