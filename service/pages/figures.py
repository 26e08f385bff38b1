"""Write figures on pages: scores as the field prints them, differences with their sign, p without a leading zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from markupsafe import Markup, escape

MISSING = "–"
MINUS = "−"
LEAST_P = 1e-4
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
    def factor(self) -> float:
        """By what figures are multiplied."""
        return 100.0 if self.share else 1.0

    def value(self, value: float | None) -> str:
        """Return a score; a dash where there is none."""
        return MISSING if value is None else _signs(f"{self.factor * value:.{self._decimals}f}")

    def difference(self, value: float | None) -> str:
        """Return a difference with its sign; a dash where there is none."""
        if value is None:
            return MISSING
        shown = f"{self.factor * value:+.{self._decimals}f}"
        return _signs(shown if value == 0 or float(shown) != 0 else f"{self.factor * value:+.1g}")

    def interval(self, bounds: Sequence[float | None] | None) -> str:
        """Return the bounds of a score's interval; nothing where there is none."""
        if bounds is None or any(bound is None for bound in bounds):
            return ""
        return "–".join(self.value(bound) for bound in bounds)

    def span(self, bounds: Sequence[float | None] | None) -> str:
        """Return the bounds of a difference's interval; nothing where there is none."""
        if bounds is None or any(bound is None for bound in bounds):
            return ""
        return " to ".join(self.difference(bound) for bound in bounds)

    @property
    def _decimals(self) -> int:
        if self.step is None:
            return 2
        exponent = (Decimal(str(self.step)) * Decimal(str(self.factor))).normalize().as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 2


def p_value(p: float | None) -> str:
    """Return a p-value by two significant digits and at most four decimals, without the zero before the point.

    A dash stands where there is none.
    """
    if p is None:
        return MISSING
    if p < LEAST_P:
        return f"< {_bare(f'{LEAST_P:.4f}')}"
    digits, _, exponent = f"{p:.1e}".partition("e")
    if int(exponent) >= 0:
        return "1.00"
    return _bare(f"{float(digits) * 10 ** int(exponent):.{min(4, 1 - int(exponent))}f}")


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


def _signs(number: str) -> str:
    return number.replace("-", MINUS)


def _bare(number: str) -> str:
    return number.removeprefix("0")
