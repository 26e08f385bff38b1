"""The service itself: its contract and state, its catalogues of problems and of what scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from service.contract import common, derive, fields
from service.requests import Query


@dataclass(frozen=True, kw_only=True)
class ProblemsQuery(Query):
    """In which format to show the catalogue of problems.

    Attributes:
        format: Media type of the answer; the default follows `Accept`.
    """

    format: Annotated[str, fields.OneOf(("json", "html"))] | None = None


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
    kind: Annotated[str, fields.OneOf(("type", "code"))]
    status: NotRequired[int]
    title: str
    cause: str
    fix: str
    example: NotRequired[str]


class Problems(TypedDict):
    """The catalogue of problems."""

    problems: Sequence[ProblemEntry]


@derive.more
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

    status: Annotated[str, derive.Says(const="ok")]


class Readiness(TypedDict):
    """The state of a service that accepts work."""

    status: Annotated[str, derive.Says(const="ready")]
    checks: common.Checks
    workers: common.WorkerCounts
    server: common.ServerLoad


class ScoreEntry(TypedDict):
    """A score of a metric.

    Attributes:
        range: Lowest and highest value; null means no bound.
        one_sided: Whether an output that says next to nothing, or everything, gets its best value. No board ranks
            by it unless the organiser accepts that.
    """

    name: str
    doc: str
    higher_is_better: bool
    range: Annotated[Sequence[float | None], derive.Says(minItems=2, maxItems=2)]
    one_sided: bool


class CatalogueEntry(TypedDict):
    """A metric, a format or a transform.

    Attributes:
        version: Changes if scores change; part of the `signature` of results.
        params: JSON Schema of the parameters.
        main_score: Metrics: the first score.
        scores: Metrics: the scores, with default parameters.
        counts: Metrics: names of the counts.
        reports: Metrics: styles of reports.
        formats: Metrics: names of the formats that it scores as they are.
        suffixes: Formats: suffixes of files.
        metrics: Formats: names of the metrics that score it as it is.
        usual_metric: Formats: the metric where none is named.
        reads: Metrics: kinds of treebanks that it compares.
    """

    name: str
    doc: str
    source: NotRequired[str]
    version: NotRequired[int]
    params: Mapping[str, object]
    main_score: NotRequired[str]
    scores: NotRequired[Sequence[ScoreEntry]]
    counts: NotRequired[Sequence[str]]
    reports: NotRequired[Sequence[str]]
    formats: NotRequired[Sequence[str]]
    suffixes: NotRequired[Sequence[str]]
    metrics: NotRequired[Sequence[str]]
    usual_metric: NotRequired[str | None]
    reads: NotRequired[Sequence[str]]


class Catalogue(TypedDict):
    """All metrics, formats and transforms.

    Attributes:
        significance: JSON Schema of the settings of significance tests.
    """

    version: str
    metrics: Sequence[CatalogueEntry]
    formats: Sequence[CatalogueEntry]
    transforms: Sequence[CatalogueEntry]
    significance: Mapping[str, object]


class Scorer(CatalogueEntry):
    """An entry of the catalogue with its kind."""

    kind: Annotated[str, fields.OneOf(("metric", "format", "transform"))]
