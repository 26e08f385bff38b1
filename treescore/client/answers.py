"""Answers of the service: received piece by piece, unpacked within bounds, and read; and what the client raises.

There is one class for each kind of problem, all of them kinds of ClientError.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import IO, Any, ClassVar, Self

import httpx
import orjson

from treescore.core.params import Json
from treescore.errors import Problem

PROBLEMS = "/problems/"
"""What precedes the slug in the type of a problem."""
REFUSALS = (401, 403, 409, 429)
BY_SLUG: dict[str, type[ClientError]] = {}
"""Classes by the last part of a problem's type."""
BY_STATUS: dict[int, type[ClientError]] = {}
"""Classes of problems whose type this client does not know, by HTTP status."""


class ClientError(Exception):
    """A request did not succeed, or its work failed.

    Attributes:
        lines: one problem each, as they are printed.
        status: HTTP status of the answer or of the failure; 0 where there was none.
        slug: last part of the problem's type (`quota-exceeded`); empty where there is none.
        problems: code, detail (with what to do) and place of each, as far as the service lists them.
        retry_after: seconds after which the service asks to retry; None where it does not.
        document: the problem as the service tells it; empty where it tells none.
    """

    code: ClassVar[int] = 0

    def __init_subclass__(cls, *, slug: str = "", status: int = 0, **options: Any) -> None:
        """Enter the class for a slug, or for a status."""
        super().__init_subclass__(**options)
        if slug:
            BY_SLUG[slug] = cls
        if status:
            cls.code = status
            BY_STATUS[status] = cls

    def __init__(
        self,
        *lines: str,
        status: int | None = None,
        slug: str = "",
        problems: Sequence[Problem] = (),
        retry_after: float | None = None,
        document: Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
        self.status = self.code if status is None else status
        self.slug = slug
        self.problems = tuple(problems)
        self.retry_after = retry_after
        self.document: Mapping[str, Json] = {} if document is None else document

    def add_line(self, line: str) -> None:
        """Say one thing more."""
        self.lines = (*self.lines, line)
        self.args = ("\n".join(self.lines),)


class RequestError(ClientError):
    """The request is wrong: fix it before sending it again."""


class RefusedError(ClientError):
    """The request is not allowed: token, quota, closed benchmark, conflict."""


class UnavailableError(ClientError):
    """The service did not answer, failed, or did not finish in time."""


class WrongAddress(RequestError):
    """The URL is invalid, or something else than the service answers there: a redirect, a login page."""


class UnreadableUpload(RequestError):
    """A file to be sent cannot be read, or changed while it was sent."""


class UnwritableTarget(RequestError):
    """The file into which an answer goes cannot be written."""


class NoAnswer(UnavailableError):
    """The service cannot be reached, or the connection failed."""


class TimedOut(UnavailableError):
    """The time given to the client, or to one call, is over."""


class WrongAnswer(UnavailableError):
    """The answer is none that the service gives: no JSON, damaged, too large, or of another version."""


class MissingMember(WrongAnswer, AttributeError):
    """A document of the service lacks a member: the service speaks another version of the contract."""


class Cancelled(RefusedError):
    """The job or submission was cancelled."""


class BadRequest(RequestError, slug="bad-request", status=400):
    """The request is malformed."""


class MalformedBody(BadRequest, slug="malformed-body"):
    """The body is not what its media type says."""


class InvalidQuery(BadRequest, slug="invalid-query"):
    """A parameter of the query string is unknown, repeated, missing or invalid."""


class InvalidHost(BadRequest, slug="invalid-host"):
    """The header Host is missing, repeated or invalid."""


class Unauthorized(RefusedError, slug="unauthorized", status=401):
    """The token is missing, wrong, revoked or expired."""


class Forbidden(RefusedError, slug="forbidden", status=403):
    """The token does not allow this."""


class CrossSite(Forbidden, slug="cross-site"):
    """A page of another site sent the request."""


class JobKeyRequired(Forbidden, slug="job-key"):
    """A job made without a token is changed only with its key."""


class NotShown(Forbidden, slug="not-shown"):
    """The feedback level of the benchmark does not show this."""


class FixedQuestion(Forbidden, slug="fixed-question"):
    """The benchmark fixes how its questions are asked."""


class NotComparable(Forbidden, slug="not-comparable"):
    """A team may not compare these submissions."""


class UnknownInvite(Forbidden, slug="unknown-invite"):
    """The secret is not that of an invite."""


class JoiningClosed(Forbidden, slug="joining-closed"):
    """The benchmark has closed and takes no more teams."""


class NotFound(RequestError, slug="not-found", status=404):
    """The resource does not exist, or the caller may not know of it."""


class MethodNotAllowed(RequestError, slug="method-not-allowed", status=405):
    """The address takes other methods."""


class NotAcceptable(RequestError, slug="not-acceptable", status=406):
    """The answer is not available in this form."""


class RequestTimeout(RequestError, slug="request-timeout", status=408):
    """The request arrived too slowly."""


class Conflict(RefusedError, slug="conflict", status=409):
    """The state of the resource does not allow this now."""


class BenchmarkClosed(Conflict, slug="closed"):
    """The benchmark takes no more submissions."""


class BenchmarkNotOpen(Conflict, slug="not-open"):
    """The benchmark takes no submissions yet."""


class HasSubmissions(Conflict, slug="has-submissions"):
    """A benchmark with submissions cannot be deleted."""


class IdTaken(Conflict, slug="id-taken"):
    """The id belongs to another benchmark or team."""


class NameTaken(Conflict, slug="name-taken"):
    """The name looks like that of another team."""


class LadderBegun(Conflict, slug="ladder-begun"):
    """A setting that the ladder depends on cannot be changed any more."""


class NoActiveRevision(Conflict, slug="no-active-revision"):
    """The benchmark's gold has not been accepted yet."""


class RevisionUnderWay(Conflict, slug="revision-under-way"):
    """Another revision is being scored."""


class NotFinished(Conflict, slug="not-finished"):
    """The job or comparison has not finished."""


class NoResults(Conflict, slug="no-results"):
    """The work ended without results."""


class NotRetryable(Conflict, slug="not-retryable"):
    """Only work that failed by a fault of the service is tried again."""


class TooManyWebhooks(Conflict, slug="too-many-webhooks"):
    """The limit of webhooks is reached."""


class DeliveryWaiting(Conflict, slug="delivery-waiting"):
    """The delivery has not ended."""


class WebhookDisabled(Conflict, slug="webhook-disabled"):
    """The webhook is disabled and sends nothing."""


class TooManyDeliveries(Conflict, slug="too-many-deliveries"):
    """Too many deliveries of the webhook wait."""


class Gone(RequestError, slug="gone", status=410):
    """The resource was deleted."""


class InviteExpired(Gone, slug="invite-expired"):
    """The time of the invite has passed."""


class InviteUsedUp(Gone, slug="invite-used-up"):
    """As many teams were made with the invite as are allowed."""


class InviteWithdrawn(Gone, slug="invite-withdrawn"):
    """The organisers deleted the invite."""


class PreconditionFailed(RequestError, slug="precondition-failed", status=412):
    """The resource has changed since it was read: read it again."""


class PayloadTooLarge(RequestError, slug="payload-too-large", status=413):
    """The request is larger than the service takes."""


class LimitExceeded(PayloadTooLarge, slug="limit-exceeded"):
    """A text exceeds a limit of the service."""


class AddressTooLong(RequestError, slug="uri-too-long", status=414):
    """The query is longer than the service takes."""


class UnsupportedMediaType(RequestError, slug="unsupported-media-type", status=415):
    """The service does not read bodies of this kind."""


class ExpectationFailed(RequestError, slug="expectation-failed", status=417):
    """The service does not know what the header Expect asks for."""


class UnknownHost(RequestError, slug="unknown-host", status=421):
    """The service does not answer for this host."""


class InvalidRequest(RequestError, slug="invalid-request", status=422):
    """The request is well-formed and invalid: see `problems`."""


class InvalidInput(InvalidRequest, slug="invalid-input"):
    """A text cannot be scored: see `problems` for line and column."""


class InvalidOutput(InvalidInput, slug="invalid-output"):
    """An output does not fit the gold standard: see `problems` for line and column."""


class IdempotencyKeyReused(InvalidRequest, slug="idempotency-key-reused"):
    """The key was used for another request."""


class PreconditionRequired(RequestError, slug="precondition-required", status=428):
    """The call needs the ETag of what it changes."""


class HeadersTooLarge(RequestError, slug="request-header-fields-too-large", status=431):
    """The headers are larger than the service takes."""


class TooManyRequests(RefusedError, status=429):
    """The service takes no more of these requests now: see `retry_after`."""


class QuotaExceeded(TooManyRequests, slug="quota-exceeded"):
    """The quota is used up."""


class TooManyChanges(TooManyRequests, slug="too-many-changes"):
    """This token has made too many changes."""


class TooManyComparisons(TooManyRequests, slug="too-many-comparisons"):
    """Too many comparisons are under way."""


class TooManyFailures(TooManyRequests, slug="too-many-failures"):
    """Too many requests with invalid tokens came from this address."""


class TooManyQueued(TooManyRequests, slug="too-many-queued"):
    """Too much work is waiting."""


class TooManyValidations(TooManyRequests, slug="too-many-validations"):
    """Too many validations are under way."""


class ServiceFault(UnavailableError, slug="service-fault", status=500):
    """The service failed: retry, and report the request's id if it fails again."""


class NotSupported(UnavailableError, slug="not-implemented", status=501):
    """The service does not know how the body is transferred."""


class ServiceUnavailable(UnavailableError, slug="unavailable", status=503):
    """A part of the service does not answer."""


class StoreFull(ServiceUnavailable, slug="store-full"):
    """The service's store is full; its operators must act."""


class StoreDamaged(ServiceUnavailable, slug="store-damaged"):
    """The service's store is damaged; its operators must act."""


class StoreReadOnly(ServiceUnavailable, slug="store-read-only"):
    """The service's store cannot be written; its operators must act."""


class InsufficientStorage(UnavailableError, slug="insufficient-storage", status=507):
    """The service has no room for what was sent."""


def kind_of(status: int, slug: str) -> type[ClientError]:
    """Return the class of a problem: that of its slug, else that of its status."""
    usual = UnavailableError if status >= 500 else RefusedError if status in REFUSALS else RequestError
    return BY_SLUG.get(slug) or BY_STATUS.get(status, usual)


def slug_of(document: Mapping[str, Json]) -> str:
    """Return the last part of a problem's type; empty where it has none."""
    kind = document.get("type")
    return kind.rpartition(PROBLEMS)[2] if isinstance(kind, str) and PROBLEMS in kind else ""


def failure_error(document: Mapping[str, Json], status: int = 0, retry_after: float | None = None) -> ClientError:
    """Return the error of a problem document, or of the `failure` of work.

    Args:
        document: as the service tells it; another server may have sent anything.
        status: HTTP status of the answer; that of the document for work that failed.
        retry_after: seconds that the service asks to wait.
    """
    named = document.get("status")
    code = status or (named if isinstance(named, int) else 0)
    listed = document.get("errors")
    errors = [error for error in listed if _is_problem(error)] if isinstance(listed, list) else []
    total = document.get("errors_total")
    lines = problem_lines(errors, {}, total if isinstance(total, int) else len(errors)) if errors else []
    text = document.get("detail") or document.get("title") or f"The service answers {code}."
    slug = slug_of(document)
    return kind_of(code, slug)(
        *(lines or [str(text)]),
        status=code,
        slug=slug,
        problems=[_problem(error) for error in errors],
        retry_after=retry_after,
        document=document,
    )


def _is_problem(error: object) -> bool:
    """Return whether a member of `errors[]` is one, as far as it is printed: another server may answer anything."""
    return isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("code", "detail"))


