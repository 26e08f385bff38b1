"""Scores as functions of summed counts.

Nearly every score of the field is a ratio of two weighted sums of counts; a few join such ratios. With this form one
significance module serves all metrics: it works on the terms of a score as arrays and knows no metric.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from treescore.core.arrays import Counts, FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Ratio:
    """A weighted sum of counts divided by another, or one minus that; undefined where the denominator is 0.

    Attributes:
        numerator: count name -> weight.
        denominator: count name -> weight.
        one_minus: whether the score is one minus the ratio (AER).
    """

    numerator: Mapping[str, float]
    denominator: Mapping[str, float]
    one_minus: bool = False

    def terms(self, names: Sequence[str], counts: Counts) -> tuple[Counts, Counts]:
        """Return numerator and denominator of each row: counts (..., k) -> two arrays (...), integer where exact."""
        return weighted(self.numerator, names, counts), weighted(self.denominator, names, counts)

    def of(self, numerator: Counts, denominator: Counts) -> FloatArray:
        """Return the score of summed terms, any shape; NaN where the denominator is 0."""
        top = np.asarray(numerator, np.float64)
        bottom = np.asarray(denominator, np.float64)
        value = np.divide(top, bottom, out=np.full(np.broadcast(top, bottom).shape, np.nan), where=bottom != 0)
        return np.asarray(1.0 - value if self.one_minus else value, np.float64)


class Joined(Protocol):
    """Combines several ratios into one score."""

    def __call__(self, ratios: Sequence[FloatArray]) -> FloatArray:
        """Combine arrays of ratios, all of one shape, into scores of that shape; NaN where undefined."""
        ...


def harmonic(ratios: Sequence[FloatArray]) -> FloatArray:
    """Return the harmonic mean of two ratios (F1): 0 where both are 0, NaN where one is NaN."""
    first, second = ratios
    total = np.asarray(first + second)
    return np.divide(2 * first * second, total, out=np.where(np.isnan(total), np.nan, 0.0), where=total > 0)


def weighted_mean(weights: Sequence[float]) -> Joined:
    """Return a function that takes the mean of ratios under these weights, whose sum must be positive."""

    def mean(ratios: Sequence[FloatArray]) -> FloatArray:
        used = [weight * ratio for weight, ratio in zip(weights, ratios, strict=True) if weight]
        return np.asarray(sum(used) / sum(weights), np.float64)

    return mean


@dataclass(frozen=True, slots=True)
class Score:
    """A named score of a metric.

    Attributes:
        name: as in API.md; a dot nests it in documents (`cutoff.labelled_f1`).
        doc: a sentence for users, in the terms of the field.
        ratios: one for most scores.
        join: combines several ratios into the score; None for a single ratio.
        higher_is_better: False for error rates.
        low, high: the range; None where unbounded.
        undefined: the reason to give where the score has no value.
    """

    name: str
    doc: str
    ratios: tuple[Ratio, ...]
    join: Joined | None = None
    higher_is_better: bool = True
    low: float = 0.0
    high: float | None = 1.0
    undefined: str = "its denominator is 0"

    @property
    def best(self) -> float | None:
        """The best value of the range, None where the range has none."""
        return self.high if self.higher_is_better else self.low

    @property
    def worst(self) -> float | None:
        """The worst value of the range, as which a missing part counts; None where the range has none."""
        return self.low if self.higher_is_better else self.high

    @property
    def sign(self) -> float:
        """1.0 where a higher score is better, else -1.0."""
        return 1.0 if self.higher_is_better else -1.0

    def of_terms(self, terms: Sequence[tuple[Counts, Counts]]) -> FloatArray:
        """Return the score of summed terms, one pair per ratio, any shape."""
        values = [ratio.of(*pair) for ratio, pair in zip(self.ratios, terms, strict=True)]
        return values[0] if self.join is None else self.join(values)

    def of(self, names: Sequence[str], totals: Counts) -> FloatArray:
        """Return the score of summed counts: totals (..., k) -> (...)."""
        return self.of_terms([ratio.terms(names, totals) for ratio in self.ratios])


def ratio_score(
    name: str,
    doc: str,
    numerator: str | Mapping[str, float],
    denominator: str | Mapping[str, float],
    *,
    one_minus: bool = False,
    higher_is_better: bool = True,
    high: float | None = 1.0,
    undefined: str = "its denominator is 0",
) -> Score:
    """Make a score of one ratio; a plain count name stands for that count with weight 1."""
    return Score(
        name=name,
        doc=doc,
        ratios=(Ratio(_weights(numerator), _weights(denominator), one_minus=one_minus),),
        higher_is_better=higher_is_better,
        high=high,
        undefined=undefined,
    )


def f1_score(name: str, doc: str, correct: str, gold: str, system: str, undefined: str) -> Score:
    """Make the score F1 = 2 correct / (gold + system), undefined only where both totals are 0."""
    return ratio_score(name, doc, {correct: 2}, {gold: 1, system: 1}, undefined=undefined)


def weighted(weights: Mapping[str, float], names: Sequence[str], counts: Counts) -> Counts:
    """Return the weighted sum of named columns: counts (..., k) -> (...); integer counts and weights stay integer."""
    column_of = {name: column for column, name in enumerate(names)}
    columns = counts[..., [column_of[name] for name in weights]]
    factors = np.array(list(weights.values()), np.float64)
    if np.issubdtype(counts.dtype, np.integer) and (factors == np.rint(factors)).all():
        return np.asarray(columns @ factors.astype(np.int64), np.int64)
    return np.asarray(columns @ factors, np.float64)


def _weights(given: str | Mapping[str, float]) -> Mapping[str, float]:
    return {given: 1} if isinstance(given, str) else given


def _as_they_are(rows: Counts) -> Counts:
    return rows


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The scores of one metric, main score first, with the names of its counts.

    Attributes:
        count_names: of the columns of rows.
        scores: functions of summed counts.
        shown: the counts that the item of a sentence shows, of its rows (n, k).
    """

    count_names: tuple[str, ...]
    scores: tuple[Score, ...]
    shown: Callable[[Counts], Counts] = _as_they_are
    by_name: Mapping[str, Score] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {score.name: score for score in self.scores})

    def values(self, totals: Counts) -> dict[str, FloatArray]:
        """Return every score of summed counts: totals (..., k) -> name -> (...)."""
        return {score.name: score.of(self.count_names, totals) for score in self.scores}
