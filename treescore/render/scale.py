"""The axis of a picture: values to pixels, and marks at round values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from treescore.render.letters import width

TICK_SIZE = 12
"""Size of the type of an axis."""
_ARROW_ROOM = 16
"""Pixels left free at either end for the arrow of a value beyond it."""
_BETWEEN_LABELS = 14
"""Least pixels between two labels."""
_STEPS = (1.0, 2.0, 5.0)
_LARGEST = 1e12
"""Values from here on are not drawn: no score of a metric is as large."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to pixels.

    Attributes:
        low, high: the values at its ends.
        left, right: where they are, in pixels.
        width: of the whole axis, with the room at its ends.
        ticks: the values that are marked, and their labels.
    """

    low: float
    high: float
    left: float
    right: float
    width: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Return where a value is; one beyond an end is at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)

    def side(self, value: float) -> int:
        """Return -1 for a value below the axis, 1 for one above it, else 0."""
        return (value > self.high) - (value < self.low)


def scale_of(values: Iterable[float | None], size: float = 190, *, signed: bool = False, zero: bool = False) -> Scale:
    """Return an axis that holds these values, with marks at round ones.

    Args:
        values: as they are shown; others than finite numbers are skipped.
        size: of the axis in pixels.
        signed: whether labels carry a sign: those of differences.
        zero: whether 0 is on the axis in any case.
    """
    known = [value for value in values if value is not None and abs(value) < _LARGEST]
    if zero:
        known.append(0.0)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    least = max(1e-6, 1e-6 * max(abs(low), abs(high)))
    if high - low < least:
        around = max(least, 0.01 * max(abs(low), abs(high)))
        low, high = low - around, high + around
    labels = _mark_labels(low, high, size, signed=signed)
    room = max([_ARROW_ROOM, *(_half(label) for _, label in labels)])
    return Scale(low, high, room, max(size - room, room + 1), size, labels)


def _mark_labels(low: float, high: float, size: float, *, signed: bool) -> tuple[tuple[float, str], ...]:
    """Return as many marks as fit, two to seven."""
    for step in _steps(high - low):
        labels = _at_step(low, high, step, signed=signed)
        widest = max((2 * _half(label) for _, label in labels), default=0)
        inner = size - max(2 * _ARROW_ROOM, widest)
        if len(labels) < 2 or (widest + _BETWEEN_LABELS) * (high - low) <= step * inner:
            return labels
    return ()


def _steps(span: float) -> Iterable[float]:
    """Yield round steps, from a seventh of the span on."""
    power = math.floor(math.log10(span / 7)) - 1
    for exponent in range(power, power + 5):
        for factor in _STEPS:
            step = float(f"{factor}e{exponent}")
            if span / 7 <= step <= span:
                yield step


def _at_step(low: float, high: float, step: float, *, signed: bool) -> tuple[tuple[float, str], ...]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = next((count for count in range(12) if abs(step - round(step, count)) < step * 1e-6), 12)
    marks = [float(f"{number * step:.12g}") for number in range(first, last + 1)]
    return tuple((mark, _mark_label(mark, decimals, signed=signed)) for mark in marks)


def _mark_label(value: float, decimals: int, *, signed: bool) -> str:
    if value == 0:
        return "0"
    words = f"{abs(value):.{decimals}f}"
    return f"{'−' if value < 0 else '+' if signed else ''}{words}"


def _half(label: str) -> float:
    return width(label, TICK_SIZE) / 2
