"""The guides, rendered from the Markdown beside the service."""

from __future__ import annotations

from flask import Response

from service.errors import NotFound
from service.pages import answers
from service.pages.docs import guides, layout

blueprint = layout.docs_pages("guides")
NO_GUIDES = "This installation has no guides: the folder `docs` of the repository is not beside the folder `service`."


@blueprint.get("/guides")
def list_guides() -> Response:
    """Show which guides there are."""
    answers.query(layout.NoParameters())
    return layout.docs_page("docs_guides.html", "", dict)


@blueprint.get("/guides/<path:name>")
def show_guide(name: str) -> Response:
    """Show a guide."""
    answers.query(layout.NoParameters())
    guide = guides.guides().get(name)
    if guide is None:
        raise NotFound("Unknown guide. /docs/guides lists them." if guides.guides() else NO_GUIDES)
    return layout.docs_page("docs_guide.html", "", lambda: {"guide": guide, "html": guides.shown(guide)})
