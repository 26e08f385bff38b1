"""Show every error as application/problem+json (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from flask import Response, request
from werkzeug.exceptions import HTTPException

from service.api.around import note_of
from service.errors import ServiceError, error_document
from service.problem_catalogue import TYPES, type_of_status

PROBLEM_JSON = "application/problem+json"
_DETAILS = {
    404: "Unknown address. See /docs for the addresses.",
    405: "This address does not accept this method. Use one of the Allow header.",
}
_FAULT = "The service failed and has logged the fault. Retry; if it fails again, report `instance`."


def of_service_error(error: ServiceError, **more: object) -> Response:
    """Return the answer to a ServiceError, with more members of its document."""
    document: dict[str, object] = {
        "type": f"/problems/{error.type_slug}",
        "title": error.type_title,
        "status": error.status,
        "detail": error.detail,
        **more,
    }
    if error.problems:
        # the caller sent the text that the errors quote; errors in stored gold are no ServiceError
        document["errors"] = [error_document(problem, gold_visible=False) for problem in error.problems]
        document["errors_total"] = error.total
    return _problem(document, error.headers)


def of_http_error(error: HTTPException) -> Response:
    """Return the answer to an error of the framework: address, method, request line."""
    status = error.code or 500
    slug = type_of_status(status)
    headers = {name: value for name, value in error.get_headers() if name.lower() in ("allow", "location")}
    document = {
        "type": f"/problems/{slug}",
        "title": TYPES[slug].title,
        "status": status,
        "detail": _DETAILS.get(status, TYPES[slug].fix),
    }
    return _problem(document, headers)


def of_fault() -> Response:
    """Return the answer to an internal error, which tells nothing of its cause."""
    return of_service_error(ServiceError(_FAULT))


def _problem(document: Mapping[str, object], headers: Mapping[str, str]) -> Response:
    """Return a problem document as a response, with the request's id."""
    body = orjson.dumps({**document, "instance": f"urn:request:{note_of(request.environ).id}"})
    response = Response(body, str(document["status"]), content_type=PROBLEM_JSON)
    response.headers.extend(headers)
    response.headers["Cache-Control"] = "no-store"
    return response
