"""Round figures to what they support, for all callers but organisers while gold is secret.

An exact score or p answers more questions about gold than a reader of a board has: the last digits of a score tell
single words, those of a p tell which shuffles were drawn. Exact values stay stored.
"""

from __future__ import annotations

SCORE_DIGITS = 4
"""Significant digits of a score."""
INTERVAL_DIGITS = 3
"""Significant digits of the bounds of an interval."""
P_DIGITS = 2
"""Significant digits of a p."""
P_FLOOR = 1e-4
"""The smallest p that is shown: the fixed number of shuffles supports no smaller one."""
DIFFERENCE_DECIMALS = 4
"""Decimals of the difference of two exact scores."""


def rounded_score(value: float) -> float:
    """Return a score with SCORE_DIGITS significant digits."""
    return _significant(value, SCORE_DIGITS)


def rounded_to_step(value: float, step: float) -> float:
    """Return the multiple of a step that is nearest to a score, which hides the exact value."""
    return round(round(value / step) * step, 12)


def rounded_bound(value: float) -> float:
    """Return a bound of an interval with INTERVAL_DIGITS significant digits."""
    return _significant(value, INTERVAL_DIGITS)


def rounded_p(value: float) -> float:
    """Return a p with P_DIGITS significant digits, at least P_FLOOR."""
    return max(P_FLOOR, _significant(value, P_DIGITS))


def rounded_difference(value: float) -> float:
    """Return the difference of two exact scores with DIFFERENCE_DECIMALS decimals."""
    return round(value, DIFFERENCE_DECIMALS) + 0.0


def rounded_difference_bound(value: float) -> float:
    """Return a bound of a difference with INTERVAL_DIGITS significant digits and no more decimals than differences.

    Bounds of a small difference would otherwise have more decimals than it: their middle is its exact value.
    """
    return rounded_difference(rounded_bound(value))


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
