"""How numbers are written: scores in percent with two decimals, as the field prints them, or as fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Unit = Literal["percent", "fraction"]
PERCENT: Unit = "percent"
FRACTION: Unit = "fraction"
UNITS: tuple[Unit, ...] = (PERCENT, FRACTION)
UNDEFINED = "-"


@dataclass(frozen=True, slots=True)
class Figures:
    """Writes the figures of one score.

    Attributes:
        factor: by which they are multiplied.
        decimals: that are shown.
    """

    factor: float = 1.0
    decimals: int = 4

    @property
    def in_percent(self) -> bool:
        """Whether scores are shown in percent."""
        return self.factor != 1.0

    def value(self, value: float | None) -> str:
        """Return a score; a dash where it is undefined."""
        return UNDEFINED if value is None else f"{self.factor * value:.{self.decimals}f}"

    def signed(self, value: float) -> str:
        """Return a difference with its sign; one that would be rounded to 0 with its first digit."""
        shown = f"{self.factor * value:+.{self.decimals}f}"
        return shown if value == 0 or float(shown) != 0 else f"{self.factor * value:+.1g}"

    def interval(self, low: float | None, high: float | None) -> str:
        """Return an interval in brackets; a dash where a bound is missing."""
        if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
            return UNDEFINED
        return f"[{self.value(low)}, {self.value(high)}]"


IN_FRACTIONS = Figures()
_IN_PERCENT = Figures(100.0, 2)
_PLAIN = Figures(1.0, 2)


def figures_of(unit: Unit, *, share: bool) -> Figures:
    """Return how the figures of a score are written.

    Args:
        unit: asked for.
        share: whether the score's range is 0 to 1; others are never shown in percent.
    """
    if unit == FRACTION:
        return IN_FRACTIONS
    return _IN_PERCENT if share else _PLAIN
