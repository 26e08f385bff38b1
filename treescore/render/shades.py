"""The colours of heat maps: steps by the distance from the best, by score and by p; each is a class of pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

By = Literal["gap", "score"]
GAP: By = "gap"
SCORE: By = "score"

GAP_STEPS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Points below the best of a row from which on a step begins; the first step is the best itself."""
SCORE_STEPS = (20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
"""Points from which on a step begins; the first step is below all."""
P_STEPS = (1e-4, 1e-3, 1e-2, 5e-2)
"""Largest p of each step; p above them all has no shade."""

COLOURS: Mapping[str, str] = {
    "d0": "#9cc3ea", "d1": "#bcd7f1", "d2": "#d9e8f6", "d3": "#eef3f7", "d4": "#faeee2", "d5": "#f6d9bd",
    "d6": "#efbd90", "a0": "#fbfcfd", "a1": "#f1f6fa", "a2": "#e6eff8", "a3": "#dae8f6", "a4": "#cde0f3",
    "a5": "#bed7f0", "a6": "#aecdec", "a7": "#9cc3ea", "a8": "#88b6e4",
}  # fmt: skip
"""Class -> fill on light paper."""


def shade_of(value: float, best: float, by: By = GAP) -> str:
    """Return the class of a cell.

    Args:
        value: of the cell, in points: a share times 100.
        best: of its row.
        by: GAP for the distance from the best, SCORE for the value itself.
    """
    if by == SCORE:
        return f"a{sum(round(value, 9) >= step for step in SCORE_STEPS)}"
    gap = round(abs(best - value), 9)
    return "d0" if gap == 0 else f"d{sum(gap >= step for step in GAP_STEPS)}"


def shade_of_p(p: float | None) -> str | None:
    """Return the class of a cell by its p; None where it has no shade."""
    if p is None:
        return None
    return next((f"d{step}" for step, most in enumerate(P_STEPS) if p <= most), None)
