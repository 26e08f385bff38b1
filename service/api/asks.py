"""What an operation asks and answers: stated once, checked before its function runs, and published in openapi.yaml.

The docstring of the function is the prose: its first line the summary, the rest the description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, overload

from flask import Response

from service.api import calls
from service.caller import Caller
from service.requests import Query

Path = ParamSpec("Path")
Asked = TypeVar("Asked", bound=Query)
View: TypeAlias = Callable[Path, Response]
Content: TypeAlias = Any
"""A type of service.contract, which is JSON; or a media type, whose body is text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of an operation.

    Attributes:
        words: what it is.
        contents: the first is the default.
        status: of HTTP.
        headers: names of common headers beside those of the operation's words.
        examples: of its JSON: what they show -> name.
    """

    words: str
    contents: Sequence[Content]
    status: int = 200
    headers: Sequence[str] = ()
    examples: Mapping[str, str] = field(default_factory=dict)


def answer(
    words: str, *contents: Content, status: int = 200, headers: str = "", examples: Mapping[str, str] | None = None
) -> Answer:
    """Return an answer; headers are separated by spaces."""
    return Answer(words, contents, status, headers.split(), examples or {})


def texts(formats: Mapping[str, str]) -> list[str]:
    """Return the media types of formats (name -> media type) beside JSON."""
    media = [each.partition(";")[0] for each in formats.values()]
    return [each for each in media if each != "application/json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The body that an operation takes.

    Attributes:
        json: its type.
        form: name of the schema of the same as a form.
        texts: media types of the same as text.
        examples: of its JSON: what they show -> name.
    """

    json: Content
    form: str | None = None
    texts: Sequence[str] = ()
    examples: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Operation:
    """What openapi.yaml says of an operation.

    Attributes:
        query: the type of its query string.
        answers: those of success.
        words: what else it takes and answers, as service.openapi.common calls it.
        body: that it takes.
        scopes: of which a token must have one; None where no token is read.
        anyone: whether callers without a token may be answered too.
    """

    query: type[Query] | None
    answers: Sequence[Answer]
    words: Sequence[str]
    body: Body | None
    scopes: Sequence[str] | None
    anyone: bool


OPERATIONS: dict[Callable[..., Response], Operation] = {}
"""What is published, by the function that Flask calls."""


@overload
def asks(
    query: None, *answers: Answer, scopes: Sequence[str] = (), anyone: bool = False, also: str = "",
    body: Body | None = None,
) -> Callable[[Callable[Concatenate[Caller, Path], Response]], View[Path]]: ...  # fmt: skip
@overload
def asks(
    query: type[Asked], *answers: Answer, scopes: Sequence[str] = (), anyone: bool = False, also: str = "",
    body: Body | None = None,
) -> Callable[[Callable[Concatenate[Caller, Asked, Path], Response]], View[Path]]: ...  # fmt: skip
def asks(
    query: type[Query] | None,
    *answers: Answer,
    scopes: Sequence[str] = (),
    anyone: bool = False,
    also: str = "",
    body: Body | None = None,
) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Hand the caller, then the query to a function; without a type of queries any parameter is refused.

    Args:
        query: its type, whose request the function gets.
        answers: those of success.
        scopes: of which the caller has one.
        anyone: whether a caller without a token may have them.
        also: words of service.openapi.common, separated by spaces.
        body: that the function reads.
    """
    record = Operation(query, answers, also.split(), body, scopes, anyone or not scopes)

    def decorate(view: Callable[..., Response]) -> Callable[..., Response]:
        @wraps(view)
        def asked(**path: str) -> Response:
            caller = calls.caller(*scopes)
            given = calls.query(query or Query)
            return view(caller, **path) if query is None else view(caller, given, **path)

        OPERATIONS[asked] = record
        return asked

    return decorate


def publishes(
    *answers: Answer, query: type[Query] | None = None, also: str = "", body: Body | None = None
) -> Callable[[View[Path]], View[Path]]:
    """Publish an operation that asks for no token."""

    def decorate(view: View[Path]) -> View[Path]:
        OPERATIONS[view] = Operation(query, answers, also.split(), body, None, anyone=False)
        return view

    return decorate
