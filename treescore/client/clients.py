"""The two clients: one that blocks, and one that is awaited."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

from treescore.client import documents, resources
from treescore.client.answers import Answer
from treescore.client.documents import Document
from treescore.client.requests import Texts, Watch, operation_of, uploads_of
from treescore.client.resources import Resource
from treescore.client.session import (
    Awaiting,
    AwaitingDriver,
    Backoff,
    Blocking,
    BlockingDriver,
    Call,
    Pages,
    Plan,
    Session,
    exchange,
    listing,
    method,
    wait,
)
from treescore.core.params import Json
from treescore.core.text import HEAD_BYTES
from treescore.core.version import __version__

SECONDS = 600.0
AGENT = f"treescore-client/{__version__}"


class ClientPlans(Resource):
    """What both clients do themselves."""

    _carries_out: type[BlockingDriver | AwaitingDriver]

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
        session = Session(url, token, seconds, call_seconds or seconds or SECONDS, agent, backoff or Backoff(), clock)
        super().__init__(self._carries_out(session, http or {}))

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._session.url

    @method
    def call(
        self,
        operation: str,
        path: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, str | int | None] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Json | None = None,
        texts: Mapping[str, Texts] | None = None,
        to: str | Path | None = None,
        progress: Watch | None = None,
        seconds: float | None = None,
    ) -> Plan[Answer]:
        """Carry out any operation of the service.

        Args:
            operation: its id in the contract (`list_jobs`).
            path: parameters of its path.
            query: parameters of its query string; those that are None are left out.
            headers: of this request.
            json: the body, or the form's field `meta`.
            texts: of a form, by the names of their fields.
            to: file for the answer's body, written whole or not at all.
            progress: called with the bytes that are sent.
            seconds: time for it.

        Raises:
            ClientError: the operation or a parameter is unknown, the service refuses it, or it does not answer.
        """
        made = self._session.call(
            operation, path, query=query, seconds=seconds, headers=headers or {}, json=json, watch=progress,
            uploads=None if texts is None else uploads_of(texts), target=None if to is None else Path(to),
        )  # fmt: skip
        return (yield from exchange(self._session, made))

    @method
    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json | None = None,
        form: Mapping[str, Texts] | None = None,
        progress: Watch | None = None,
        seconds: float | None = None,
    ) -> Plan[Answer]:
        """Send a request to an address of the service, also one that this client does not know.

        Args:
            method: of HTTP.
            path: below the URL, perhaps with a query.
            headers: of this request.
            json: the body, or the form's field `meta`.
            form: texts to send, by their names in the form.
            progress: called with the bytes that are sent.
            seconds: time for it.

        Raises:
            ClientError: the service refuses the request or does not answer.
        """
        verb = method.upper()  # as it is sent
        made = Call(
            verb, path, self._session.end(seconds), operation_of(verb, path), headers=headers or {}, json=json,
            uploads=None if form is None else uploads_of(form), watch=progress, fresh=True,
        )  # fmt: skip
        return (yield from exchange(self._session, made))

    @method
    def get(self, path: str) -> Plan[Document]:
        """Return the document at an address."""
        made = Call("GET", path, self._session.end(), operation_of("GET", path))
        return Document.of((yield from exchange(self._session, made)))

    @method
    def post(self, path: str, document: Mapping[str, Json]) -> Plan[Document]:
        """Send a document to an address; return the answer."""
        made = Call("POST", path, self._session.end(), operation_of("POST", path), json=dict(document))
        return Document.of((yield from exchange(self._session, made)))

    @method
    def wait(self, path: str, progress: Watch | None = None, *, seconds: float | None = None) -> Plan[Document]:
        """Return a submission, comparison or job once it has finished, also one that failed.

        Args:
            path: its address.
            progress: called with each state on the way.
            seconds: time for it.

        Raises:
            ClientError: also where the time is over before.
        """
        made = Call("GET", path, self._session.end(seconds), operation_of("GET", path))
        return Document.of((yield from wait(self._session, made, progress)))

    @listing(documents.Event)
    def events(self, *, after: str | None = None, benchmark: str | None = None, page: int | None = None) -> Pages:
        """List what happened, oldest first: after an event, of a benchmark."""
        call = self._call("list_events", query={"after": after, "benchmark": benchmark, "limit": page})
        return Pages(call, cursor="after")

    @method
    def scorers(self) -> Plan[documents.Catalogue]:
        """Return the metrics, formats and transforms that the service has."""
        return (yield from self._read(documents.Catalogue, "list_scorers"))

    @method
    def scorer(self, name: str) -> Plan[documents.Scorer]:
        """Return a metric, format or transform with its parameters."""
        return (yield from self._read(documents.Scorer, "get_scorer", name))

    @method
    def suggest(self, text: str) -> Plan[documents.Suggestions]:
        """Return the formats that a text may be in, by its first lines, with the metrics that fit it."""
        return (yield from self._read(documents.Suggestions, "suggest_scorers", json={"text": text[:HEAD_BYTES]}))

    @method
    def problems(self) -> Plan[documents.Problems]:
        """Return all kinds of problems with their causes and fixes."""
        return (yield from self._read(documents.Problems, "list_problems"))

    @method
    def problem(self, name: str) -> Plan[documents.ProblemEntry]:
        """Return the cause and the fix of a kind of problem, by its slug or code."""
        return (yield from self._read(documents.ProblemEntry, "get_problem", name))

    @method
    def live(self) -> Plan[documents.Liveness]:
        """Return whether the service runs."""
        return (yield from self._read(documents.Liveness, "get_livez"))

    @method
    def ready(self) -> Plan[documents.Readiness]:
        """Return what the service can do now.

        Raises:
            ServiceUnavailable: it is not ready; `document` of the error has the checks.
        """
        return (yield from self._read(documents.Readiness, "get_readyz"))

    @method
    def contract(self) -> Plan[Document]:
        """Return the contract that the service speaks (OpenAPI); `contract["info"]["version"]` is its version."""
        return (yield from self._read(Document, "get_openapi_json"))


class Jobs(resources.JobsPlans, Blocking):
    """Scoring jobs."""


class Job(resources.JobPlans, Blocking):
    """One job."""


class Benchmarks(resources.BenchmarksPlans, Blocking):
    """Benchmarks of the service."""


class Benchmark(resources.BenchmarkPlans, Blocking):
    """One benchmark."""


class Submission(resources.SubmissionPlans, Blocking):
    """One submission."""


class Comparison(resources.ComparisonPlans, Blocking):
    """One comparison of submissions."""


class Tokens(resources.TokensPlans, Blocking):
    """Tokens."""


class Webhooks(resources.WebhooksPlans, Blocking):
    """Addresses to which events are sent."""


class AsyncJobs(resources.JobsPlans, Awaiting):
    """Scoring jobs."""


class AsyncJob(resources.JobPlans, Awaiting):
    """One job."""


class AsyncBenchmarks(resources.BenchmarksPlans, Awaiting):
    """Benchmarks of the service."""


class AsyncBenchmark(resources.BenchmarkPlans, Awaiting):
    """One benchmark."""


class AsyncSubmission(resources.SubmissionPlans, Awaiting):
    """One submission."""


class AsyncComparison(resources.ComparisonPlans, Awaiting):
    """One comparison of submissions."""


class AsyncTokens(resources.TokensPlans, Awaiting):
    """Tokens."""


class AsyncWebhooks(resources.WebhooksPlans, Awaiting):
    """Addresses to which events are sent."""


class Client(ClientPlans, Blocking):
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

    _carries_out = BlockingDriver

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._driver.http.close()

    @property
    def jobs(self) -> Jobs:
        """Scoring jobs."""
        return Jobs(self._driver)

    def job(self, job: str | Document) -> Job:
        """Return a job by its id or document."""
        return Job(self._driver, job)

    @property
    def benchmarks(self) -> Benchmarks:
        """Benchmarks of the service."""
        return Benchmarks(self._driver)

    def benchmark(self, benchmark: str | Document) -> Benchmark:
        """Return a benchmark by its id or document."""
        return Benchmark(self._driver, benchmark)

    def submission(self, submission: str | Document) -> Submission:
        """Return a submission by its id or document."""
        return Submission(self._driver, submission)

    def comparison(self, comparison: str | Document) -> Comparison:
        """Return a comparison by its id or document."""
        return Comparison(self._driver, comparison)

    @property
    def tokens(self) -> Tokens:
        """Tokens."""
        return Tokens(self._driver)

    @property
    def webhooks(self) -> Webhooks:
        """Addresses to which events are sent."""
        return Webhooks(self._driver)


class AsyncClient(ClientPlans, Awaiting):
    """The same calls, awaited; lists are asynchronous iterators, callbacks plain functions.

    Arguments and errors are those of `Client`; `http` has arguments of `httpx.AsyncClient`.
    """

    _carries_out = AwaitingDriver

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._driver.http.aclose()

    @property
    def jobs(self) -> AsyncJobs:
        """Scoring jobs."""
        return AsyncJobs(self._driver)

    def job(self, job: str | Document) -> AsyncJob:
        """Return a job by its id or document."""
        return AsyncJob(self._driver, job)

    @property
    def benchmarks(self) -> AsyncBenchmarks:
        """Benchmarks of the service."""
        return AsyncBenchmarks(self._driver)

    def benchmark(self, benchmark: str | Document) -> AsyncBenchmark:
        """Return a benchmark by its id or document."""
        return AsyncBenchmark(self._driver, benchmark)

    def submission(self, submission: str | Document) -> AsyncSubmission:
        """Return a submission by its id or document."""
        return AsyncSubmission(self._driver, submission)

    def comparison(self, comparison: str | Document) -> AsyncComparison:
        """Return a comparison by its id or document."""
        return AsyncComparison(self._driver, comparison)

    @property
    def tokens(self) -> AsyncTokens:
        """Tokens."""
        return AsyncTokens(self._driver)

    @property
    def webhooks(self) -> AsyncWebhooks:
        """Addresses to which events are sent."""
        return AsyncWebhooks(self._driver)
