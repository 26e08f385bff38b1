"""Views and pages as responses: validators, 304, cursors."""

from __future__ import annotations

from urllib.parse import urlencode

import orjson
from flask import Response, request

from service.usecases.views import JSON_TYPE, Page, View, etag_of

RETRY_AFTER = "1"


def conditional(view: View, wait: int | None = None) -> Response:
    """200 with the body, or 304 where the client has it."""
    if not request.if_none_match.contains_weak(view.etag):
        return _waiting(plain(view), view, wait)
    response = Response(status=304)
    response.set_etag(view.etag)
    del response.headers["Content-Type"]
    return _waiting(response, view, wait)


def plain(view: View, status: int = 200) -> Response:
    """The body, with its validator."""
    response = Response(view.body, status, content_type=view.content_type)
    response.set_etag(view.etag)
    return response


def accepted(view: View, location: str, wait: int | None, *, repeated: bool) -> Response:
    """201 where it is done, else 202."""
    response = plain(view, 201 if view.final else 202)
    response.headers["Location"] = location
    if repeated:
        response.headers["Idempotent-Replayed"] = "true"
    return _waiting(response, view, wait)


def nothing() -> Response:
    """204: done, and nothing to show."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def unstored(response: Response) -> Response:
    """The answer, not to be kept by any cache."""
    response.headers["Cache-Control"] = "no-store"
    return response


def page(found: Page) -> Response:
    """A page of a list, with `next` in the body and as a link."""
    body = orjson.dumps({"items": list(found.items), "next": found.next}, option=orjson.OPT_NON_STR_KEYS)
    response = conditional(View(body, etag_of(body), content_type=JSON_TYPE))
    if found.next is not None:
        arguments = {**request.args, "cursor": found.next}
        response.headers["Link"] = f'<{request.path}?{urlencode(arguments)}>; rel="next"'
    return response


def _waiting(response: Response, view: View, wait: int | None) -> Response:
    if wait is not None:
        response.headers["Preference-Applied"] = f"wait={wait}"
    if not view.final:
        response.headers["Retry-After"] = RETRY_AFTER
    return response
