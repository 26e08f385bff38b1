"""What the client does, as plans of exchanges and pauses, the same for both clients; and what carries them out.

A plan does nothing itself: a driver does, with httpx.Client or with httpx.AsyncClient.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import threading
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import update_wrapper
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import httpx
import orjson

from treescore.client import answers, requests
from treescore.client.document import Document
from treescore.core.params import Json
from treescore.core.version import __version__
from treescore.core.wording import did_you_mean

T = TypeVar("T")

WAIT_SECONDS = 30
"""Length of one long poll."""
GRACE = 5.0
"""Seconds beyond the end that the last poll may take, so that what finishes in time is seen."""
READ_SECONDS = WAIT_SECONDS + 30.0
CONNECT_SECONDS = 10.0
BUSY = (429, 502, 503, 504)
UNFINISHED = ("queued", "running", "checking", "rescoring")
"""States of work that continues."""
JOBS = "/v1/jobs"
KNOWN_MOST = 64
KNOWN_BYTES = 1 << 20
"""Answers are kept, to be asked for with their validators: so many, each of at most so many bytes."""
_NAMES = {name.lower(): name for name in (requests.KEY, "If-None-Match", "Job-Key", "Prefer")}
_IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "PUT", "DELETE")
"""Methods of HTTP that do no more when they are sent twice, at any address."""
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


@dataclass(frozen=True, slots=True)
class Call:
    """A request as it is meant, before keys, validators and repetitions.

    Attributes:
        method: of HTTP.
        path: below the URL, perhaps with a query.
        end: when the time of the call is over, by the session's clock.
        operation: of the table; None for one that this client does not know.
        query: parameters of the query string.
        headers: that the caller chose.
        json: the body, or the form's field `meta`.
        uploads: texts of a form; None for no form.
        target: file for the answer's body.
        watch: called with the bytes that are sent.
        fresh: whether no kept answer counts.
    """

    method: str
    path: str
    end: float
    operation: requests.Operation | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json | None = None
    uploads: Sequence[requests.Upload] | None = None
    target: Path | None = None
    watch: requests.Watch | None = None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """A step of a plan: one exchange with the service.

    Attributes:
        call: what is sent.
        headers: with its key and validator.
        seconds: for each read and write; the whole is bounded by `check`.
        check: raises where the time is over.
    """

    call: Call
    headers: Mapping[str, str]
    seconds: float
    check: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Pause:
    """A step of a plan: wait."""

    seconds: float


Step = Send | Pause
Plan = Generator[Step, Any, T]
"""Yields steps, takes answers (or errors of the HTTP library), and returns the result of the call."""


class Session:
    """What a client knows and keeps: time, keys of its jobs, answers with their validators. Does no input or output.

    Args:
        url: address of the service.
        token: bearer token; empty for none.
        seconds: time for all calls together; None for no limit.
        call_seconds: time for each call, with its repetitions and waits.
        agent: name of the program, for the service's log.
        backoff: pauses between attempts.
        clock: seconds that only grow.

    Raises:
        RequestError: the token is invalid.
    """

    def __init__(
        self,
        url: str,
        token: str,
        seconds: float | None,
        call_seconds: float,
        agent: str,
        backoff: Backoff,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if not (token.isascii() and token.isprintable()):
            raise answers.RequestError("Invalid token: it has a character that is not printable ASCII.")
        self.url = url
        self.clock = clock
        self.backoff = backoff
        self.call_seconds = call_seconds
        self.headers = {"User-Agent": agent, "Accept": "application/json", "Accept-Encoding": "gzip"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self._seconds = seconds
        self._end = None if seconds is None else clock() + seconds
        self._keys: dict[str, str] = {}
        self._known: OrderedDict[str, answers.Answer] = OrderedDict()
        self._keeping = Lock()

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
            RequestError: the operation or a parameter is unknown, or one is missing.
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
        if not set(asked) <= set(known.query) or not set(known.needed) <= set(asked):
            listed = ", ".join(f"{name} (required)" if name in known.needed else name for name in known.query)
            unknown = next((name for name in asked if name not in known.query), None)
            meant = did_you_mean(unknown, known.query)
            raise answers.RequestError(f"{operation} takes the query parameters: {listed or 'none'}.{meant}")
        return Call(known.method, known.address(given), self.end(seconds), known, query=asked, **more)

    def end(self, seconds: float | None = None) -> float:
        """Return when the time of a call that begins now is over."""
        end = self.clock() + (self.call_seconds if seconds is None else seconds)
        return end if self._end is None else min(end, self._end)

    def left(self, end: float) -> float:
        """Return the seconds left until a time."""
        return end - self.clock()

    def span(self, end: float, begun: float) -> str:
        """Return how long was waited, for an error."""
        whole = self._end is not None and end >= self._end and self._seconds is not None
        return f"{self._seconds if whole else round(end - begun, 3):g} s"

    def headers_of(self, call: Call) -> dict[str, str]:
        """Return the headers of a call: its own, a key that makes it safe to repeat, the key of an own job.

        Raises:
            RequestError: one cannot be sent.
        """
        if not call.path.startswith("/") or not requests.is_sendable(call.path):
            raise answers.RequestError(
                f"{call.path!r} is not a path below {self.url}. Give a path, as /v1/jobs: the token goes nowhere else."
            )
        # the caller may write names in any letters
        headers = {_NAMES.get(name.lower(), name): value for name, value in call.headers.items()}
        # a validation is not a resource: the service has no key for it
        if (
            call.operation is not None
            and call.operation.takes_key
            and "validate_only" not in f"{call.path}{dict(call.query)}"
        ):
            headers.setdefault(requests.KEY, f"client-{uuid.uuid4()}")
        job = self._keys.get(call.path.removesuffix("/cancel"))
        if call.method != "GET" and job is not None:
            headers.setdefault("Job-Key", job)
        for name, value in headers.items():
            if not (f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
                raise answers.RequestError(f"Invalid header {name!r}: it has a character that is not printable ASCII.")
        return headers

    def known(self, call: Call) -> answers.Answer | None:
        """Return the last answer to a call that reads, if it is kept."""
        return self._known.get(_name_of(call)) if call.method == "GET" and call.target is None else None

    def keep(self, call: Call, answer: answers.Answer) -> None:
        """Keep what later calls need: validated answers, and the keys of jobs made without a token."""
        if call.method == "GET" and call.target is None and answer.status == 200 and answer.etag:
            with self._keeping:  # threads may share a client
                if len(answer.body) <= KNOWN_BYTES:
                    self._known[_name_of(call)] = answer
                    self._known.move_to_end(_name_of(call))
                while len(self._known) > KNOWN_MOST:
                    self._known.popitem(last=False)
        if (call.method, call.path) == ("POST", JOBS):
            job = answer.object() or {}
            if isinstance(job.get("id"), str) and isinstance(job.get("key"), str):
                self._keys[f"{JOBS}/{job['id']}"] = str(job["key"])


def _name_of(call: Call) -> str:
    return "\n".join([call.path, *(f"{key}={value}" for key, value in sorted({**call.query, **call.headers}.items()))])


def exchange(session: Session, call: Call) -> Plan[answers.Answer]:
    """Carry out a call, again where that does no harm; return a successful answer, or 304 where the caller validates.

    Raises:
        ClientError: the service refuses the call or does not answer.
    """
    headers = session.headers_of(call)
    known = None if call.fresh or "If-None-Match" in headers else session.known(call)
    if known is not None:
        headers["If-None-Match"] = known.etag
    repeatable = requests.KEY in headers or (
        call.method in _IDEMPOTENT if call.operation is None else call.operation.repeatable
    )
    begun, attempt, doubtful = session.clock(), 0, False

    def check() -> None:
        if session.left(call.end) <= 0:
            raise answers.TimedOut(
                f"{session.url} did not answer within {session.span(call.end, begun)}. Allow more time."
            )

    while True:
        attempt += 1
        sent = False
        try:
            check()
            sent = True
            answer: answers.Answer = yield Send(call, headers, min(READ_SECONDS, session.left(call.end)), check)
        except httpx.TransportError as error:
            doubtful = doubtful or not isinstance(error, _NEVER_SENT)
            fault = _fault(session, error)
            if doubtful:
                _tell_doubt(fault, call, headers, repeatable=repeatable)
            if isinstance(fault, answers.RequestError) or (doubtful and not repeatable):
                raise fault from error
            pause = session.backoff.pause(attempt)
            if attempt >= session.backoff.tries or pause > session.left(call.end):
                raise fault from error
            yield Pause(pause)
            continue
        except answers.UnavailableError as error:  # the time is over, or the answer is damaged
            if sent or doubtful:
                _tell_doubt(error, call, headers, repeatable=repeatable)
            raise
        settled = _settled(session, call, headers, answer, known, doubtful=doubtful)
        if settled is not None:
            return settled
        wanted = _pause_before(session, answer, attempt, repeatable=repeatable, keyed=requests.KEY in headers)
        if wanted is None or wanted > session.left(call.end):
            raise _error_of(answer, call, doubtful=doubtful and call.method != "GET" and requests.KEY not in headers)
        yield Pause(wanted)


def _settled(
    session: Session,
    call: Call,
    headers: Mapping[str, str],
    answer: answers.Answer,
    known: answers.Answer | None,
    *,
    doubtful: bool,
) -> answers.Answer | None:
    """Return what a call gives that this answer ends with success; None for another answer."""
    if answer.status == 304 and known is not None:
        return known
    if answer.is_success or (answer.status == 304 and "If-None-Match" in headers):
        session.keep(call, answer)
        return answer
    # an attempt whose answer was lost has deleted it
    return answer if doubtful and call.method == "DELETE" and answer.status in (404, 410) else None


def _tell_doubt(error: answers.ClientError, call: Call, headers: Mapping[str, str], *, repeatable: bool) -> None:
    """Say what a caller must know to send nothing twice, where the answer to a request was lost."""
    if isinstance(error, answers.RequestError):
        return  # nothing was received
    if not repeatable:
        error.add_line("The request may have been carried out: look before you send it again.")
    elif requests.KEY in headers and requests.KEY not in call.headers:
        error.add_line(
            f"It may have been carried out: sent again with the key {headers[requests.KEY]!r}, it is done once."
        )


def _fault(session: Session, error: httpx.TransportError) -> answers.ClientError:
    """Return what an error of the connection means to the caller."""
    if isinstance(error, httpx.UnsupportedProtocol):
        return answers.WrongAddress(f"Invalid URL {session.url}: {error}")
    if _is_certificate(error):
        return answers.WrongAddress(
            f"{session.url} is not trusted: {error}. Check the URL, or the certificates you trust."
        )
    line = f"{session.url} does not answer: {error or type(error).__name__}"
    return answers.TimedOut(line) if isinstance(error, httpx.ReadTimeout) else answers.NoAnswer(line)


def _is_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _pause_before(
    session: Session, answer: answers.Answer, attempt: int, *, repeatable: bool, keyed: bool
) -> float | None:
    """Return the seconds to wait before the next attempt; None where there must be none."""
    same_key = (
        keyed and answer.status == 409 and isinstance(answer.error(), answers.Conflict) and _is_plain_conflict(answer)
    )
    refused = answer.status == 429
    if not (refused or same_key or (repeatable and answer.status in BUSY)):
        return None
    asked = answer.retry_after
    usual = session.backoff.pause(attempt)
    if asked is not None:
        return asked if attempt < session.backoff.tries else max(asked, usual)
    return None if refused or attempt >= session.backoff.tries else usual


def _is_plain_conflict(answer: answers.Answer) -> bool:
    """Return whether an equal request with the same key is in progress."""
    return answers.slug_of(answer.object() or {}) == "conflict"


def _error_of(answer: answers.Answer, call: Call, *, doubtful: bool) -> answers.ClientError:
    error = answer.error()
    if doubtful:
        error.add_line("An earlier attempt, whose answer was lost, may have been carried out.")
    if isinstance(error, answers.Unauthorized) and call.uploads:
        error.add_line("Nothing of the upload was stored: send it again with a valid token.")
    if call.operation is not None and answer.status in (404, 405) and answer.object() is None:
        error.add_line("The service may be older than this client, or another one: check the URL.")
    return error


def wait(
    session: Session, call: Call, watch: requests.Watch | None = None, first: answers.Answer | None = None
) -> Plan[answers.Answer]:
    """Return the answer to a call that reads work, once the work has finished.

    Args:
        session: of the client.
        call: that reads it, and bounds the time.
        watch: called with each state on the way.
        first: an answer that shows the work already.

    Raises:
        ClientError: also where the time is over before.
    """
    begun = session.clock()
    answer, etag, polls = first, "", 0
    name = call.path.partition("?")[0].rpartition("/")[2]
    while True:
        if answer is not None and answer.status != 304:
            document = yield from _work_of(session, call, answer)
            etag = answer.etag
            if watch is not None:
                watch(requests.progress_of(document))
            if document["state"] not in UNFINISHED:
                return answer
        if answer is not None and answer is not first and "Preference-Applied" not in answer.headers:
            # too many requests wait at the service, or it lets none wait: poll
            polls += 1
            pause = answer.retry_after or session.backoff.pause(polls)
            yield Pause(max(0.0, min(pause, session.left(call.end))))
        left = session.left(call.end)
        if left <= 0:
            raise answers.TimedOut(
                f"{name} was not finished within {session.span(call.end, begun)}. The service continues with it: ask "
                "for it again later, or allow more time."
            )
        headers = dict(call.headers)
        if answer is not None or watch is None:
            headers["Prefer"] = f"wait={min(WAIT_SECONDS, max(1, int(left)))}"
        if watch is not None and etag:
            headers["If-None-Match"] = etag  # so that the poll ends with each change, not with the work only
        try:
            answer = yield from exchange(session, replace(call, headers=headers, end=call.end + GRACE, fresh=True))
        except (answers.RefusedError, answers.UnavailableError) as error:
            error.add_line(f"{name} was sent before and is kept: ask for it again.")
            raise


def _work_of(session: Session, call: Call, answer: answers.Answer) -> Plan[dict[str, Json]]:
    """Return the document of work, which has a state.

    Raises:
        WrongAnswer: it has none.
    """
    document = answer.document()
    if isinstance(document.get("state"), str):
        return document
    version = yield from version_of(session, call.end)
    raise answers.WrongAnswer(
        f"{answer.url} answers without a state: the service{version} speaks another version of the contract than this "
        f"client ({__version__}). Check the URL, or install the client of its version.",
        status=200,
    )


def version_of(session: Session, end: float) -> Plan[str]:
    """Return the version of the service, as ` 0.2.0`; empty where it tells none."""
    try:
        answer = yield from exchange(session, replace(session.call("get_openapi_json"), end=min(end, session.end(5.0))))
        info: Any = answer.document().get("info")
        return f" {info['version']}"
    except (answers.ClientError, KeyError, TypeError):
        return ""


@dataclass(frozen=True, slots=True)
class Pages:
    """A list that the service gives page by page.

    Attributes:
        call: that reads the first page.
        member: of a page, that lists.
        cursor: the parameter that takes `next` of the page before.
        seen: what that parameter was before.
    """

    call: Call
    member: str = "items"
    cursor: str = "cursor"
    seen: frozenset[str] = frozenset()


def page_of(session: Session, pages: Pages) -> Plan[tuple[list[dict[str, Any]], Pages | None]]:
    """Return the members of the first page, and the pages after it.

    Raises:
        ClientError: the page cannot be read.
    """
    call = pages.call
    answer = yield from exchange(session, call)
    page: dict[str, Any] = answer.document()
    listed = page.get(pages.member)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise answers.WrongAnswer(f"{answer.url} answers without a list `{pages.member}`.", status=answer.status)
    following = page.get("next")
    if not isinstance(following, str):
        return listed, None
    seen = pages.seen | {call.query.get(pages.cursor, "")}
    if following in seen:
        raise answers.WrongAnswer(f"{answer.url} leads back to a page before it.", status=answer.status)
    query = {**call.query, pages.cursor: following}
    # each page has the time of a call
    return listed, replace(pages, call=replace(call, query=query, end=session.end()), seen=seen)


D = TypeVar("D", bound=Document)
P = ParamSpec("P")


def opened(kind: type[httpx.Client | httpx.AsyncClient], session: Session, options: Mapping[str, Any]) -> Any:
    """Return a client of the HTTP library.

    Raises:
        WrongAddress: the URL is invalid.
    """
    try:
        address = httpx.URL(session.url)
        if address.userinfo:  # it would replace the token, and stand in each message
            raise answers.WrongAddress(
                "The URL has a user name or a password. Give them as http={'auth': (name, password)}."
            )
        if address.query or address.fragment:
            raise answers.WrongAddress(f"{session.url} has a query or a fragment. Give the address without it.")
        return kind(base_url=address, headers=session.headers, **options)
    except httpx.InvalidURL as error:
        raise answers.WrongAddress(f"Invalid URL {session.url}: {error}") from error


Outcome = answers.Answer | httpx.TransportError | answers.ClientError | None
"""What a step brings."""


def _following(plan: Plan[T], outcome: Outcome) -> Step:
    return plan.throw(outcome) if isinstance(outcome, Exception) else plan.send(outcome)


class BlockingDriver:
    """Carries out plans one step after the other."""

    def __init__(self, session: Session, options: Mapping[str, Any]) -> None:
        self.session = session
        self.http: httpx.Client = opened(httpx.Client, session, options)

    def run(self, plan: Plan[T]) -> T:
        """Return the result of a plan."""
        outcome: Outcome = None
        while True:
            try:
                step = _following(plan, outcome)
            except StopIteration as ended:
                result: T = ended.value
                return result
            try:
                outcome = self._do(step)
            except (httpx.TransportError, answers.ClientError) as error:
                outcome = error

    def give(self, pages: Pages, kind: type[D]) -> Iterator[D]:
        """Yield the members of a list as documents."""
        following: Pages | None = pages
        while following is not None:
            documents, following = self.run(page_of(self.session, following))
            for document in documents:
                yield kind(document)

    def _do(self, step: Step) -> answers.Answer | None:
        if isinstance(step, Send):
            return self._send(step)
        self.pause(step.seconds)
        return None

    def pause(self, seconds: float) -> None:
        """Wait; a signal of the program interrupts it."""
        threading.Event().wait(seconds)

    def _send(self, step: Send) -> answers.Answer:
        with ExitStack() as stack:
            request = _request(self.http, self.session, step, stack)
            with _readable_head(self.session):
                response = self.http.send(request, stream=True)
            stack.callback(response.close)
            receiver = stack.enter_context(answers.Receiver(response, step.call.target, step.check))
            if not receiver.whole:
                for piece in response.iter_raw():
                    receiver.feed(piece)
            return receiver.finish()


class AwaitingDriver:
    """Carries out plans in an event loop; files are read in it, piece by piece."""

    def __init__(self, session: Session, options: Mapping[str, Any]) -> None:
        self.session = session
        self.http: httpx.AsyncClient = opened(httpx.AsyncClient, session, options)

    async def run(self, plan: Plan[T]) -> T:
        """Return the result of a plan."""
        outcome: Outcome = None
        while True:
            try:
                step = _following(plan, outcome)
            except StopIteration as ended:
                result: T = ended.value
                return result
            try:
                outcome = await self._do(step)
            except (httpx.TransportError, answers.ClientError) as error:
                outcome = error

    async def give(self, pages: Pages, kind: type[D]) -> AsyncIterator[D]:
        """Yield the members of a list as documents."""
        following: Pages | None = pages
        while following is not None:
            documents, following = await self.run(page_of(self.session, following))
            for document in documents:
                yield kind(document)

    async def _do(self, step: Step) -> answers.Answer | None:
        if isinstance(step, Send):
            return await self._send(step)
        await self.pause(step.seconds)
        return None

    async def pause(self, seconds: float) -> None:
        """Wait, while other tasks go on."""
        await asyncio.sleep(seconds)

    async def _send(self, step: Send) -> answers.Answer:
        async with AsyncExitStack() as stack:
            request = _request(self.http, self.session, step, stack.enter_context(ExitStack()))
            with _readable_head(self.session):
                response = await self.http.send(request, stream=True)
            stack.push_async_callback(response.aclose)
            receiver = stack.enter_context(answers.Receiver(response, step.call.target, step.check))
            if not receiver.whole:
                async for piece in response.aiter_raw():
                    receiver.feed(piece)
            return receiver.finish()


def _request(http: httpx.Client | httpx.AsyncClient, session: Session, step: Send, stack: ExitStack) -> httpx.Request:
    """Return the request of a step; the files that it sends are open as long as `stack`.

    Raises:
        RequestError: the URL is invalid, a file cannot be read, or the document is not JSON.
    """
    call = step.call
    given: dict[str, Any] = {"headers": step.headers, "params": dict(call.query) or None}
    try:
        body = orjson.dumps({} if call.json is None else call.json)
    except orjson.JSONEncodeError as error:
        raise answers.RequestError(f"The request cannot be written as JSON: {error}.") from error
    if call.uploads is not None:
        given["data"] = {"meta": body}
        given["files"] = requests.open_form(call.uploads, stack, call.watch, step.check)
    elif call.json is not None:
        given["content"] = body
        given["headers"] = {"Content-Type": requests.JSON, **step.headers}
    timeout = httpx.Timeout(step.seconds, connect=min(CONNECT_SECONDS, step.seconds))
    # a Location or a link has the path of the URL before it
    base, path = http.base_url.path, call.path
    path = path[len(base) - 1 :] if path.startswith(base) else path
    try:
        return http.build_request(call.method, path, timeout=timeout, **given)
    except httpx.InvalidURL as error:
        raise answers.WrongAddress(f"Invalid URL {session.url}: {error}") from error


@contextmanager
def _readable_head(session: Session) -> Iterator[None]:
    """Tell of an answer whose Location is none: the HTTP library reads it, although it is not followed."""
    try:
        yield
    except httpx.InvalidURL as error:
        raise answers.WrongAnswer(f"{session.url} answers with a redirect to an invalid address: {error}.") from error


class Blocking:
    """Whose methods return results."""

    _driver: BlockingDriver


class Awaiting:
    """Whose methods return what is awaited."""

    _driver: AwaitingDriver


class method(Generic[P, T]):  # noqa: N801 - a decorator
    """A method written as a plan: it returns its result where the instance blocks, and an awaitable where it awaits."""

    def __init__(self, plan: Callable[Concatenate[Any, P], Plan[T]]) -> None:
        self._plan = plan
        self.__doc__ = plan.__doc__
        self.__wrapped__ = plan

    @overload
    def __get__(self, instance: None, owner: Any) -> method[P, T]: ...
    @overload
    def __get__(self, instance: Blocking, owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Awaiting, owner: Any) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """Return the method of an instance."""
        if instance is None:
            return self

        def call(*given: P.args, **named: P.kwargs) -> Any:
            return instance._driver.run(self._plan(instance, *given, **named))  # noqa: SLF001 - its own

        return update_wrapper(call, self._plan)


class Listing(Generic[P, D]):
    """A method that lists: an iterator over all pages, an asynchronous one where the instance awaits."""

    def __init__(self, kind: type[D], pages: Callable[Concatenate[Any, P], Pages]) -> None:
        self._kind = kind
        self._pages = pages
        self.__doc__ = pages.__doc__
        self.__wrapped__ = pages

    @overload
    def __get__(self, instance: None, owner: Any) -> Listing[P, D]: ...
    @overload
    def __get__(self, instance: Blocking, owner: Any) -> Callable[P, Iterator[D]]: ...
    @overload
    def __get__(self, instance: Awaiting, owner: Any) -> Callable[P, AsyncIterator[D]]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """Return the method of an instance."""
        if instance is None:
            return self

        def call(*given: P.args, **named: P.kwargs) -> Any:
            return instance._driver.give(self._pages(instance, *given, **named), self._kind)  # noqa: SLF001 - its own

        return update_wrapper(call, self._pages)


def listing(kind: type[D]) -> Callable[[Callable[Concatenate[Any, P], Pages]], Listing[P, D]]:
    """Return the decorator of a method that lists documents of a kind."""
    return lambda pages: Listing(kind, pages)
