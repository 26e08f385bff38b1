"""In which unit pictures show a score: in percent where its range is 0 to 1."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import treescore.metrics  # noqa: F401 - importing the package fills the registry
from treescore.core.figures import IN_FRACTIONS, PERCENT, Figures, figures_of
from treescore.core.registry import METRICS, make_metric
from treescore.render.chart_words import stepped


def percent_of(addresses: Iterable[str], form: str = "svg") -> frozenset[str]:
    """Return those scores that people see in percent in this format; the others of the service print fractions."""
    return frozenset(each for each in addresses if form == "svg" and shown_as(each).in_percent)


@lru_cache(maxsize=256)
def shown_as(address: str, step: float | None = None) -> Figures:
    """Return how the figures of a score are written.

    Args:
        address: of the score; one of a metric that is not registered is written as a fraction.
        step: to which scores are rounded; they have as many decimals as it has.
    """
    key, _, name = address.partition(".")
    if key not in METRICS:
        figures = IN_FRACTIONS
    else:
        table = make_metric(key, {}).table
        score = table.by_name.get(name, table.scores[0])
        figures = figures_of(PERCENT, share=score.is_share)
    return stepped(figures, step)
