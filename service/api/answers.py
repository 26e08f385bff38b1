"""Make responses of views and pages: validators, 304, cursors."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import orjson
from flask import Response, request

from service.errors import SOON
from service.usecases.runs.views import JSON_TYPE, Page, View, json_view


def conditional(view: View, wait: int | None = None) -> Response:
    """Return 200 with the body, or 304 if the client has it."""
    if not request.if_none_match.contains_weak(view.etag):
        return _waiting(plain(view), view, wait)
    response = Response(status=304)
    response.headers.add("ETag", f'"{view.etag}"')
    del response.headers["Content-Type"]
    return _waiting(response, view, wait)


def plain(view: View, status: int = 200) -> Response:
    """Return the body with its validator."""
    response = Response(view.body, status, content_type=view.content_type)
    response.headers.add("ETag", f'"{view.etag}"')
    return response


def accepted(view: View, location: str, wait: int | None, *, repeated: bool) -> Response:
    """Return 201 if the work is done, else 202."""
    response = plain(view, 201 if view.final else 202)
    return _made(response, view, location, wait, repeated=repeated)


def created(view: View, location: str, wait: int | None, *, repeated: bool) -> Response:
    """Return 201: the resource exists, even if work on it is not finished."""
    return _made(plain(view, 201), view, location, wait, repeated=repeated)


def secret(document: Mapping[str, object], location: str) -> Response:
    """Return 201 with a secret that is shown only once."""
    response = Response(orjson.dumps(document), 201, content_type=JSON_TYPE)
    response.headers["Location"] = location
    return unstored(response)


def with_secret(response: Response, members: Mapping[str, object]) -> Response:
    """Add members that only this answer shows to its JSON object; its ETag stays that of the resource."""
    response.set_data(response.get_data()[:-1] + b"," + orjson.dumps(members)[1:])
    return unstored(response)


def nothing() -> Response:
    """Return 204."""
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response


def unstored(response: Response) -> Response:
    """Return the response, marked so that no cache stores it."""
    response.headers["Cache-Control"] = "no-store"
    return response


def page(shown: Page, name: str = "cursor") -> Response:
    """Return a page of a list, with `next` in the body and as a link with the parameter `name`."""
    return linked(conditional(json_view({"items": list(shown.items), "next": shown.next})), shown.next, name)


def linked(response: Response, cursor: str | None, name: str = "cursor") -> Response:
    """Return the response with a link to the next page, if there is one."""
    if cursor is not None:
        arguments = {**request.args, name: cursor}
        response.headers["Link"] = f'<{request.path}?{urlencode(arguments)}>; rel="next"'
    return response


def varied(response: Response) -> Response:
    """Return the response with `Vary: Accept`."""
    response.vary.add("Accept")
    return response


def _made(response: Response, view: View, location: str, wait: int | None, *, repeated: bool) -> Response:
    response.headers["Location"] = location
    if repeated:
        response.headers["Idempotent-Replayed"] = "true"
    return _waiting(response, view, wait)


def _waiting(response: Response, view: View, wait: int | None) -> Response:
    if wait is not None:
        response.headers["Preference-Applied"] = f"wait={wait}"
    if not view.final:
        response.headers.update(SOON)
    return response
