"""List what this service can score with."""

from __future__ import annotations

from functools import lru_cache

from service.errors import NotFound
from service.usecases.runs.views import View, json_view
from treescore.core.params import schema_of
from treescore.core.registry import FORMATS, METRICS, TRANSFORMS
from treescore.core.suggestions import did_you_mean
from treescore.core.version import __version__
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
            return json_view({"kind": kind, **members[name].catalogue()})
    suggestion = did_you_mean(name, [*METRICS, *FORMATS, *TRANSFORMS])
    raise NotFound(f"Unknown metric, format or transform {name!r}.{suggestion} See GET /v1/scorers.")


def _catalogue() -> dict[str, object]:
    return {
        "version": __version__,
        "metrics": [METRICS[name].catalogue() for name in sorted(METRICS)],
        "formats": [FORMATS[name].catalogue() for name in sorted(FORMATS)],
        "transforms": [TRANSFORMS[name].catalogue() for name in sorted(TRANSFORMS)],
        "significance": schema_of(PARAMS),
    }
