"""What the client does: it sends, repeats where that does no harm, waits, and reads lists.

All of it is written as coroutines, once for both clients. Those of a session that blocks never suspend.
"""

from __future__ import annotations

import asyncio
import math
import random
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, aclosing, closing, suppress
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import httpx
import orjson

from treescore.client import answers, requests
from treescore.core.params import Json
from treescore.core.version import __version__
from treescore.core.wording import did_you_mean

D = TypeVar("D", bound=answers.Document)
WAIT_SECONDS = 30
"""Length of one long poll."""
GRACE = 5.0
"""Seconds beyond the end that the last poll may take, so that what finishes in time is seen."""
READ_SECONDS = WAIT_SECONDS + 30.0
CONNECT_SECONDS = 10.0
BUSY = (429, 502, 503, 504)
UNFINISHED = ("queued", "running", "checking", "rescoring")
"""States of work that continues."""
KNOWN_MOST = 64
KNOWN_BYTES = 1 << 20
"""Answers are kept, to be asked for with their validators: so many, each of at most so many bytes."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses between attempts while the service does not answer or is busy.

    Attributes:
        tries: attempts before the call fails, where the service names no time.
        first: seconds; each further pause is twice as long.
        most: seconds that a pause has at most.
        jitter: gives numbers from 0 to 1, so that many clients do not come back at once: a pause is shortened by up
            to a half.
    """

    tries: int = 6
    first: float = 0.5
    most: float = 15.0
    jitter: Callable[[], float] = random.random

    def pause(self, attempt: int) -> float:
        """Return the seconds after an attempt, counted from 1."""
        return float(min(self.most, self.first * 2.0 ** min(attempt - 1, 30)) * (1 - self.jitter() / 2))


