"""What the client raises: one class for each kind of problem, all of them kinds of ClientError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

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


class TooManyComparisons(TooManyRequests, slug="too-many-comparisons"):
    """Too many comparisons are under way."""


class TooManyFailures(TooManyRequests, slug="too-many-failures"):
    """Too many requests with invalid tokens came from this address."""


class TooManyQueued(TooManyRequests, slug="too-many-queued"):
    """Too much work is waiting."""


class TooManyUnfinished(TooManyRequests, slug="too-many-unfinished"):
    """This address has too many unfinished requests."""


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
