"""Show problem documents as pages, with the same status and headers."""

from __future__ import annotations

import orjson
from flask import Response, request

from service.api.problems import PROBLEM_JSON
from service.pages.answers import BLUEPRINTS, HTML, finished, render
from service.pages.visitors import shown_visitor

API = "/v1"


def as_page(response: Response) -> Response:
    """Return the page of a problem where a page was asked for; any other response unchanged."""
    if response.content_type != PROBLEM_JSON or not _page_wanted():
        return response
    document = orjson.loads(response.get_data())
    if response.status_code == 401:
        response.headers.pop("WWW-Authenticate", None)  # a browser would ask for a name and a password
    unknown = shown_visitor().signed is None
    body = render("problem.html", problem=document, sign_in=unknown and response.status_code in (401, 403))
    response.set_data(body)
    response.content_type = HTML
    return finished(response)


def _page_wanted() -> bool:
    """Return whether the address is that of a page, or unknown and asked for by a browser."""
    if request.blueprint is not None:
        return request.blueprint.startswith(BLUEPRINTS)
    return not request.path.startswith(API) and "text/html" in request.headers.get("Accept", "")
