"""What surrounds every request, however it is answered: its name, fixed headers, and one line of JSON in the log.

The line never has the body, the query, the token or ids of the path. Where the request stores a run, it has the run's
id (see service.logs).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import getrandbits
from time import perf_counter
from typing import Any

import structlog

from service.api.cross_origin import cross_origin
from service.caller import Caller
from service.meters import REQUESTS, Meters
from service.server.state import PROBES
from service.traces import span

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

NOTE = "treescore.note"
MAX_METHOD = 20
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""That are counted by name; clients may send any."""
UNKNOWN = "none"
"""The route of requests that matched none."""
UNSHARED = "private, no-cache"
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)

logger: structlog.stdlib.BoundLogger = structlog.get_logger("service.api")


@dataclass(slots=True)
class Note:
    """What is known of a request while it is answered.

    Attributes:
        id: of the request: the client's, or a new one.
        began: by `perf_counter`.
        address: of the client, as soon as it is known.
        caller: once authenticated.
        route: the rule that its path matched, None for an unknown address.
    """

    id: str
    began: float = field(default_factory=perf_counter)
    address: str = ""
    caller: Caller | None = None
    route: str | None = None


def note_of(environ: Environ) -> Note:
    """Return the note of a request."""
    note: Note = environ[NOTE]
    return note


class Around:
    """Names and times each request, adds the headers that every answer has, and calls `done` when its answer begins."""

    def __init__(self, app: Wsgi, address_of: Callable[[Environ], str], meters: Meters) -> None:
        self._meters = meters
        self._app = app
        self._address_of = address_of

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        note = environ[NOTE] = Note(_id_of(environ), address=self._address_of(environ))
        # a thread serves one request after the other: what the last one has bound goes
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=note.id)
        # no other protocol is spoken here, so the wish is ignored (RFC 9110, 7.8); Flask would look for WebSocket rules
        environ.pop("HTTP_UPGRADE", None)

        def begin(status: str, headers: list[tuple[str, str]], *failed: Any) -> Any:
            given = {name.lower(): value for name, value in headers}
            added = [("Request-Id", note.id), ("X-Content-Type-Options", "nosniff")]
            if "cache-control" not in given:
                added.append(("Cache-Control", UNSHARED))
            added.extend(cross_origin(environ, note.route))
            length = given.get("content-length")
            seconds = perf_counter() - note.began
            self._meters.observe(REQUESTS, seconds, note.route or UNKNOWN, _method(environ), f"{status[0]}xx")
            done(environ, note, int(status[:3]), None if length is None else int(length), seconds)
            return start_response(status, headers + added, *failed)

        with span(_method(environ), environ.get("HTTP_TRACEPARENT"), request_id=note.id) as traced:
            answer = self._app(environ, begin)
            if traced is not None:
                traced.update_name(f"{_method(environ)} {note.route or UNKNOWN}")
            return answer


def done(environ: Environ, note: Note, status: int, length: int | None, seconds: float) -> None:
    """Note what became of a request: every answer of the application passes here once, with its route and duration."""
    if status == 200 and environ.get("PATH_INFO") in PROBES:
        return  # polled every few seconds
    logger.info(
        "request",
        client=note.address,
        token=note.caller and note.caller.token_id,
        team=note.caller and note.caller.team,
        method=environ["REQUEST_METHOD"][:MAX_METHOD],
        route=note.route,
        status=status,
        bytes=length,
        milliseconds=round(1000 * seconds, 1),
    )


def _method(environ: Environ) -> str:
    method: str = environ["REQUEST_METHOD"]
    return method if method in METHODS else "other"


def _id_of(environ: Environ) -> str:
    for name in ("HTTP_REQUEST_ID", "HTTP_X_REQUEST_ID"):
        given = environ.get(name)
        if given is not None and _ID.fullmatch(given):
            return str(given)
    return f"req_{getrandbits(96):024x}"