@dataclass
class Call:
    """A request as it is meant, before keys and validators; it is carried out again where that does no harm.

    Attributes:
        session: that sends it.
        operation: of the table.
        path: below the URL.
        end: when the time of the call is over, by the session's clock.
        query: parameters of the query string.
        headers: that the caller chose.
        json: the body, or the form's field `meta`; bytes are sent as they are.
        texts: of a form, by the names of their fields; None for no form.
        target: file for the answer's body.
        watch: called with the bytes that are sent, and the states of work.
        fresh: whether no kept answer counts.

    Raises:
        RequestError: a header or a text cannot be sent.
    """

    session: Session
    operation: requests.Operation
    path: str
    end: float
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json | bytes | None = None
    texts: Mapping[str, requests.Texts] | None = None
    target: answers.Target | None = None
    watch: requests.Watch | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        self._begun = self.session.clock()
        self._doubtful = False  # whether an attempt may have been received whose answer was lost
        for name, value in self.headers.items():
            if not answers.is_header(f"{name}{value}"):
                raise answers.RequestError(f"Invalid header {name!r}: it has a character that is not printable ASCII.")
        self._uploads = None if self.texts is None else requests.uploads_of(self.texts)
        self._sent = httpx.Headers(dict(self.headers))  # with what makes it safe to repeat, and the key of an own job
        # a validation is not a resource: the service has no key for it
        if requests.KEY in self.operation.headers and "validate_only" not in self.query:
            self._sent.setdefault(requests.KEY, f"client-{uuid.uuid4()}")
        job = self.session.keys.get(self.path.removesuffix("/cancel"))
        if "Job-Key" in self.operation.headers and job is not None:
            self._sent.setdefault("Job-Key", job)

    @property
    def name(self) -> tuple[object, ...]:
        """What tells it from other calls that read."""
        return (self.path, self.target, *(frozenset(each.items()) for each in (self.query, self.headers)))

    @property
    def _repeatable(self) -> bool:
        return self.operation.repeatable or requests.KEY in self._sent

    @property
    def _left(self) -> float:
        return self.end - self.session.clock()

    async def exchange(self) -> answers.Answer:
        """Carry it out.

        Returns:
            A successful answer, or 304 where the caller validates.

        Raises:
            ClientError: the service refuses the call or does not answer.
        """
        session, attempt = self.session, 0
        known = None if self.fresh or "If-None-Match" in self._sent else session.known.get(self.name)
        if known is not None:
            self._sent["If-None-Match"] = known.etag
        while True:
            attempt += 1
            begun = False
            try:
                self._check()
                begun = True
                answer = await self._send()
            except httpx.TransportError as error:
                self._doubtful = self._doubtful or not isinstance(error, _NEVER_SENT)
                fault = _fault(session.url, error)
                if self._doubtful:
                    self._tell_doubt(fault)
                pause = session.backoff.pause(attempt)
                harmless = self._repeatable or not self._doubtful
                if isinstance(fault, answers.RequestError) or not harmless or attempt >= session.backoff.tries:
                    pause = math.inf
                if pause > self._left:
                    raise fault from error
            except answers.UnavailableError as error:  # the time is over, or the answer is damaged
                if begun or self._doubtful:
                    self._tell_doubt(error)
                raise
            else:
                if answer.status == 304 and "If-None-Match" in self._sent:
                    return known or answer
                if answer.is_success:
                    session.keep(self, answer)
                    return answer
                if self._doubtful and self.operation.method == "DELETE" and answer.status in (404, 410):
                    return answer  # an attempt whose answer was lost has deleted it
                pause = self._pause_before(answer, attempt)
                if pause > self._left:
                    raise self._error_of(answer)
            await session.pause(pause)

    def _check(self) -> None:
        """Check that there is time left.

        Raises:
            TimedOut: there is none.
        """
        if self._left <= 0:
            raise answers.TimedOut(f"{self.session.url} did not answer within {self._span}. Allow more time.")

    @property
    def _span(self) -> str:
        """How long was waited, for an error."""
        whole = self.end >= self.session.end_of_all
        return f"{self.session.seconds if whole else round(self.end - self._begun, 3):g} s"

    async def _send(self) -> answers.Answer:
        """Send the request once; the files that it sends are open as long as that takes.

        Raises:
            RequestError: the URL is invalid, a file cannot be read, or the document is not JSON.
        """
        http, url = self.session.http, self.session.url
        seconds = min(READ_SECONDS, self._left)
        given: dict[str, Any] = {"headers": self._sent, "params": dict(self.query) or None}
        try:
            body = self.json if isinstance(self.json, bytes) else orjson.dumps({} if self.json is None else self.json)
        except orjson.JSONEncodeError as error:
            raise answers.RequestError(f"The request cannot be written as JSON: {error}.") from error
        with ExitStack() as opened:
            if self._uploads is not None:
                given["data"] = {"meta": body}
                given["files"] = requests.open_form(self._uploads, opened, self.watch, self._check)
            elif self.json is not None:
                given["content"] = body
                self._sent.setdefault("Content-Type", "application/json")
            timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
            try:
                request = http.build_request(self.operation.method, self.path, timeout=timeout, **given)
            except httpx.InvalidURL as error:
                raise answers.WrongAddress(f"Invalid URL {url}: {error}") from error
            try:
                return await self._received(request)
            except httpx.InvalidURL as error:  # the HTTP library reads a Location, although it is not followed
                raise answers.WrongAnswer(f"{url} answers with a redirect to an invalid address: {error}.") from error

    async def _received(self, request: httpx.Request) -> answers.Answer:
        """Return the answer to a request, with its body in `target` if given."""
        http = self.session.http
        if isinstance(http, httpx.Client):
            response = http.send(request, stream=True)
            with closing(response), answers.Receiver(response, self.target, self._check) as receiver:
                for piece in () if receiver.whole else response.iter_raw():
                    receiver.feed(piece)
                return receiver.finish()
        async with aclosing(await http.send(request, stream=True)) as response:
            with answers.Receiver(response, self.target, self._check) as receiver:
                if not receiver.whole:
                    async for piece in response.aiter_raw():
                        receiver.feed(piece)
                return receiver.finish()

    def _tell_doubt(self, error: answers.ClientError) -> None:
        """Say what a caller must know to send nothing twice, where the answer to a request was lost."""
        if isinstance(error, answers.RequestError):
            return  # nothing was received
        key = self._sent.get(requests.KEY)
        if not self._repeatable:
            error.add_line("The request may have been carried out: look before you send it again.")
        elif key is not None and requests.KEY not in httpx.Headers(dict(self.headers)):
            error.add_line(f"It may have been carried out: sent again with the key {key!r}, it is done once.")

    def _pause_before(self, answer: answers.Answer, attempt: int) -> float:
        """Return the seconds to wait before the next attempt; infinity where there must be none."""
        # an equal request with the same key is in progress
        conflict = answer.status == 409 and answers.slug_of(answer.object() or {}) == "conflict"
        refused = answer.status == 429
        if not (refused or (conflict and requests.KEY in self._sent) or (self._repeatable and answer.status in BUSY)):
            return math.inf
        asked, backoff = answer.retry_after, self.session.backoff
        last, usual = attempt >= backoff.tries, backoff.pause(attempt)
        if asked is None:
            return math.inf if refused or last else usual
        return max(asked, usual) if last else asked

    def _error_of(self, answer: answers.Answer) -> answers.ClientError:
        error = answer.error()
        if self._doubtful and self.operation.method != "GET" and requests.KEY not in self._sent:
            error.add_line("An earlier attempt, whose answer was lost, may have been carried out.")
        if isinstance(error, answers.Unauthorized) and self.texts:
            error.add_line("Nothing of the upload was stored: send it again with a valid token.")
        if answer.status in (404, 405) and answer.object() is None:
            error.add_line("The service may be older than this client, or another one: check the URL.")
        return error

    async def wait(self, first: answers.Answer | None = None) -> answers.Answer:
        """Return the answer to a call that reads work, once the work has finished: each state is watched.

        Args:
            first: an answer that shows the work already.

        Raises:
            ClientError: also where the time is over before.
        """
        answer, watch, headers, polls = first, self.watch, dict(self.headers), 0
        name = self.path.rpartition("/")[2]
        while True:
            if answer is not None and answer.status != 304:
                document = answer.document()
                if not isinstance(document.get("state"), str):
                    raise answers.WrongAnswer(
                        f"{answer.url} answers without a state: the service speaks another version of the contract "
                        f"than this client ({__version__}). Check the URL, or install the client of its version.",
                        status=answer.status,
                    )
                if watch is not None:
                    watch(requests.progress_of(document))
                    headers["If-None-Match"] = answer.etag  # so that the poll ends with each change
                if document["state"] not in UNFINISHED:
                    return answer
            if answer is not None and answer is not first and "Preference-Applied" not in answer.headers:
                # too many requests wait at the service, or it lets none wait: poll
                polls += 1
                pause = answer.retry_after or self.session.backoff.pause(polls)
                await self.session.pause(max(0.0, min(pause, self._left)))
            if self._left <= 0:
                raise answers.TimedOut(
                    f"{name} was not finished within {self._span}. The service continues with it: ask for it again "
                    "later, or allow more time."
                )
            if answer is not None or watch is None:
                headers["Prefer"] = f"wait={min(WAIT_SECONDS, max(1, int(self._left)))}"
            sent = {name: value for name, value in headers.items() if value}
            try:
                answer = await replace(self, headers=sent, end=self.end + GRACE, fresh=True).exchange()
            except (answers.RefusedError, answers.UnavailableError) as error:
                error.add_line(f"{name} was sent before and is kept: ask for it again.")
                raise

    async def listed(self, kind: type[D], *, member: str = "items", cursor: str = "cursor") -> AsyncIterator[D]:
        """Yield the members of a list that the service gives page by page; each page has the time of a call.

        Args:
            kind: of the members.
            member: of a page, that lists.
            cursor: the parameter that takes `next` of the page before.

        Raises:
            ClientError: a page cannot be read.
        """
        call, seen = self, set[str]()
        while True:
            answer = await call.exchange()
            page: dict[str, Any] = answer.document()
            listed = page.get(member)
            if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
                raise answers.WrongAnswer(f"{answer.url} answers without a list `{member}`.", status=answer.status)
            following = page["next"] if isinstance(page.get("next"), str) else None
            seen.add(call.query.get(cursor, ""))
            if following in seen:
                raise answers.WrongAnswer(f"{answer.url} leads back to a page before it.", status=answer.status)
            for each in listed:
                yield kind(each)
            if following is None:
                return
            call = replace(call, query={**call.query, cursor: following}, end=self.session.end())


