"""The catalogue of problem codes: what each means, what causes it and how to fix it. One entry for each code."""

from __future__ import annotations

from collections.abc import Mapping

from treescore.problem_catalogue.formats import FORMATS, GAP_TREES
from treescore.problem_catalogue.general import REQUESTS, SOURCES, TEXTS, Entry
from treescore.problem_catalogue.metrics import METRICS

CATALOGUE: Mapping[str, Entry] = dict(
    sorted({**SOURCES, **TEXTS, **FORMATS, **GAP_TREES, **METRICS, **REQUESTS}.items())
)
"""Code -> entry: every code of a problem or warning that the library gives."""

__all__ = ["CATALOGUE", "Entry"]
