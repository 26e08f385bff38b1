"""Show pages of items as JSON, lines of JSON or CSV."""

from __future__ import annotations

from flask import Response

from service.api import answers, calls
from service.api.answers import Kind
from service.usecases.runs.views import JSON_TYPE, Page, body_view
from treescore.render import ITEM_FORMATS, render_items

FORMS = {"json": JSON_TYPE, **ITEM_FORMATS}


def item_page(page: Page, asked: str | None, kind: Kind = Kind.FORMS) -> Response:
    """Return a page in the format of the query or of Accept, with a link to the next page.

    Raises:
        NotAcceptable: Accept names none of the formats.
    """
    form = calls.form(FORMS, asked)
    if form == "json":
        return answers.page(page, kind=kind)
    shown = render_items(page.items, form)
    view = body_view(shown.content, shown.media_type)
    return answers.linked(answers.conditional(view, kind=kind), page.next)
