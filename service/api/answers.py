"""Make responses of views, pages and errors: validators, 304, codings, caching, cursors.

Which coding a client takes, and bodies that are compressed once. Every error is shown as application/problem+json
(RFC 9457).
"""

import gzip
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson
from flask import Response, current_app, request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_etags

from service import errors
from service.api.middleware import IN_JSON, note_of, placed
from service.lru import LruCache
from service.store.packing import pack
from service.usecases.runs import JSON_TYPE, Page, Shown

PLAIN, GZIP, ZSTD = "", "gzip", "zstd"
ANSWER_CODINGS = (ZSTD, GZIP, PLAIN)
"""As the service prefers them where a client does not: stored bodies are zstd, and it takes a tenth of the time."""
SMALL = 1024
"""Bytes of a body below which compressing saves no packet worth its time."""
LARGE = 16 * 2**20
"""Bytes of a body above which only what is stored compressed is sent compressed: gzip takes 20 ms for each MB."""
MOST_BYTES = 32 * 2**20
"""Of compressed bodies that a process keeps."""
GZIP_LEVEL = 6
_WEIGHED = re.compile(
    r"([a-z0-9*.!#$%&'+^_`|~-]+)(?:\s*;\s*q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?", re.IGNORECASE
)
_CODED = re.compile(f'-(?:{GZIP}|{ZSTD})"')
_ALIASES = {"x-gzip": GZIP, "identity": PLAIN}


@lru_cache(maxsize=256)
def accepted_codings(header: str | None) -> tuple[str, ...]:
    """Return the codings of an `Accept-Encoding` (RFC 9110, 12.5.3) that the service has, the best first.

    Without the header only the plain body is accepted; with one it is, last, unless the header refuses it. Elements
    that are malformed do not count.
    """
    if header is None:
        return (PLAIN,)
    weights: dict[str, float] = {}
    for element in header.split(","):
        match = _WEIGHED.fullmatch(element.strip())
        if match is not None:
            name = match[1].lower()
            weights[_ALIASES.get(name, name)] = 1.0 if match[2] is None else float(match[2])
    other = weights.get("*")
    weighed = {coding: weights.get(coding, other or 0.0) for coding in (ZSTD, GZIP)}
    # where nothing is said of it, it is what is left
    weighed[PLAIN] = weights.get(PLAIN, 0.0001 if other is None else other)
    return tuple(
        sorted((coding for coding in ANSWER_CODINGS if weighed[coding] > 0), key=lambda coding: -weighed[coding])
    )


def tag_of(etag: str, coding: str) -> str:
    """Return the validator of a body in a coding: each coding has its own, as its bytes differ."""
    return f"{etag}-{coding}" if coding else etag


def plain_tags(header: str | None) -> str | None:
    """Return If-Match with the validators of plain bodies: who changes a resource may have read it in any coding."""
    return None if header is None else _CODED.sub('"', header)


def known_tag(header: str | None, codings: tuple[str, ...], etag: str) -> str | None:
    """Return which validator of a body a client names, in a coding that it accepts; None where it names none.

    A coding that it does not accept does not count: a shared cache would give it the body that it has.

    Args:
        header: If-None-Match.
        codings: that the client accepts, the best first.
        etag: validator of the plain body.
    """
    if header is None:
        return None
    tags = [tag_of(etag, coding) for coding in codings or (PLAIN,)]
    if header == f'"{tags[0]}"':  # as nearly always: the client sends back what it got
        return tags[0]
    named = parse_etags(header)
    return next((tag for tag in tags if named.contains_weak(tag)), None)


def _coded(body: bytes, coding: str) -> bytes:
    if coding == ZSTD:
        return pack(body)
    return gzip.compress(body, GZIP_LEVEL, mtime=0) if coding == GZIP else body