def open_http(kind: type[Any], url: str, token: str, agent: str, options: Mapping[str, Any]) -> Any:
    """Return a client of the HTTP library.

    Args:
        kind: which one: `httpx.Client` or `httpx.AsyncClient`.
        url: address of the service.
        token: bearer token; empty for none.
        agent: name of the program, for the service's log.
        options: further arguments of the HTTP library's client.

    Raises:
        RequestError: the token or the URL is invalid.
    """
    if not answers.is_header(token):
        raise answers.RequestError("Invalid token: it has a character that is not printable ASCII.")
    headers = {"User-Agent": agent, "Accept": "application/json", "Accept-Encoding": "gzip"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise answers.WrongAddress(f"Invalid URL {url}: {error}") from error
    if address.userinfo:  # it would replace the token, and stand in each message
        raise answers.WrongAddress(
            "The URL has a user name or a password. Give them as http={'auth': (name, password)}."
        )
    if address.query or address.fragment:
        raise answers.WrongAddress(f"{url} has a query or a fragment. Give the address without it.")
    # certificates take 30 ms to load: only where one is looked at
    return kind(base_url=address, headers=headers, **{"verify": address.scheme == "https", **options})


@dataclass(repr=False, eq=False)
class Session:
    """What a client knows and keeps (time, keys of its jobs, answers with their validators), and its connections.

    Attributes:
        url: address of the service.
        http: client of the HTTP library.
        seconds: time for all calls together; None for no limit.
        call_seconds: time for each call, with its repetitions and waits.
        backoff: pauses between attempts.
        clock: seconds that only grow.
    """

    url: str
    http: Any
    seconds: float | None
    call_seconds: float
    backoff: Backoff
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.end_of_all = math.inf if self.seconds is None else self.clock() + self.seconds
        self.keys: dict[str, str] = {}
        self.known: dict[tuple[object, ...], answers.Answer] = {}
        self._keeping = threading.Lock()

    async def pause(self, seconds: float) -> None:
        """Wait: a signal of the program interrupts it, or other tasks go on."""
        if isinstance(self.http, httpx.Client):
            threading.Event().wait(seconds)
        else:
            await asyncio.sleep(seconds)

    def call(
        self,
        operation: str,
        values: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, str | int | None] | None = None,
        seconds: float | None = None,
        **more: Any,
    ) -> Call:
        """Return a call of an operation of the table.

        Args:
            operation: its id.
            values: of the places in the path.
            query: parameters; those that are None are left out.
            seconds: time for it, instead of the session's.
            more: further attributes of Call.

        Raises:
            RequestError: the operation or a parameter of its path is unknown, or one is missing.
        """
        known = requests.OPERATIONS.get(operation)
        if known is None:
            raise answers.RequestError(
                f"Unknown operation {operation!r}.{did_you_mean(operation, requests.OPERATIONS)} Their ids are in "
                "treescore.client.OPERATIONS."
            )
        given = dict(values or {})
        if set(given) != set(known.places):
            raise answers.RequestError(f"{operation} takes the path parameters: {', '.join(known.places) or 'none'}.")
        if not all(isinstance(value, str) and value.strip(".") for value in given.values()):
            raise answers.RequestError(f"{operation}: an id is a text that is not empty.")
        asked = {name: str(value) for name, value in (query or {}).items() if value is not None}
        for value in (*given.values(), *asked.values()):
            if not requests.is_sendable(value):
                raise answers.RequestError(f"{operation}: {value!r} has half a surrogate pair, which cannot be sent.")
        return Call(self, known, known.address(given), self.end(seconds), asked, **more)

    def end(self, seconds: float | None = None) -> float:
        """Return when the time of a call that begins now is over."""
        return min(self.end_of_all, self.clock() + (self.call_seconds if seconds is None else seconds))

    def keep(self, call: Call, answer: answers.Answer) -> None:
        """Keep what later calls need: validated answers, and the keys of jobs made without a token."""
        read = call.operation.method == "GET" and call.target is None and answer.status == 200
        if read and answer.etag and len(answer.body) <= KNOWN_BYTES:
            with self._keeping:  # threads may share a client
                self.known.pop(call.name, None)
                self.known[call.name] = answer
                if len(self.known) > KNOWN_MOST:
                    del self.known[next(iter(self.known))]
        if call.operation.id == "submit_job":
            job = answer.object() or {}
            key = job.get("key")
            if isinstance(job.get("id"), str) and isinstance(key, str) and answers.is_header(key):
                self.keys[f"{call.path}/{job['id']}"] = key


