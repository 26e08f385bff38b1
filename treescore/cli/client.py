"""The service as a command sees it: sends, repeats what may be repeated, waits, and says why not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import orjson

OK, MISSED, WRONG_INPUT, REFUSED, NO_SERVICE = range(5)
"""Exit status: done; a threshold was missed; the input is wrong; not allowed (token, quota, closed); no answer."""

WAIT_SECONDS = 30
"""One long poll."""
TRIES = 6
"""Attempts where nothing answers, a second and more apart in the end."""
FIRST_PAUSE = 0.25
BUSY = (429, 502, 503, 504)
REFUSALS = (401, 403, 409, 429)
UNFINISHED = ("queued", "running")

Watch = Callable[[Mapping[str, Any]], None]


class Stopped(Exception):
    """The end of a command: with which status, and what to tell.

    Attributes:
        status: exit status.
        lines: one problem each.
        refused: HTTP status of the answer; 0 where there was none.
    """

    def __init__(self, status: int, *lines: str, refused: int = 0) -> None:
        super().__init__("\n".join(lines))
        self.status = status
        self.lines = lines
        self.refused = refused


class Client:
    """Calls within one span of time. Only what may be sent twice is sent with it.

    Args:
        url: of the service.
        token: bearer token.
        seconds: for everything together.
    """

    def __init__(self, url: str, token: str, seconds: float) -> None:
        self._end = monotonic() + seconds
        self._seconds = seconds
        headers = {"Authorization": f"Bearer {token}", "User-Agent": "treescore-submit", "Accept": "application/json"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=httpx.Timeout(WAIT_SECONDS + 30, connect=10))
        self.url = url

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    def get(self, path: str) -> Any:
        """A document."""
        return orjson.loads(self.call("GET", path).content)

    def post(self, path: str, document: Mapping[str, Any]) -> Any:
        """The answer to a document."""
        return orjson.loads(self.call("POST", path, json=document).content)

    def call(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, Path] | None = None,
    ) -> httpx.Response:
        """A successful answer, 304 among them.

        Args:
            method: of HTTP.
            path: below the URL.
            headers: of this request.
            json: the body, or the form's field `meta`.
            form: files to send with it, by their names in the form.

        Raises:
            Stopped: what the service refuses, or that it does not answer.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                response = self._once(method, path, headers or {}, json, form)
            except httpx.TransportError as error:
                lines = f"{self.url} does not answer: {error or type(error).__name__}"
                if attempt >= TRIES or not self._pause(FIRST_PAUSE * 2**attempt):
                    raise Stopped(NO_SERVICE, lines) from error
                continue
            except httpx.InvalidURL as error:
                raise Stopped(WRONG_INPUT, f"{self.url} is no URL: {error}") from error
            if response.is_success or response.status_code == 304:
                return response
            pause = _pause_asked(response, attempt)
            if pause is None or not self._pause(pause):
                raise refusal(response)

    def final(self, path: str, watch: Watch | None = None) -> dict[str, Any]:
        """A submission, comparison or job once it has come to its end.

        Args:
            path: of it.
            watch: shown each state that it passes.

        Raises:
            Stopped: also where time is over before.
        """
        etag = ""
        while True:
            wait = min(WAIT_SECONDS, int(self._left()) + 1)
            headers = {"Prefer": f"wait={wait}", **({"If-None-Match": etag} if etag else {})}
            response = self.call("GET", path, headers=headers)
            if response.status_code != 304:
                document: dict[str, Any] = orjson.loads(response.content)
                etag = response.headers.get("ETag", "")
                if watch is not None:
                    watch(document)
                if document["state"] not in UNFINISHED:
                    return document
            if self._left() <= 0:
                raise Stopped(
                    NO_SERVICE,
                    f"{path.rpartition('/')[2]} was not finished within {self._seconds:g} s. It goes on; the same "
                    "command again sends nothing twice and shows what came of it.",
                )

    def _once(
        self, method: str, path: str, headers: Mapping[str, str], json: Any, form: Mapping[str, Path] | None
    ) -> httpx.Response:
        if form is None:
            return self._http.request(method, path, headers=headers, json=json)
        with _opened(form) as files:
            return self._http.request(method, path, headers=headers, data={"meta": orjson.dumps(json)}, files=files)

    def _left(self) -> float:
        return self._end - monotonic()

    def _pause(self, seconds: float) -> bool:
        """Wait before another attempt; False where there is no time for one."""
        if seconds > self._left():
            return False
        threading.Event().wait(seconds)
        return True


@contextmanager
def _opened(form: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    """Files as they are streamed."""
    with ExitStack() as stack:
        yield {name: (path.name, stack.enter_context(path.open("rb"))) for name, path in form.items()}


def _pause_asked(response: httpx.Response, attempt: int) -> float | None:
    """After how many seconds to try again; None for never."""
    same_key = response.status_code == 409 and _problem(response).get("type") == "/problems/conflict"
    if response.status_code not in BUSY and not same_key:
        return None
    asked = response.headers.get("Retry-After", "")
    if asked.isdecimal():
        return float(asked)
    return None if response.status_code == 429 or attempt >= TRIES else FIRST_PAUSE * 2**attempt


def refusal(response: httpx.Response) -> Stopped:
    """What an unsuccessful answer means for a command."""
    code = response.status_code
    document = _problem(response)
    text = document.get("detail") or document.get("title") or f"{response.request.url} answers {code}."
    status = NO_SERVICE if code >= 500 else REFUSED if code in REFUSALS else WRONG_INPUT
    errors = document.get("errors") or ()
    lines = problem_lines(errors, {}, document.get("errors_total", len(errors)))
    return Stopped(status, *(lines or [text]), refused=code)


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        document = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def problem_lines(errors: Sequence[Mapping[str, Any]], files: Mapping[str, str], total: int) -> list[str]:
    """Problems as compilers print them: `file:line:column: what is wrong [code]`.

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
