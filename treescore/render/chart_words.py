"""Figures as pictures and pages print them: signs and dashes of print, p without a leading zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from treescore.core.figures import Figures

MISSING = "–"
MINUS = "−"


def stepped(figures: Figures, step: float | None) -> Figures:
    """Return figures with as many decimals as the step has to which scores are rounded, if any."""
    if step is None:
        return figures
    exponent = (Decimal(str(step)) * Decimal(str(figures.factor))).normalize().as_tuple().exponent
    return Figures(figures.factor, max(0, -exponent) if isinstance(exponent, int) else figures.decimals)


def value_words(value: float | None, figures: Figures) -> str:
    """Return a score; a dash where there is none."""
    return MISSING if value is None else figures.value(value).replace("-", MINUS)


def signed_words(value: float, figures: Figures) -> str:
    """Return a difference with its sign."""
    return figures.signed(value).replace("-", MINUS)


def interval_words(low: float | None, high: float | None, figures: Figures, *, signed: bool = False) -> str:
    """Return the interval of a score (72.47–72.74), or of a difference (−0.27 to −0.09); empty where there is none."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    if signed or low < 0:
        write = signed_words if signed else value_words
        return f"{write(low, figures)} to {write(high, figures)}"
    return f"{value_words(low, figures)}–{value_words(high, figures)}"


def p_words(p: float | None) -> str:
    """Return a p-value with two digits that count: `.83`, `.024`, `.0021`, `< .0001`."""
    if p is None:
        return ""
    if p < 1e-4:
        return "< .0001"
    if p >= 0.995:
        return "1.00"
    p = float(f"{p:.1e}")
    decimals = 2 if p >= 0.1 else 1 - math.floor(math.log10(p))
    return f"{p:.{min(decimals, 4)}f}".removeprefix("0")


def ranks_words(ranks: Sequence[int] | None) -> str:
    """Return which ranks the tests leave open; empty where they leave one."""
    if not ranks or ranks[0] == ranks[1]:
        return ""
    return f"{ranks[0]}–{ranks[1]}"