def _fault(url: str, error: httpx.TransportError) -> answers.ClientError:
    """Return what an error of the connection means to the caller."""
    if isinstance(error, httpx.UnsupportedProtocol):
        return answers.WrongAddress(f"Invalid URL {url}: {error}")
    if "CERTIFICATE_VERIFY_FAILED" in str(error):  # the HTTP library keeps the words of the error of TLS
        return answers.WrongAddress(f"{url} is not trusted: {error}. Check the URL, or the certificates you trust.")
    line = f"{url} does not answer: {error or type(error).__name__}"
    return answers.TimedOut(line) if isinstance(error, httpx.ReadTimeout) else answers.NoAnswer(line)


P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
A = TypeVar("A")


class Blocking:
    """Whose methods return results."""


class Awaiting:
    """Whose methods return what is awaited."""


class method(Generic[P, R, A]):  # noqa: N801 - a decorator
    """A method written as a coroutine or as an asynchronous iterator, which an instance that blocks runs to its end."""

    @overload
    def __init__(
        self: method[P, T, Awaitable[T]], written: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
    ) -> None: ...
    @overload
    def __init__(
        self: method[P, Iterator[T], AsyncIterator[T]], written: Callable[Concatenate[Any, P], AsyncIterator[T]]
    ) -> None: ...
    def __init__(self, written: Callable[..., Any]) -> None:
        self.__wrapped__ = written
        self.__doc__ = written.__doc__

    @overload
    def __get__(self, instance: None, owner: Any) -> method[P, R, A]: ...
    @overload
    def __get__(self, instance: Blocking, owner: Any) -> Callable[P, R]: ...
    @overload
    def __get__(self, instance: Awaiting, owner: Any) -> Callable[P, A]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """Return the method of an instance."""
        if instance is None:
            return self

        def call(*given: Any, **named: Any) -> Any:
            made = self.__wrapped__(instance, *given, **named)
            if isinstance(instance, Awaiting):
                return made
            return _each(made) if isinstance(made, AsyncIterator) else _result(made)

        return update_wrapper(call, self.__wrapped__)


def _result(coroutine: Any) -> Any:
    """Return the result of a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError  # a session that blocks has nothing to wait for


def _each(listed: AsyncIterator[Any]) -> Iterator[Any]:
    """Yield what an asynchronous iterator that never suspends yields."""
    with suppress(StopAsyncIteration):
        while True:
            yield _result(anext(listed))