class CodedBodies:
    """Bodies in codings other than they are stored in, by validator."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._bodies = LruCache[bytes](most_bytes, len)

    def choose(self, view: Shown[object], codings: tuple[str, ...]) -> str:
        """Return the coding to send a view in, the best that is worth it. What only refuses gets the plain body."""
        for coding in codings:
            if coding == PLAIN or (coding == ZSTD and view.packed):
                return coding
            # a small body goes out plain, unless the client refuses that
            if (view.size >= SMALL or PLAIN not in codings) and view.size <= LARGE:
                return coding
        return PLAIN

    def body(self, view: Shown[object], coding: str) -> bytes:
        """Return the body of a view in a coding: as it is stored, as it was made before, or made now."""
        if (coding == ZSTD) == view.packed and coding != GZIP:
            return view.content
        if view.size > LARGE:
            return view.body
        if view.weak:
            return _coded(view.body, coding)
        return self._bodies.get_or_make(tag_of(view.etag, coding), lambda: _coded(view.body, coding))


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


def asked_of(environ: Mapping[str, Any]) -> Asked:
    """Return what a request asks of an answer."""
    codings = accepted_codings(environ.get("HTTP_ACCEPT_ENCODING"))
    return Asked(codings, environ.get("HTTP_IF_NONE_MATCH"), "HTTP_AUTHORIZATION" not in environ)


def conditional(view: Shown[object], wait: int | None = None, kind: Kind = Kind.OWN) -> Response:
    """Return 200 with the body in a coding that the client accepts, or 304 if it has the body."""
    asked = asked_of(request.environ)
    headers = Headers([("Vary", str(kind))])
    if kind is Kind.PUBLIC and asked.shared and wait is None:
        headers["Cache-Control"] = SHARED
    if wait is not None:
        headers["Preference-Applied"] = f"wait={wait}"
    if not view.final:
        headers.extend(errors.SOON)
    weak = "W/" if view.weak else ""
    known = known_tag(asked.known, asked.codings, view.etag)
    if known is not None:
        headers["ETag"] = f'{weak}"{known}"'
        response = Response(status=304, headers=headers)
        del response.headers["Content-Type"]
        return response
    coded: CodedBodies = current_app.extensions[CODED]
    sent = _placed_view(view)
    coding = coded.choose(sent, asked.codings)
    headers["ETag"] = f'{weak}"{tag_of(view.etag, coding)}"'
    if coding:
        headers["Content-Encoding"] = coding
    return Response(coded.body(sent, coding), 200, headers, content_type=view.content_type)


def _placed_view(view: Shown[object]) -> Shown[object]:
    """Return a view as it is sent, which this process keeps under another name than where the service is elsewhere."""
    prefix = request.script_root
    if not prefix or view.content_type != JSON_TYPE:
        return view
    body = _placed_json(view.body)
    return view if body == view.body else Shown(None, body, view.etag + prefix, content_type=JSON_TYPE)


def _placed_json(body: bytes) -> bytes:
    return placed(IN_JSON, body, request.script_root)


def plain(view: Shown[object], status: int = 200) -> Response:
    """Return the body with its validator."""
    response = Response(_placed_view(view).body, status, content_type=view.content_type)
    response.headers.add("ETag", f'"{view.etag}"')
    return response


def secret(document: Mapping[str, object], location: str) -> Response:
    """Return 201 with a secret that is shown only once."""
    return secret_text(_placed_json(orjson.dumps(document)), JSON_TYPE, location)


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
    document = {"items": list(shown.items), "next": shown.next}
    return linked(conditional(Shown(document), kind=kind), shown.next, name)


def linked(response: Response, cursor: str | None, name: str = "cursor") -> Response:
    """Return the response with a link to the next page, if there is one."""
    if cursor is not None:
        arguments = {**request.args, name: cursor}
        response.headers["Link"] = f'<{request.path}?{urlencode(arguments)}>; rel="next"'
    return response


PROBLEM_JSON = "application/problem+json"
_DETAILS = {
    404: "Unknown address. See /docs for the addresses.",
    405: "This address does not accept this method. Use one of the Allow header.",
}
_FAULT = "The service failed and has logged the fault. Retry; if it fails again, report `instance`."


class ProblemResponse(Response):
    """An answer that says what is wrong; pages show its document."""

    problem: Mapping[str, object]


def problem_of(error: errors.ServiceError, **more: object) -> dict[str, object]:
    """Return the problem document of an error, with more members."""
    document = {**errors.problem_head(error.type_slug), "status": error.status, "detail": error.detail, **more}
    if error.problems:
        # the caller sent the text that the errors quote; errors in stored gold are no ServiceError
        document["errors"] = [errors.error_document(problem, gold_visible=False) for problem in error.problems]
        document["errors_total"] = error.total
    return document


def of_service_error(error: errors.ServiceError, **more: object) -> ProblemResponse:
    """Return the answer to a ServiceError, with more members of its document."""
    return _problem(problem_of(error, **more), error.headers)


def of_http_error(error: HTTPException) -> ProblemResponse:
    """Return the answer to an error of the framework: address, method, request line."""
    status = error.code or 500
    slug = errors.type_of_status(status)
    headers = {name: value for name, value in error.get_headers() if name.lower() in ("allow", "location")}
    detail = _DETAILS.get(status, errors.TYPES[slug].fix)
    return _problem({**errors.problem_head(slug), "status": status, "detail": detail}, headers)


def of_fault() -> ProblemResponse:
    """Return the answer to an internal error, which tells nothing of its cause."""
    return of_service_error(errors.ServiceError(_FAULT))


def _problem(document: Mapping[str, object], headers: Mapping[str, str]) -> ProblemResponse:
    """Return a problem document as a response, with the request's id."""
    problem = {**document, "instance": f"urn:request:{note_of(request.environ).id}"}
    body = _placed_json(orjson.dumps(problem))
    response = ProblemResponse(body, str(document["status"]), content_type=PROBLEM_JSON)
    response.problem = problem
    response.headers.extend(headers)
    response.headers["Cache-Control"] = "no-store"
    return response
