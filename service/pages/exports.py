"""Exports of what pages show: the API's addresses, or the page's own for visitors who are signed in.

The API does not know the session, so that an export that needs one is answered by the pages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlencode

from flask import Response

from service.api import answers as api_answers
from service.pages import answers
from service.pages.downloads import file_name
from service.pages.visitors import visitor
from service.usecases.runs.views import View

NAMES = {"csv": "CSV", "tsv": "TSV", "markdown": "Markdown", "latex": "LaTeX", "svg": "SVG", "json": "JSON"}
PAGES_OWN = ("sort", "version", "order", "shade", "a", "b", "format")
"""Parameters that the API does not know."""


def links(api: str, page: str, query: Mapping[str, str], formats: Collection[str]) -> list[tuple[str, str]]:
    """Return names and addresses of the formats of an export.

    Args:
        api: its address in the API.
        page: its address among the pages.
        query: of the page.
        formats: that there are.
    """
    address = api if visitor().signed is None else page
    members = {name: value for name, value in query.items() if value and name not in PAGES_OWN}
    return [
        (words, f"{address}?{urlencode({**members, 'format': form})}")
        for form, words in NAMES.items()
        if form in formats
    ]


def export(view: View, name: str) -> Response:
    """Return an export as a file of this name."""
    response = answers.finished(api_answers.conditional(view, kind=api_answers.Kind.PAGE))
    response.headers["Content-Disposition"] = f'inline; filename="{file_name(name)}"'
    return response
