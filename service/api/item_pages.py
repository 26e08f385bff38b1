"""Pages of items as JSON, lines of JSON or CSV."""

from __future__ import annotations

from flask import Response

from service.api import answers, calls
from service.usecases.runs.views import JSON_TYPE, Page, View, etag_of
from treescore.render import ITEM_FORMATS, render_items

FORMS = {"json": JSON_TYPE, **ITEM_FORMATS}


def item_page(found: Page, asked: str | None) -> Response:
    """A page in the form that the query or Accept asks for; the next one is a link in every form.

    Raises:
        NotAcceptable: Accept names nothing that there is.
    """
    form = calls.form(FORMS, asked)
    if form == "json":
        return answers.varied(answers.page(found))
    shown = render_items(found.items, form)
    view = View(shown.content, etag_of(shown.content), content_type=shown.media_type)
    return answers.varied(answers.linked(answers.conditional(view), found.next))
