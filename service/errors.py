"""What a use-case refuses, and with which status. Knows no Flask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from treescore.errors import Problem, ProblemList, ScoringError

SOON: Mapping[str, str] = {"Retry-After": "1"}
"""Headers of a refusal that ends by itself: what is asked for is still being worked on."""


class ServiceError(Exception):
    """An answer that is no success.

    Attributes:
        status: HTTP status.
        slug: the stable last part of the problem's type.
        title: one for each slug.
        detail: what happened here and how to mend it.
        problems: the single faults, capped; `total` counts all of them.
        headers: to send along.
    """

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "service-fault"
    title: ClassVar[str] = "The service failed"

    def __init__(
        self,
        detail: str,
        *,
        slug: str | None = None,
        title: str | None = None,
        problems: Sequence[Problem] = (),
        total: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.type_slug = slug if slug is not None else self.slug
        self.type_title = title if title is not None else self.title
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        self.headers = dict(headers or {})


class BadRequest(ServiceError):
    """The request cannot be read."""

    status, slug, title = 400, "bad-request", "The request cannot be read"


class Unauthorized(ServiceError):
    """No token, or none that is valid."""

    status, slug, title = 401, "unauthorized", "A valid token is needed"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": 'Bearer realm="treescore"'})


class Forbidden(ServiceError):
    """The token does not have the scope."""

    status, slug, title = 403, "forbidden", "The token does not allow this"


class NotFound(ServiceError):
    """There is no such thing, or it is not the caller's to know of."""

    status, slug, title = 404, "not-found", "There is no such resource"


class NotAcceptable(ServiceError):
    """No form that we have is one that the client takes."""

    status, slug, title = 406, "not-acceptable", "There is no such form of this"


class Conflict(ServiceError):
    """The resource's state does not allow it now."""

    status, slug, title = 409, "conflict", "The resource's state does not allow this"


class Gone(ServiceError):
    """It was here and was deleted."""

    status, slug, title = 410, "gone", "The resource was deleted"


class PreconditionFailed(ServiceError):
    """If-Match names another state."""

    status, slug, title = 412, "precondition-failed", "The resource has changed meanwhile"


class PayloadTooLarge(ServiceError):
    """A bound on the request is passed."""

    status, slug, title = 413, "payload-too-large", "The request is too large"


class UnsupportedMediaType(ServiceError):
    """The body's type or coding is not one we read."""

    status, slug, title = 415, "unsupported-media-type", "The body's media type or coding is not supported"


class Unprocessable(ServiceError):
    """Well-formed, and wrong."""

    status, slug, title = 422, "invalid-request", "The request does not make sense"


class PreconditionRequired(ServiceError):
    """If-Match is needed."""

    status, slug, title = 428, "precondition-required", "If-Match is needed"


class TooManyRequests(ServiceError):
    """A quota is used up."""

    status, slug, title = 429, "quota-exceeded", "The quota is used up"


class Unavailable(ServiceError):
    """A part of the service is away for the moment."""

    status, slug, title = 503, "unavailable", "The service is not available at the moment"

    def __init__(self, detail: str, retry_after: int = 2) -> None:
        super().__init__(detail, headers={"Retry-After": str(retry_after)})


def counted(total: int, where: str = "") -> str:
    """`2 problems in part "en".` - the detail of a list of problems."""
    return f"{total} problem{'' if total == 1 else 's'}{where}."


def unprocessable(error: ScoringError) -> Unprocessable:
    """A request that the scoring side refuses before any text is read."""
    return Unprocessable(counted(error.total), problems=error.problems, total=error.total)


FAILURES = {
    "input": ("invalid-input", "The texts cannot be scored"),
    "limit": ("limit-exceeded", "A limit is passed"),
    "service": ("service-fault", "The service failed; the fault is not yours"),
}
FAILURE_STATUS = {"input": 422, "limit": 413, "service": 500}


def error_document(problem: Problem, *, gold_visible: bool) -> dict[str, Any]:
    """One member of `errors[]`; what quotes gold is in it only where the caller may read gold."""
    detail = problem.gold_detail if gold_visible and problem.gold_detail else problem.detail
    members = {
        "code": problem.code,
        "pointer": problem.pointer,
        "part": problem.part,
        "sentence": problem.sentence,
        "sent_id": problem.sent_id,
        "line": problem.line,
        "column": problem.column,
        "detail": detail,
    }
    return {name: value for name, value in members.items() if value not in (None, "")}


def failure_record(kind: str, problems: Sequence[Problem], total: int) -> dict[str, Any]:
    """A failure as the store keeps it where gold is not the caller's own: each error has `gold_detail` beside `detail`.

    Nobody sees it but through service.policy.gate.
    """
    document = dict(failure_document(kind, problems, total, gold_visible=False))
    errors = [
        {**error, "gold_detail": problem.gold_detail} if problem.gold_detail else error
        for error, problem in zip(document["errors"], problems, strict=True)
    ]
    return {**document, "errors": errors}


def failure_document(
    kind: str, problems: Sequence[Problem], total: int, *, gold_visible: bool = True
) -> Mapping[str, Any]:
    """What stands under `failure` of something that a worker could not score.

    In a job gold is the caller's own text, so it may be quoted.
    """
    slug, title = FAILURES[kind]
    return {
        "type": f"/problems/{slug}",
        "title": title,
        "status": FAILURE_STATUS[kind],
        "kind": kind,
        "detail": counted(total) if len(problems) != 1 else problems[0].detail,
        "errors": [error_document(problem, gold_visible=gold_visible) for problem in problems],
        "errors_total": total,
    }


def refuse(problems: ProblemList) -> None:
    """Raise Unprocessable where there is a problem."""
    if problems.total:
        raise Unprocessable(counted(problems.total), problems=problems.problems, total=problems.total)
