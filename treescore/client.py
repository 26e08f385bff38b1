"""A client of the service: sends requests, repeats those that may be repeated, waits for results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

import httpx
import orjson

from treescore.core.params import Json

WAIT_SECONDS = 30
"""Length of one long poll."""
TRIES = 6
"""Attempts while the service does not answer; the pauses between them double."""
FIRST_PAUSE = 0.25
BUSY = (429, 502, 503, 504)
REFUSALS = (401, 403, 409, 429)
UNFINISHED = ("queued", "running")
JOBS = "/v1/jobs"

Watch = Callable[[Mapping[str, Json]], None]


class ClientError(Exception):
    """A request did not succeed.

    Attributes:
        lines: one problem each.
        status: HTTP status of the answer; 0 where there was none.
    """

    def __init__(self, *lines: str, status: int = 0) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
        self.status = status


class RequestError(ClientError):
    """The request is wrong: fix it before sending it again."""


class RefusedError(ClientError):
    """The request is not allowed: token, quota, closed benchmark, conflict."""


class UnavailableError(ClientError):
    """The service did not answer, failed, or did not finish in time."""


class Client:
    """Calls of the service within one span of time. A request is repeated only where that does no harm.

    A job made without a token has a key, without which it cannot be changed: the client keeps the keys of its own jobs.

    Args:
        url: address of the service.
        token: bearer token; empty for none.
        seconds: time for all calls together.
        agent: name of the program, for the service's log.

    Raises:
        RequestError: the URL or the token is invalid.
    """

    def __init__(self, url: str, token: str = "", seconds: float = 600.0, agent: str = "treescore-client") -> None:
        self._end = monotonic() + seconds
        self._seconds = seconds
        self._keys: dict[str, str] = {}
        if not (token.isascii() and token.isprintable()):
            raise RequestError("Invalid token: it has a character that is not printable ASCII.")
        headers = {"User-Agent": agent, "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        timeout = httpx.Timeout(WAIT_SECONDS + 30, connect=10)
        try:
            self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)
        except httpx.InvalidURL as error:
            raise RequestError(f"Invalid URL {url}: {error}") from error
        self.url = url

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str) -> dict[str, Json]:
        """Return a document."""
        return _document(self.send("GET", path))

    def post(self, path: str, document: Mapping[str, Json]) -> dict[str, Json]:
        """Send a document; return the answer."""
        return _document(self.send("POST", path, json=document))

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Mapping[str, Json] | None = None,
        form: Mapping[str, Path] | None = None,
    ) -> httpx.Response:
        """Send a request, again where the service is busy; return a successful answer or 304.

        Args:
            method: of HTTP.
            path: below the URL.
            headers: of this request.
            json: the body, or the form's field `meta`.
            form: files to send, by their names in the form.

        Raises:
            ClientError: the service refuses the request or does not answer.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                response = self._send_once(method, path, {**self._key_of(method, path), **(headers or {})}, json, form)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise RequestError(f"Invalid URL {self.url}: {error}") from error
            except httpx.DecodingError as error:
                raise UnavailableError(f"{self.url} sends an answer that cannot be unpacked: {error}") from error
            except httpx.TransportError as error:
                if attempt >= TRIES or not self._pause(FIRST_PAUSE * 2**attempt):
                    line = f"{self.url} does not answer: {error or type(error).__name__}"
                    raise UnavailableError(line) from error
                continue
            if response.is_success or response.status_code == 304:
                self._keep_key(method, path, response)
                return response
            pause = _pause_before(response, attempt)
            if pause is None or not self._pause(pause):
                raise error_of(response)

    def wait(self, path: str, watch: Watch | None = None) -> dict[str, Json]:
        """Return a submission, comparison or job once it has finished; `watch` is called with each state on the way.

        Raises:
            ClientError: also where the time is over before.
        """
        etag = ""
        while True:
            seconds = min(WAIT_SECONDS, int(self._seconds_left()) + 1)
            headers = {"Prefer": f"wait={seconds}", **({"If-None-Match": etag} if etag else {})}
            response = self.send("GET", path, headers=headers)
            if response.status_code != 304:
                document = _document(response)
                if not isinstance(document.get("state"), str):
                    raise UnavailableError(f"{response.request.url} answers without a state.", status=200)
                etag = response.headers.get("ETag", "")
                if watch is not None:
                    watch(document)
                if document["state"] not in UNFINISHED:
                    return document
            asked = response.headers.get("Retry-After", "")
            if asked.isdecimal() and "Preference-Applied" not in response.headers:
                self._pause(min(float(asked), self._seconds_left()))  # too many requests wait at the service: poll
            if self._seconds_left() <= 0:
                name = path.rpartition("/")[2]
                raise UnavailableError(
                    f"{name} was not finished within {self._seconds:g} s. The service continues with it: ask for it "
                    "again later, or allow more time."
                )

    def _send_once(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        json: Mapping[str, Json] | None,
        form: Mapping[str, Path] | None,
    ) -> httpx.Response:
        if form is None:
            return self._http.request(method, path, headers=headers, json=json)
        with ExitStack() as opened:  # files are streamed
            files = {name: (path.name, opened.enter_context(path.open("rb"))) for name, path in form.items()}
            return self._http.request(method, path, headers=headers, data={"meta": orjson.dumps(json)}, files=files)

    def _keep_key(self, method: str, path: str, response: httpx.Response) -> None:
        if (method, path) != ("POST", JOBS):
            return
        job = _object(response) or {}
        if isinstance(job.get("id"), str) and isinstance(job.get("key"), str):
            self._keys[f"{JOBS}/{job['id']}"] = job["key"]

    def _key_of(self, method: str, path: str) -> dict[str, str]:
        """Return the header that changes a job, if this client made it without a token."""
        key = None if method == "GET" else self._keys.get(path.removesuffix("/cancel"))
        return {} if key is None else {"Job-Key": key}

    def _seconds_left(self) -> float:
        return self._end - monotonic()

    def _pause(self, seconds: float) -> bool:
        """Wait before another attempt; return False where the time is over before."""
        if seconds > self._seconds_left():
            return False
        threading.Event().wait(seconds)
        return True


