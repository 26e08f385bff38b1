"""Give each request an id, and log one line of JSON about it: never its body, query, token or ids in its path."""

from __future__ import annotations

import re
from http import HTTPStatus
from random import getrandbits
from time import perf_counter

import structlog
from flask import Flask, Response, g, request

from service.api.calls import client_address
from service.caller import Caller
from service.server.state import PROBES

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
MAX_METHOD = 20

logger: structlog.stdlib.BoundLogger = structlog.get_logger("service.api")


def install(app: Flask) -> None:
    """Set the id of each request before it is handled, and log the request afterwards."""
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    g.began = perf_counter()
    given = (request.headers.get(name, "") for name in ("Request-Id", "X-Request-Id"))
    g.request_id = next((each for each in given if _ID.fullmatch(each)), f"req_{getrandbits(96):024x}")
    # a thread serves one request at a time: the id of the last one is overwritten
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _end(response: Response) -> Response:
    response.headers.add("Request-Id", g.request_id)
    if request.path in PROBES and response.status_code == HTTPStatus.OK:
        return response  # polled every few seconds
    caller: Caller | None = g.get("caller")
    logger.info(
        "request",
        client=client_address(),
        token=caller and caller.token_id,
        team=caller and caller.team,
        method=request.method[:MAX_METHOD],
        route=request.url_rule and request.url_rule.rule,
        status=response.status_code,
        bytes=response.content_length,
        milliseconds=round(1000 * (perf_counter() - g.began), 1),
    )
    return response
