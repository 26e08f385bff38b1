"""Make responses of views and pages: validators, 304, codings, caching, cursors."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson
from flask import Response, current_app, request
from werkzeug.datastructures import Headers

from service.api.codings import CodedBodies, accepted_codings, known_tag, tag_of
from service.errors import SOON
from service.usecases.runs.views import JSON_TYPE, Page, View, json_view

CODED = "treescore.codings"
"""Where the application keeps the compressed bodies."""
SHARED = "public, max-age=1, s-maxage=5, stale-while-revalidate=4"
"""Cache-Control of what every caller may see, where no token came. A shared cache answers with it for 5 seconds, and 4
more while it asks again; a browser behind a cache that sends no `Age` shows it for 5 seconds more, 14 in all."""


class Kind(StrEnum):
    """Whose an answer is, and the request headers that it depends on."""

    OWN = "Accept-Encoding"
    FORMS = "Accept, Accept-Encoding"
    PUBLIC = "Accept, Accept-Encoding, Authorization"
    PAGE = "Accept-Encoding, Authorization, Cookie"
    PAGE_OR_FORMS = "Accept, Accept-Encoding, Authorization, Cookie"


class Asked(NamedTuple):
    """What of a request decides how a view is answered.

    Attributes:
        codings: that the client accepts, the best first.
        known: the validators that it has.
        shared: whether a shared cache may keep the answer where it is public: no token came.
    """

    codings: tuple[str, ...]
    known: str | None
    shared: bool


class Answer(NamedTuple):
    """Status, headers and body of an answer to a GET."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def asked_of(environ: Mapping[str, Any]) -> Asked:
    """Return what a request asks of an answer."""
    codings = accepted_codings(environ.get("HTTP_ACCEPT_ENCODING"))
    return Asked(codings, environ.get("HTTP_IF_NONE_MATCH"), "HTTP_AUTHORIZATION" not in environ)


def answer_of(coded: CodedBodies, view: View, asked: Asked, kind: Kind = Kind.OWN, wait: int | None = None) -> Answer:
    """Return 200 with the body in a coding that the client accepts, or 304 if it has the body.

    The framework's way and the short one (service.api.finished) send the same answer: it is made here.
    """
    headers = [("Vary", str(kind))]
    if kind is Kind.PUBLIC and asked.shared and wait is None:
        headers.append(("Cache-Control", SHARED))
    if wait is not None:
        headers.append(("Preference-Applied", f"wait={wait}"))
    if not view.final:
        headers.extend(SOON.items())
    known = known_tag(asked.known, asked.codings, view.etag)
    if known is not None:
        return Answer(304, [("ETag", f'"{known}"'), *headers], b"")
    coding = coded.choose(view, asked.codings)
    body = coded.body(view, coding)
    head = [("Content-Type", view.content_type), ("Content-Length", str(len(body)))]
    if coding:
        head.append(("Content-Encoding", coding))
    return Answer(200, [*head, ("ETag", f'"{tag_of(view.etag, coding)}"'), *headers], body)


def conditional(view: View, wait: int | None = None, kind: Kind = Kind.OWN) -> Response:
    """Return 200 with the body, or 304 if the client has it."""
    coded: CodedBodies = current_app.extensions[CODED]
    answer = answer_of(coded, view, asked_of(request.environ), kind, wait)
    response = Response(answer.body, answer.status)
    response.headers = Headers(answer.headers)
    return response


def plain(view: View, status: int = 200) -> Response:
    """Return the body with its validator."""
    response = Response(view.body, status, content_type=view.content_type)
    response.headers.add("ETag", f'"{view.etag}"')
    return response


def accepted(view: View, location: str, wait: int | None, *, repeated: bool) -> Response:
    """Return 201 if the work is done, else 202."""
    response = plain(view, 201 if view.final else 202)
    return _made_response(response, view, location, wait, repeated=repeated)


def created(view: View, location: str, wait: int | None, *, repeated: bool) -> Response:
    """Return 201: the resource exists, even if work on it is not finished."""
    return _made_response(plain(view, 201), view, location, wait, repeated=repeated)


def secret(document: Mapping[str, object], location: str) -> Response:
    """Return 201 with a secret that is shown only once."""
    return secret_text(orjson.dumps(document), JSON_TYPE, location)


def secret_text(body: bytes, content_type: str, location: str) -> Response:
    """Return 201 with a body that holds secrets."""
    response = Response(body, 201, content_type=content_type)
    response.headers["Location"] = location
    return unstored(response)


def queued(document: Mapping[str, object]) -> Response:
    """Return 202 with what was put into a queue."""
    return Response(orjson.dumps(document), 202, content_type=JSON_TYPE)


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


def page(shown: Page, name: str = "cursor", kind: Kind = Kind.OWN) -> Response:
    """Return a page of a list, with `next` in the body and as a link with the parameter `name`."""
    view = json_view({"items": list(shown.items), "next": shown.next})
    return linked(conditional(view, kind=kind), shown.next, name)


def linked(response: Response, cursor: str | None, name: str = "cursor") -> Response:
    """Return the response with a link to the next page, if there is one."""
    if cursor is not None:
        arguments = {**request.args, name: cursor}
        response.headers["Link"] = f'<{request.path}?{urlencode(arguments)}>; rel="next"'
    return response


def _made_response(response: Response, view: View, location: str, wait: int | None, *, repeated: bool) -> Response:
    response.headers["Location"] = location
    if repeated:
        response.headers["Idempotent-Replayed"] = "true"
    if wait is not None:
        response.headers["Preference-Applied"] = f"wait={wait}"
    if not view.final:
        response.headers.update(SOON)
    return response
