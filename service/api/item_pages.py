"""Show pages of items as JSON, lines of JSON or CSV."""

from __future__ import annotations

from flask import Response

from service.api import answers, calls
from service.usecases.runs.views import JSON_TYPE, Page, body_view
from treescore.render import ITEM_FORMATS, render_items

FORMS = {"json": JSON_TYPE, **ITEM_FORMATS}


def item_page(page: Page, asked: str | None) -> Response:
    """Return a page in the format of the query or of Accept, with a link to the next page.

    Raises:
        NotAcceptable: Accept names none of the formats.
    """
    form = calls.form(FORMS, asked)
    if form == "json":
        return answers.varied(answers.page(page))
    shown = render_items(page.items, form)
    response = answers.conditional(body_view(shown.content, shown.media_type))
    return answers.varied(answers.linked(response, page.next))
