"""Errors that use-cases raise, with their HTTP statuses, and errors as documents; the catalogue of problems.

The catalogue has types, which answers and failures have, and codes, which `errors[]` and warnings have. The type is
the last part of a problem's `type`, with its title and status. Codes are the service's own and those of the library.
The words stand in problem_types.toml and problem_codes.toml. Knows no Flask.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from treescore.core.wording import counted
from treescore.errors import Problem, ProblemList, ScoringError
from treescore.problem_catalogue import CATALOGUE, Entry, read_entries

SOON: Mapping[str, str] = {"Retry-After": "1"}
"""Headers of an error that ends by itself, once work under way is done."""
FAILURES = {"input": "invalid-input", "limit": "limit-exceeded", "service": "service-fault"}
"""Slug of each kind of failure."""
LONGEST_SHOWN = 80
"""Characters of an unknown name that an answer repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemType(Entry):
    """One type of problems.

    Attributes:
        status: HTTP status of its answers.
    """

    status: int


TYPES: Mapping[str, ProblemType] = {
    slug: ProblemType(**members) for slug, members in read_entries("service", "problem_types.toml").items()
}
"""Slug -> type, by status."""
_OF_STATUS = {
    **dict.fromkeys(range(400, 500), "bad-request"),
    **{
        TYPES[slug].status: slug
        for slug in (
            *("unauthorized", "not-found", "method-not-allowed", "not-acceptable", "request-timeout"),
            *("payload-too-large", "uri-too-long", "unsupported-media-type", "expectation-failed"),
            *("request-header-fields-too-large", "not-implemented", "unavailable"),
        )
    },
}


def type_of_status(status: int) -> str:
    """Return the slug of an error that only a status describes, as those of the framework and of the server."""
    return _OF_STATUS.get(status, "service-fault")


OWN_CODES: Mapping[str, Entry] = {
    code: Entry(**members) for code, members in read_entries("service", "problem_codes.toml").items()
}
"""Code -> entry of the service's own codes."""
CODES: Mapping[str, Entry] = dict(sorted({**CATALOGUE, **OWN_CODES}.items()))
"""Code -> entry: those of the library and those of the service."""


class ServiceError(Exception):
    """An answer that is not a success.

    Attributes:
        status: HTTP status.
        slug: the stable last part of the problem's type, which the catalogue explains.
        detail: what is wrong here, and what to do.
        problems: the single errors, capped; `total` counts all of them.
        headers: to send along.
    """

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "service-fault"

    def __init__(
        self,
        detail: str,
        *,
        slug: str | None = None,
        problems: Sequence[Problem] = (),
        total: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.type_slug = self.slug if slug is None else slug
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        self.headers = dict(headers or {})


class BadRequest(ServiceError):
    """The request is malformed."""

    status, slug = 400, "bad-request"


class Unauthorized(ServiceError):
    """The token is missing or invalid."""

    status, slug = 401, "unauthorized"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": 'Bearer realm="treescore"'})


class Forbidden(ServiceError):
    """The token does not have the scope."""

    status, slug = 403, "forbidden"


class NotFound(ServiceError):
    """The resource does not exist, or the caller may not know of it."""

    status, slug = 404, "not-found"


class RequestTimeout(ServiceError):
    """The request does not arrive in time."""

    status, slug = 408, "request-timeout"


class NotAcceptable(ServiceError):
    """The client accepts none of the media types."""

    status, slug = 406, "not-acceptable"


class Conflict(ServiceError):
    """The state of the resource does not allow the request now."""

    status, slug = 409, "conflict"


class Gone(ServiceError):
    """The resource was deleted."""

    status, slug = 410, "gone"


class PreconditionFailed(ServiceError):
    """If-Match names another state."""

    status, slug = 412, "precondition-failed"


class PayloadTooLarge(ServiceError):
    """The request exceeds a limit."""

    status, slug = 413, "payload-too-large"


class UnsupportedMediaType(ServiceError):
    """The media type or coding of the body is not supported."""

    status, slug = 415, "unsupported-media-type"


class Misdirected(ServiceError):
    """The request is for a host that this service does not answer for."""

    status, slug = 421, "unknown-host"


class Unprocessable(ServiceError):
    """The request is well-formed and invalid."""

    status, slug = 422, "invalid-request"


class PreconditionRequired(ServiceError):
    """If-Match is missing."""

    status, slug = 428, "precondition-required"


class TooManyRequests(ServiceError):
    """A quota is used up."""

    status, slug = 429, "quota-exceeded"


class Unavailable(ServiceError):
    """A part of the service does not answer."""

    status, slug = 503, "unavailable"

    def __init__(self, detail: str, *, slug: str | None = None) -> None:
        super().__init__(detail, slug=slug, headers={"Retry-After": "2"})


class InsufficientStorage(ServiceError):
    """What was sent cannot be stored."""

    status, slug = 507, "insufficient-storage"


def problems_counted(total: int, where: str = "") -> str:
    """Return `2 problems in part "en".`, the detail of a list of problems."""
    return f"{counted(total, 'problem')}{where}."


def invalid(code: str, pointer: str, detail: str) -> Unprocessable:
    """Return the answer to a request with one fault."""
    return Unprocessable(problems_counted(1), problems=[Problem(code=code, pointer=pointer, detail=detail)])


def unprocessable(found: ScoringError | ProblemList) -> Unprocessable:
    """Return the answer to a request with these problems, found here or by the library before it reads a text."""
    return Unprocessable(problems_counted(found.total), problems=found.problems, total=found.total)


def refuse(problems: ProblemList) -> None:
    """Raise Unprocessable if there is a problem."""
    if problems.total:
        raise unprocessable(problems)


def problem_head(slug: str) -> dict[str, object]:
    """Return the members of a problem document that follow from its type."""
    return {"type": f"/problems/{slug}", "title": TYPES[slug].title, "status": TYPES[slug].status}


ERROR_PLACE = ("code", "pointer", "part", "sentence", "sent_id", "line", "column")
"""Members of an error before its detail."""


def error_document(problem: Problem, *, gold_visible: bool) -> dict[str, object]:
    """Return one member of `errors[]`; it quotes gold only if the caller may read gold."""
    detail = problem.gold_detail if gold_visible and problem.gold_detail else problem.detail
    members = {**{name: getattr(problem, name) for name in ERROR_PLACE}, "detail": detail}
    return {name: value for name, value in members.items() if value not in (None, "")}


def failure_document(
    kind: str, problems: Sequence[Problem], total: int, show: Callable[[Problem], dict[str, object]]
) -> dict[str, object]:
    """Return the `failure` of work that could not be scored, of the documents that `show` makes of its problems.

    What is made with `error_record` is stored, and shown only through service.policy.gate.
    """
    detail = problems_counted(total) if len(problems) != 1 else problems[0].detail
    shown = list(map(show, problems))
    return {**problem_head(FAILURES[kind]), "kind": kind, "detail": detail, "errors": shown, "errors_total": total}


def error_record(problem: Problem) -> dict[str, object]:
    """Return a problem as it is stored where gold is not the caller's own: with `gold_detail` beside `detail`."""
    quoted = {"gold_detail": problem.gold_detail} if problem.gold_detail else {}
    return {**error_document(problem, gold_visible=False), **quoted}
