"""The figures of a score record: every score of each part, of all parts pooled and of their mean, and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from service.requests import MACRO, POOLED
from treescore.core.arrays import FloatArray

if TYPE_CHECKING:  # its kernels need not be loaded to read a store
    from treescore.evaluation.parts import PartScores

_FORMAT = np.dtype("<f8")


class Span(NamedTuple):
    """A range of the stored bytes: `start` counts from 1, as SQL's substr does."""

    start: int
    length: int


class Interval(NamedTuple):
    """A 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Which figure is stored where. It is known before any figure is read, so that the database can cut them out.

    Attributes:
        parts: names of the revision's parts, in their order.
        addresses: score addresses, in the order of the revision's scoring configuration.
    """

    parts: Sequence[str]
    addresses: Sequence[str]

    def span(self, part: str, address: str | None = None) -> Span:
        """Locate the bytes of one score, or of all scores, of a part, POOLED or MACRO."""
        return self._span(self.row(part), address)

    def interval_spans(self, part: str, address: str) -> tuple[Span, Span] | None:
        """Locate the bounds of a score's interval; None for a single part, which has none."""
        rows = self.interval_rows(part)
        return None if rows is None else (self._span(rows[0], address), self._span(rows[1], address))

    def row(self, part: str) -> int:
        """Return the row of a part, POOLED or MACRO."""
        if part in (POOLED, MACRO):
            return len(self.parts) + (part == MACRO)
        return self.parts.index(part)

    def interval_rows(self, part: str) -> tuple[int, int] | None:
        """Return the rows of the lower and the upper bounds; None for a single part."""
        size = len(self.parts)
        return {POOLED: (size + 2, size + 3), MACRO: (size + 4, size + 5)}.get(part)

    def column(self, address: str) -> int:
        """Return the column of a score."""
        return self.addresses.index(address)

    def _span(self, row: int, address: str | None) -> Span:
        columns = len(self.addresses)
        first = row * columns + (0 if address is None else self.column(address))
        return Span(first * _FORMAT.itemsize + 1, (columns if address is None else 1) * _FORMAT.itemsize)


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """All figures of one submission under one revision.

    Attributes:
        layout: which figure is where.
        values: float64 (parts + 6, addresses), NaN where undefined.
    """

    layout: Layout
    values: FloatArray

    @classmethod
    def of_scores(cls, layout: Layout, metrics: Sequence[PartScores]) -> Figures:
        """Join the figures of all metrics."""
        columns = [
            np.vstack([scores.parts, scores.pooled, scores.macro, scores.pooled_interval, scores.macro_interval])
            for scores in metrics
        ]
        return cls(layout, np.concatenate(columns, axis=1))

    @classmethod
    def from_bytes(cls, body: bytes, layout: Layout) -> Figures:
        """Read stored figures."""
        return cls(layout, numbers(body).reshape(-1, len(layout.addresses)))

    def to_bytes(self) -> bytes:
        """Return the figures as they are stored."""
        return self.values.astype(_FORMAT).tobytes()

    def value(self, part: str, address: str) -> float | None:
        """Return a score of a part, POOLED or MACRO; None where it is undefined."""
        return finite(self.values[self.layout.row(part), self.layout.column(address)])

    def parts_without_scores(self) -> list[str]:
        """Name the parts in which no score is defined."""
        parts = self.layout.parts
        return [part for part, scores in zip(parts, self.values, strict=False) if np.isnan(scores).all()]


def numbers(body: bytes) -> FloatArray:
    """Read numbers out of stored figures."""
    return np.frombuffer(body, _FORMAT).astype(np.float64)


def finite(number: float) -> float | None:
    """Return a number, or None where it is undefined."""
    return float(number) if math.isfinite(number) else None


def interval_of(bounds: FloatArray) -> Interval | None:
    """Return the interval between two bounds, or None where one is undefined."""
    low, high = map(finite, bounds.tolist())
    return None if low is None or high is None else Interval(low, high)