def _document(response: httpx.Response) -> dict[str, Json]:
    document = _object(response)
    if document is None:
        raise UnavailableError(
            f"{response.request.url} does not answer with a JSON document.", status=response.status_code
        )
    return document


def _object(response: httpx.Response) -> dict[str, Json] | None:
    """Return the JSON object of an answer; None for an answer that is none."""
    try:
        document = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None
    return document if isinstance(document, dict) else None


def _pause_before(response: httpx.Response, attempt: int) -> float | None:
    """Return the seconds to wait before the next attempt; None where there must be none."""
    same_key = response.status_code == 409 and (_object(response) or {}).get("type") == "/problems/conflict"
    if response.status_code not in BUSY and not same_key:
        return None
    asked = response.headers.get("Retry-After", "")
    if asked.isdecimal():
        return float(asked)
    return None if response.status_code == 429 or attempt >= TRIES else FIRST_PAUSE * 2**attempt


def error_of(response: httpx.Response) -> ClientError:
    """Return the error that an unsuccessful answer means."""
    code = response.status_code
    document = _object(response) or {}
    text = document.get("detail") or document.get("title") or f"{response.request.url} answers {code}."
    kind = UnavailableError if code >= 500 else RefusedError if code in REFUSALS else RequestError
    listed = document.get("errors")
    errors = [error for error in listed if _is_problem(error)] if isinstance(listed, list) else []
    total = document.get("errors_total")
    lines = problem_lines(errors, {}, total if isinstance(total, int) else len(errors)) if errors else []
    return kind(*(lines or [str(text)]), status=code)


def _is_problem(error: object) -> bool:
    """Return whether a member of `errors[]` is one, as far as it is printed: another server may answer anything."""
    return isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("code", "detail"))


def problem_lines(errors: Sequence[Mapping[str, Json]], files: Mapping[str, str], total: int) -> list[str]:
    """Return problems as compilers print them: `file:line:column: what is wrong [code]`.

    Args:
        errors: members of `errors[]`.
        files: part -> the file that was sent for it.
        total: how many there are, with those that the service left out.
    """
    lines = []
    for error in errors:
        part = error.get("part") or ""
        place = files.get(part) or (f'part "{part}"' if part else error.get("pointer", ""))
        numbers = [str(error[name]) for name in ("line", "column") if name in error]
        sentence = f" (sentence {error['sent_id']})" if "sent_id" in error else ""
        head = ":".join([*([place] if place else []), *numbers])
        lines.append(f"{head}{': ' if head else ''}{error['detail']}{sentence} [{error['code']}]")
    if total > len(lines):
        lines.append(f"... and {total - len(lines)} more")
    return lines
