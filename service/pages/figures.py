"""Write figures on pages, as the pictures do: scores as the field prints them, differences with their sign."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape

from treescore.core.figures import PERCENT, Figures, figures_of
from treescore.render.chart_words import MISSING, interval_words, p_words, signed_words, stepped, value_words

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class ScoreFigures:
    """Writes the figures of one score.

    Attributes:
        share: whether its range is 0 to 1, so that it is shown in percent.
        step: to which scores are rounded; None where they are not.
    """

    share: bool
    step: float | None = None

    @property
    def figures(self) -> Figures:
        """How they are written."""
        return stepped(figures_of(PERCENT, share=self.share), self.step)

    @property
    def factor(self) -> float:
        """By what figures are multiplied."""
        return self.figures.factor

    def value(self, value: float | None) -> str:
        """Return a score; a dash where there is none."""
        return value_words(value, self.figures)

    def difference(self, value: float | None) -> str:
        """Return a difference with its sign; a dash where there is none."""
        return MISSING if value is None else signed_words(value, self.figures)

    def interval(self, low: float | None, high: float | None) -> str:
        """Return the bounds of a score's interval; nothing where there is none."""
        return interval_words(low, high, self.figures)

    def span(self, low: float | None, high: float | None) -> str:
        """Return the bounds of a difference's interval; nothing where there is none."""
        return interval_words(low, high, self.figures, signed=True)


def p_value(p: float | None) -> str:
    """Return a p-value; a dash where there is none."""
    return p_words(p) or MISSING


def whole(number: int | None) -> str:
    """Return a whole number in groups of three; a dash where there is none."""
    return MISSING if number is None else f"{number:,}".replace(",", "\u2009")


def time(moment: str | None) -> Markup:
    """Return a moment (RFC 3339, UTC) as an element for people and programs; a dash where there is none."""
    if moment is None:
        return escape(MISSING)
    at = datetime.fromisoformat(moment)
    shown = f"{at.day} {_MONTHS[at.month - 1]} {at.year} {at:%H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(moment, shown)
