"""Clients of the service: they send, repeat where that does no harm, wait, and say what is wrong.

    with Client("https://scores.example.org", token) as client:
        submission = client.benchmark("demo").submit({"en": "en.conllu"}, name="v7", wait=True)

`AsyncClient` has the same methods, to be awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Self

import httpx

from treescore.client.answers import Answer, Document, Target
from treescore.client.errors import ClientError, RefusedError, RequestError, UnavailableError, problem_lines
from treescore.client.requests import OPERATIONS, Operation, Progress, Texts, Watch
from treescore.client.resources import AsyncService, Service
from treescore.client.session import UNFINISHED, Backoff, Session, method, open_http
from treescore.client.work import Resource
from treescore.core.params import Json
from treescore.core.version import __version__

__all__ = [
    "OPERATIONS",
    "UNFINISHED",
    "Answer",
    "AsyncClient",
    "Backoff",
    "Client",
    "ClientError",
    "Document",
    "Operation",
    "Progress",
    "RefusedError",
    "RequestError",
    "UnavailableError",
    "problem_lines",
]

SECONDS = 600.0
AGENT = f"treescore-client/{__version__}"


class ClientMethods(Resource):
    """What both clients do themselves."""

    _http: type[httpx.Client | httpx.AsyncClient]

    def __init__(
        self,
        url: str,
        token: str = "",
        seconds: float | None = None,
        *,
        call_seconds: float | None = None,
        agent: str = AGENT,
        backoff: Backoff | None = None,
        http: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        opened = open_http(self._http, url, token, agent, http or {})
        span = call_seconds or seconds or SECONDS
        super().__init__(Session(url, opened, seconds, span, backoff or Backoff(), clock))

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._session.url

    @method
    async def call(
        self,
        operation: str,
        path: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, str | int | None] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Json | bytes | None = None,
        texts: Mapping[str, Texts] | None = None,
        to: Target | None = None,
        progress: Watch | None = None,
        seconds: float | None = None,
    ) -> Answer:
        """Carry out any operation of the service.

        Args:
            operation: its id in the contract (`list_jobs`).
            path: parameters of its path.
            query: parameters of its query string; those that are None are left out.
            headers: of this request.
            json: the body, or the form's field `meta`; bytes are sent as they are, of the type in `headers`.
            texts: of a form, by the names of their fields.
            to: file for the answer's body, written whole or not at all.
            progress: called with the bytes that are sent.
            seconds: time for it.

        Raises:
            ClientError: the operation is unknown, the service refuses it, or it does not answer.
        """
        sent = {"headers": headers or {}, "json": json, "texts": texts, "watch": progress, "target": to}
        return await self._session.call(operation, path, query=query, seconds=seconds, **sent).exchange()

    @method
    async def contract(self) -> Document:
        """Return the contract that the service speaks (OpenAPI); `contract["info"]["version"]` is its version."""
        return await self._read(Document, "get_openapi_json")


class Client(ClientMethods, Service):
    """Calls of the service. A request is sent again only where that does no harm: read, keyed, or surely not received.

    A job made without a token has a key, without which it cannot be changed: the client keeps the keys of its own jobs.

    Args:
        url: address of the service.
        token: bearer token; empty for none.
        seconds: time for all calls together; None for no limit.
        call_seconds: time for each call, with its repetitions and waits; `seconds` unless given, or 600.
        agent: name of the program, for the service's log.
        backoff: pauses between attempts.
        http: further arguments of `httpx.Client` (`proxy`, `verify`, `cert`, `transport`, ...).
        clock: seconds that only grow.

    Raises:
        RequestError: the URL or the token is invalid.
    """

    _http = httpx.Client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._session.http.close()


class AsyncClient(ClientMethods, AsyncService):
    """The same calls, awaited; lists are asynchronous iterators, callbacks plain functions.

    Arguments and errors are those of `Client`; `http` has arguments of `httpx.AsyncClient`.
    """

    _http = httpx.AsyncClient

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._session.http.aclose()