def _problem(error: Mapping[str, Any]) -> Problem:
    """Return a member of `errors[]` as the library's own kind of problem."""

    def text(name: str) -> str | None:
        value = error.get(name)
        return value if isinstance(value, str) else None

    def number(name: str) -> int | None:
        value = error.get(name)
        return value if isinstance(value, int) else None

    return Problem(
        code=error["code"],
        detail=error["detail"],
        pointer=text("pointer") or "",
        part=text("part"),
        sentence=number("sentence"),
        sent_id=text("sent_id"),
        line=number("line"),
        column=number("column"),
    )


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
        place = files.get(str(part)) or (f'part "{part}"' if part else error.get("pointer", ""))
        numbers = [str(error[name]) for name in ("line", "column") if name in error]
        sentence = f" (sentence {error['sent_id']})" if isinstance(error.get("sent_id"), str) else ""
        head = ":".join([*([str(place)] if place else []), *numbers])
        lines.append(f"{head}{': ' if head else ''}{error['detail']}{sentence} [{error['code']}]")
    if total > len(lines):
        lines.append(f"... and {total - len(lines)} more")
    return lines


MOST = 512 << 20
"""Bytes of an answer that is held in memory, once unpacked."""
MOST_OF_ERROR = 8 << 20
"""Bytes of an unsuccessful answer."""
MOST_OF_FILE = 16 << 30
"""Bytes of an answer that is written into a file, once unpacked."""
_PIECE = 1 << 20
"""Bytes unpacked at once."""
_CODINGS = ("", "identity", "gzip")
_TITLE = re.compile(rb"<title[^>]*>\s*([^<]{1,80})", re.IGNORECASE)
_HTML = re.compile(rb"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """What is left of the caller's quota, as the answer to a submission tells.

    Attributes:
        limit: requests allowed; None where the service does not tell.
        remaining: of them.
        reset: seconds until all are allowed again.
    """

    limit: int | None
    remaining: int | None
    reset: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the service.

    Attributes:
        status: of HTTP.
        headers: by name, in any case.
        body: unpacked; empty where it was written into a file.
        url: that was asked.
        path: the file into which the body was written; None if it is in `body`.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    path: Path | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    @property
    def etag(self) -> str:
        """The validator of the body; empty without one, or with one that no request can carry."""
        found = self.headers.get("ETag", "")
        return found if found.isascii() and found.isprintable() else ""

    @property
    def replayed(self) -> bool:
        """Whether the service had done this request before."""
        return "Idempotent-Replayed" in self.headers

    @property
    def retry_after(self) -> float | None:
        """Seconds after which the service asks to come again; None where it does not."""
        asked = self.headers.get("Retry-After", "").strip()
        if _is_number(asked):
            return float(asked)
        if asked:
            try:
                return max(0.0, (parsedate_to_datetime(asked) - self._date()).total_seconds())
            except (TypeError, ValueError, OverflowError):
                return None  # neither a number nor a date
        reset = self.headers.get("RateLimit-Reset", "")
        return float(reset) if self.status == 429 and _is_number(reset) else None

    @property
    def rate_limit(self) -> RateLimit | None:
        """What is left of the quota; None where the answer does not tell."""
        texts = [self.headers.get(f"RateLimit-{name}", "") for name in ("Limit", "Remaining", "Reset")]
        limit, remaining, reset = (int(text) if _is_number(text) else None for text in texts)
        return None if limit is None and remaining is None else RateLimit(limit, remaining, reset)

    def document(self) -> dict[str, Json]:
        """Return the JSON object of the body.

        Raises:
            WrongAnswer: the body is none.
        """
        found = self.object()
        if found is None:
            raise WrongAnswer(f"{self.url} does not answer with a JSON document{self._instead()}.", status=self.status)
        return found

    def object(self) -> dict[str, Json] | None:
        """Return the JSON object of the body; None for a body that is none."""
        try:
            document = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return None
        return document if isinstance(document, dict) else None

    def error(self) -> ClientError:
        """Return the error that an unsuccessful answer means."""
        document = self.object() or {}
        place = self.headers.get("Location")
        if 300 <= self.status < 400 and place:
            return WrongAddress(
                f"{self.url} answers {self.status} and points to {place}. The client follows no redirects, so that it "
                "sends the token nowhere else: if the service is there, give its address as URL.",
                status=self.status,
            )
        known = isinstance(document.get("detail") or document.get("title"), str) or document.get("errors")
        if not known:
            document = {"detail": f"{self.url} answers {self.status}{self._instead()}."}
        error = failure_error(document, self.status, self.retry_after)
        if not known and error.retry_after is not None:  # the service itself says when
            error.add_line(f"Retry in {error.retry_after:.0f} s.")
        return error

    def _date(self) -> datetime:
        """Return the time of the answer by the clock of its sender."""
        with suppress(TypeError, ValueError, OverflowError):
            return parsedate_to_datetime(self.headers.get("Date", ""))
        return datetime.now(UTC)

    def _instead(self) -> str:
        """Return what the body seems to be."""
        if not self.body:
            return ", its body is empty"
        if not ("text/html" in self.headers.get("Content-Type", "") or _HTML.match(self.body)):
            return ""
        title = _TITLE.search(self.body)
        named = f" titled {title[1].decode('utf-8', 'replace').strip()!r}" if title else ""
        return f" but with a page{named}: a proxy or a login page may stand before the service. Check the URL"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 15


class Receiver:
    """Takes the body of an answer in pieces. Used as a context, it removes a file that was not written to its end.

    Attributes:
        whole: whether the body was read before: by a transport or a hook of the caller.

    Args:
        response: of which nothing but the head was read.
        target: file for the body of a success; None to hold it.
        check: called between pieces; raises where the time is over.
    """

    def __init__(self, response: httpx.Response, target: Path | None, check: Callable[[], None]) -> None:
        self._response = response
        self.whole = response.is_stream_consumed
        self._check = check
        self._url = str(response.request.url)
        self._coding = response.headers.get("Content-Encoding", "").strip().lower()
        self._unpacker = _gzip()
        self._packed = 0
        self._body = bytearray()
        self._kept = 0
        self._target = target if response.is_success else None
        self._most = MOST_OF_ERROR if not response.is_success else MOST if self._target is None else MOST_OF_FILE
        self._file: IO[bytes] | None = None
        if self._target is not None:
            try:
                self._file = NamedTemporaryFile(  # noqa: SIM115 - kept across calls, closed in __exit__
                    dir=self._target.parent, prefix=f".{self._target.name}.", suffix=".part", delete=False
                )
            except (OSError, ValueError) as error:
                raise self._unwritable(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with suppress(OSError):  # that the disk is full was said before
                self._file.close()
            Path(self._file.name).unlink(missing_ok=True)

    def feed(self, piece: bytes) -> None:
        """Take a piece as it came.

        Raises:
            WrongAnswer: it cannot be unpacked, or the body is too large.
        """
        self._check()
        if self._coding not in _CODINGS:
            raise self._wrong(f"in the coding {self._coding!r}, which was not asked for")
        if self._coding != "gzip":
            self._keep(piece)
            return
        self._packed += len(piece)
        rest = piece
        try:
            while rest:
                self._keep(self._unpacker.decompress(rest, _PIECE))
                rest = self._unpacker.unconsumed_tail
                if self._unpacker.eof and self._unpacker.unused_data:
                    rest, self._unpacker = self._unpacker.unused_data, _gzip()
        except zlib.error as error:
            raise self._wrong(f"that cannot be unpacked: {error}") from error

    def finish(self) -> Answer:
        """Return the answer; the file, if it goes into one, is complete then, and only then."""
        if self.whole:
            self._keep(self._response.content)  # the HTTP library has unpacked it
        if self._packed and not self._unpacker.eof:
            raise self._wrong("that cannot be unpacked: its end is missing")
        status, headers = self._response.status_code, self._response.headers
        if self._file is None or self._target is None:
            return Answer(status, headers, bytes(self._body), self._url)
        try:
            self._file.close()
            Path(self._file.name).replace(self._target)
        except OSError as error:
            raise self._unwritable(error) from error
        self._file = None
        return Answer(status, headers, b"", self._url, self._target)

    def _keep(self, data: bytes) -> None:
        self._kept += len(data)
        if self._kept > self._most:
            raise self._wrong(f"of more than {self._most} bytes, once unpacked")
        if self._file is None:
            self._body += data
            return
        try:
            self._file.write(data)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError | ValueError) -> UnwritableTarget:
        reason = error.strerror if isinstance(error, OSError) else error
        return UnwritableTarget(f"{self._target}: {reason}. Name a file that can be written.")

    def _wrong(self, what: str) -> WrongAnswer:
        return WrongAnswer(f"{self._url} sends an answer {what}.", status=self._response.status_code)


def _gzip() -> Any:
    return zlib.decompressobj(wbits=31)
