"""What the client raises, all of it kinds of ClientError. Each type of problems has a class in problems.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from treescore.core.params import Json
from treescore.errors import Problem

_T = TypeVar("_T")
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


class TooManyRequests(RefusedError, status=429):
    """The service takes no more of these requests now: see `retry_after`."""


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

    def member(name: str, kind: type[_T]) -> _T | None:
        value = error.get(name)
        return value if isinstance(value, kind) else None

    return Problem(
        code=error["code"],
        detail=error["detail"],
        pointer=member("pointer", str) or "",
        part=member("part", str),
        sentence=member("sentence", int),
        sent_id=member("sent_id", str),
        line=member("line", int),
        column=member("column", int),
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
