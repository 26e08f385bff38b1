"""The catalogue: what is known of each format, transform and metric, and what goes with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treescore.core.params import Json
from treescore.core.registry import FORMATS, METRICS, TRANSFORMS, Component, Format, Metric, make_transform


def entry_of(component: type[Component]) -> dict[str, Json]:
    """Return the entry of `GET /v1/scorers`: the component's own, and what it can be used with."""
    entry = component.catalogue()
    if issubclass(component, Metric):
        return {**entry, "formats": formats_of(component.reads)}
    if issubclass(component, Format):
        usual = component.usual_metric or None
        return {**entry, "suffixes": list(component.suffixes), "metrics": metrics_of(component), "usual_metric": usual}
    return entry


def formats_of(reads: Sequence[type[Any]]) -> list[str]:
    """Return the names of the formats of treebanks that something reads."""
    return [name for name in sorted(FORMATS) if issubclass(FORMATS[name].yields, tuple(reads))]


def metrics_of(fmt: type[Format]) -> list[str]:
    """Return the names of the metrics that score a format as it is."""
    return [name for name in sorted(METRICS) if issubclass(fmt.yields, METRICS[name].reads)]


def transforms_before(metric: type[Metric]) -> list[tuple[str, str]]:
    """Return the formats that a metric reads after a transform only, each with the transform."""
    found = []
    for name in sorted(TRANSFORMS):
        transform = make_transform(name, {})
        for each in sorted(FORMATS):
            kind = FORMATS[each].yields
            made = transform.yields(kind) if issubclass(kind, transform.reads) else kind
            if made is not kind and not issubclass(kind, metric.reads) and issubclass(made, metric.reads):
                found.append((each, name))
    return found
