"""Give each request an id, and log one line of JSON about it: never its body, never its query."""

from __future__ import annotations

import re
from http import HTTPStatus
from random import getrandbits
from time import perf_counter

import structlog
from flask import Flask, Response, g, request

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
MAX_PATH = 500
PROBES = ("/livez", "/readyz")
"""Paths that are polled every few seconds; logged only if the answer is not 200."""

logger: structlog.stdlib.BoundLogger = structlog.get_logger("service.api")


def install(app: Flask) -> None:
    """Set the id of each request before it is handled, and log the request afterwards."""
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    g.began = perf_counter()
    given = request.headers.get("Request-Id", "")
    g.request_id = given if _ID.fullmatch(given) else f"req_{getrandbits(96):024x}"
    # a thread serves one request at a time: the id of the last one is overwritten
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _end(response: Response) -> Response:
    response.headers.add("Request-Id", g.request_id)
    if request.path in PROBES and response.status_code == HTTPStatus.OK:
        return response
    logger.info(
        "request",
        method=request.method,
        path=request.path[:MAX_PATH],
        status=response.status_code,
        milliseconds=round(1000 * (perf_counter() - g.began), 1),
    )
    return response
