"""A name for each request, and one line of JSON about it: never its body, never its query."""

from __future__ import annotations

import re
import sys
from time import perf_counter

import structlog
from flask import Flask, Response, g, request
from ulid import ULID

_NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)

logger = structlog.wrap_logger(
    structlog.WriteLogger(sys.stderr),
    processors=[
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(),
    ],
    wrapper_class=structlog.BoundLogger,
    cache_logger_on_first_use=False,
)


def install(app: Flask) -> None:
    """Name each request before it is handled, log it afterwards."""
    app.before_request(_begin)
    app.after_request(_end)


def fault(kind: str, places: list[str]) -> None:
    """Log an unforeseen exception."""
    logger.error("fault", request_id=g.get("request_id"), kind=kind, places=places)


def _begin() -> None:
    g.began = perf_counter()
    given = request.headers.get("Request-Id", "")
    g.request_id = given if _NAME.fullmatch(given) else f"req_{ULID()}"


def _end(response: Response) -> Response:
    response.headers["Request-Id"] = g.request_id
    logger.info(
        "request",
        request_id=g.request_id,
        method=request.method,
        path=request.path[:500],
        status=response.status_code,
        milliseconds=round(1000 * (perf_counter() - g.began), 1),
    )
    return response
