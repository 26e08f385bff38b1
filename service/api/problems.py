"""Every error as application/problem+json (RFC 9457)."""

from __future__ import annotations

import http
from collections.abc import Mapping
from typing import Any

import orjson
from flask import Response, g
from werkzeug.exceptions import HTTPException

from service.errors import ServiceError, error_document

PROBLEM_JSON = "application/problem+json"
_DETAILS = {
    404: "There is nothing at this address. See /docs for the addresses there are.",
    405: "This address does not take this method; the Allow header names those it takes.",
    400: "The request cannot be read.",
    500: "The fault is ours and has been logged. Try again; if it stays, report the number under `instance`.",
}


def of_service_error(error: ServiceError) -> Response:
    """The answer to what a use-case or the edge refused."""
    document: dict[str, Any] = {
        "type": f"/problems/{error.type_slug}",
        "title": error.type_title,
        "status": error.status,
        "detail": error.detail,
    }
    if error.problems:
        # Whoever gets this answer sent the text that it speaks of; what comes of stored gold is no ServiceError.
        document["errors"] = [error_document(problem, gold_visible=False) for problem in error.problems]
        document["errors_total"] = error.total
    return problem(document, error.headers)


def of_http_error(error: HTTPException) -> Response:
    """The answer to what the framework refused: an unknown address, a method, a request line it cannot read."""
    code = error.code or 500
    phrase = http.HTTPStatus(code).phrase
    headers = {name: value for name, value in error.get_headers() if name.lower() in ("allow", "location")}
    document = {
        "type": "/problems/" + phrase.lower().replace(" ", "-"),
        "title": phrase,
        "status": code,
        "detail": _DETAILS.get(code, phrase + "."),
    }
    return problem(document, headers)


def of_fault() -> Response:
    """The answer to a fault of ours: says nothing of what it was."""
    document = {
        "type": "/problems/service-fault",
        "title": "The service failed",
        "status": 500,
        "detail": _DETAILS[500],
    }
    return problem(document, {})


def problem(document: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """A problem document as a response, with the request's name."""
    body = orjson.dumps({**document, "instance": f"urn:request:{g.request_id}"})
    response = Response(body, document["status"], content_type=PROBLEM_JSON)
    response.headers.extend(headers)
    response.headers["Cache-Control"] = "no-store"
    return response
