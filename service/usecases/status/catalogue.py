"""List what this service can score with."""

from __future__ import annotations

from functools import lru_cache

from service.errors import NotFound
from service.requests import SuggestionRequest
from service.usecases.runs.views import View, json_view
from treescore.core.params import schema_of
from treescore.core.registry import FORMATS, METRICS, TRANSFORMS
from treescore.core.suggestions import did_you_mean
from treescore.core.version import __version__
from treescore.evaluation.catalogue import entry_of
from treescore.evaluation.suggest import suggestions
from treescore.significance.settings import PARAMS


@lru_cache(maxsize=1)
def scorers() -> View:
    """Show the whole catalogue."""
    return json_view(_catalogue())


@lru_cache(maxsize=64)
def scorer(name: str) -> View:
    """Show one format, transform or metric.

    Raises:
        NotFound: none has this name.
    """
    for kind, members in (("metric", METRICS), ("format", FORMATS), ("transform", TRANSFORMS)):
        if name in members:
            return json_view({"kind": kind, **entry_of(members[name])})
    suggestion = did_you_mean(name, [*METRICS, *FORMATS, *TRANSFORMS])
    raise NotFound(f"Unknown metric, format or transform {name!r}.{suggestion} See GET /v1/scorers.")


def suggested(asked: SuggestionRequest) -> View:
    """Show which formats a text may be in, with the metrics that fit each."""
    return json_view({"suggestions": [suggestion.document() for suggestion in suggestions(asked.text.encode())]})


def _catalogue() -> dict[str, object]:
    return {
        "version": __version__,
        "metrics": [entry_of(METRICS[name]) for name in sorted(METRICS)],
        "formats": [entry_of(FORMATS[name]) for name in sorted(FORMATS)],
        "transforms": [entry_of(TRANSFORMS[name]) for name in sorted(TRANSFORMS)],
        "significance": schema_of(PARAMS),
    }
