"""The search over the documentation: as a page, and as the index that the script of the pages searches itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from flask import Response
from marshmallow.validate import Length

from service.api.answers import Kind, conditional
from service.pages import answers
from service.pages.docs import index, layout
from service.pages.docs.index import Entry
from service.schemas.base import Strict
from service.schemas.plain_fields import String
from service.usecases.runs.views import View, json_view

blueprint = layout.docs_pages("search")
LONGEST_QUERY = 200


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is searched for."""

    q: str = ""


class SearchParameters(Strict[SearchQuery]):
    """The query of the search page."""

    into = SearchQuery

    q = String(validate=Length(max=LONGEST_QUERY, error=f"At most {LONGEST_QUERY} characters are searched for."))


@blueprint.get("/search")
def show_search() -> Response:
    """Show what is found."""
    query, _ = answers.query(SearchParameters())
    found = index.found(query.q)
    shown = found[: index.MOST_FOUND]
    return answers.page(
        "docs_search.html", 200, **{**layout.contents(), "q": query.q, "found": shown, "total": len(found)}
    )


@blueprint.get("/index.json")
def show_index() -> Response:
    """Show all that can be found, for the script."""
    answers.query(layout.NoParameters())
    return answers.finished(conditional(_index(), kind=Kind.PUBLIC))


@cache
def _index() -> View:
    return json_view({"most": index.MOST_FOUND, "entries": [_row(entry) for entry in index.entries()]})


def _row(entry: Entry) -> list[str]:
    return [entry.name, entry.kind, entry.detail, entry.address]
