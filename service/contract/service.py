"""The service itself: its contract, its catalogue of problems, and its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from service.contract.common import Checks, ServerLoad, WorkerCounts
from service.contract.derive import Says, more
from service.contract.fields import OneOf
from service.requests import Query


@dataclass(frozen=True, kw_only=True)
class ProblemsQuery(Query):
    """In which format to show the catalogue of problems.

    Attributes:
        format: Media type of the answer; the default follows `Accept`.
    """

    format: Annotated[str, OneOf(("json", "html"))] | None = None


class ProblemEntry(TypedDict):
    """Cause and fix of a type or code of problems.

    Attributes:
        name: The code, or the last part of the `type`.
        uri: Address of this entry.
        kind: `type`: of problems and failures. `code`: of `errors[]` and `warnings[]`.
        status: HTTP status of a type; absent for codes.
        fix: What to do.
    """

    name: str
    uri: str
    kind: Annotated[str, OneOf(("type", "code"))]
    status: NotRequired[int]
    title: str
    cause: str
    fix: str
    example: NotRequired[str]


class Problems(TypedDict):
    """The catalogue of problems."""

    problems: Sequence[ProblemEntry]


@more
class Document(TypedDict):
    """A document of OpenAPI 3.1, whose specification defines the members.

    Attributes:
        info: Title, version and licence.
        paths: Operations by path and method.
    """

    openapi: str
    info: Mapping[str, object]
    paths: Mapping[str, object]


class Liveness(TypedDict):
    """That the process answers."""

    status: Annotated[str, Says(const="ok")]


class Readiness(TypedDict):
    """The state of a service that accepts work."""

    status: Annotated[str, Says(const="ready")]
    checks: Checks
    workers: WorkerCounts
    server: ServerLoad
