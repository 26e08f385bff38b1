"""The catalogue of metrics, formats and transforms, and which of them fit a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from service.contract.common import Format, Metric
from service.contract.derive import Says
from service.contract.fields import OneOf, length
from service.requests import Request

MAX_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class SuggestionRequest(Request):
    """A text whose format is asked for.

    Attributes:
        text: The text, or its first lines.
    """

    text: Annotated[str, length(1, MAX_TEXT, "characters: the first lines are enough")]


class SuggestedMetric(TypedDict):
    """A metric that fits a format."""

    metric: Metric
    why: str


class Suggestion(TypedDict):
    """A format that a text may be in.

    Attributes:
        why: What was seen, in sentences.
        metrics: What it can be scored with, the best first.
    """

    format: Format
    certainty: Annotated[str, OneOf(("certain", "likely", "possible"))]
    why: Sequence[str]
    metrics: Sequence[SuggestedMetric]


class Suggestions(TypedDict):
    """The formats that a text may be in."""

    suggestions: Sequence[Suggestion]


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
    range: Annotated[Sequence[float | None], Says(minItems=2, maxItems=2)]
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

    kind: Annotated[str, OneOf(("metric", "format", "transform"))]
