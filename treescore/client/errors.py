"""What the client raises, all of it kinds of ClientError. Each type of problems has a class in problems.py."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from treescore.errors import Problem

_PLACES = {"pointer": str, "part": str, "sentence": int, "sent_id": str, "line": int, "column": int}
"""What places a problem."""


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

    def __init__(
        self, *lines: str, status: int | None = None, retry_after: float | None = None, document: Mapping[str, Any] = {}
    ) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
        self.status = self.code if status is None else status
        self.slug = slug_of(document)
        self.problems = tuple(_problem(error) for error in problems_of(document))
        self.retry_after = retry_after
        self.document = document

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


class TooManyRequests(RefusedError):
    """The service takes no more of these requests now: see `retry_after`."""

    code = 429


def slug_of(document: Mapping[str, Any]) -> str:
    """Return the last part of a problem's type; empty where it has none."""
    _, known, slug = str(document.get("type")).rpartition("/problems/")
    return slug if known else ""


def problems_of(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the members of `errors[]`, as far as they can be printed: another server may answer anything."""
    listed = document.get("errors")
    return [
        error
        for error in (listed if isinstance(listed, list) else ())
        if isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("code", "detail"))
    ]


def _problem(error: Mapping[str, Any]) -> Problem:
    """Return a member of `errors[]` as the library's own kind of problem."""
    known = {name: error[name] for name, kind in _PLACES.items() if isinstance(error.get(name), kind)}
    return Problem(error["code"], error["detail"], **known)


def problem_lines(errors: Sequence[Mapping[str, Any]], files: Mapping[str, str], total: int) -> list[str]:
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
