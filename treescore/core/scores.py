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

_EXACT = 2.0**53
"""Below this limit float64 holds every whole number, so that sums of whole numbers are exact in any order."""
_MANTISSA_OF_POWER = 0.5
"""What `frexp` splits off a power of two: the product with one is exact."""


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
    def is_share(self) -> bool:
        """Whether the range is 0 to 1, so that the score may be written in percent."""
        return self.low == 0.0 and self.high == 1.0

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
    factors = np.array(list(weights.values()), np.float64)
    if np.issubdtype(counts.dtype, np.integer) and (factors == np.rint(factors)).all():
        total = np.zeros(counts.shape[:-1], np.int64)
        for name, factor in weights.items():
            total = total + np.asarray(counts[..., column_of[name]], np.int64) * int(factor)
        return total
    return np.asarray(counts[..., [column_of[name] for name in weights]] @ factors, np.float64)


def _weights(given: str | Mapping[str, float]) -> Mapping[str, float]:
    return {given: 1} if isinstance(given, str) else given


class Formulas:
    """The ratios of all scores as two constant matrices: one product sums the numerators, one the denominators.

    A product adds up in an order of its own, so it stands for `weighted` only where every order gives the same bits:
    sums of whole numbers below 2^53, and sums of at most two counts whose weights are powers of two, which round once.
    Other terms are summed one by one.
    """

    def __init__(self, names: Sequence[str], scores: Sequence[Score]) -> None:
        """Lay out the ratios of scores over counts of these names, equal ratios once."""
        known: dict[object, tuple[int, Ratio]] = {}
        self._places = [[known.setdefault(_key(each), (len(known), each))[0] for each in one.ratios] for one in scores]
        self._ratios = [ratio for _, ratio in known.values()]
        self._joins = [score.join for score in scores]
        self._names = names
        self._tops = _matrix([ratio.numerator for ratio in self._ratios], names)
        self._bottoms = _matrix([ratio.denominator for ratio in self._ratios], names)
        self._one_minus = [place for place, ratio in enumerate(self._ratios) if ratio.one_minus]
        weights = np.concatenate([self._tops, self._bottoms])
        self._whole = bool((weights == np.rint(weights)).all())
        self._reach = float(np.abs(weights).sum(axis=1).max(initial=1.0))
        used, powers = weights != 0, np.abs(np.frexp(weights)[0]) == _MANTISSA_OF_POWER
        counts = used.sum(axis=1)
        self._one_rounding = bool(((counts < 2) | ((counts == 2) & (powers | ~used).all(axis=1))).all())

    def of(self, totals: Counts) -> FloatArray:
        """Return all scores of summed counts: totals (k, m) -> (s, m); NaN where undefined."""
        tops, bottoms = self._terms(totals)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.divide(tops, bottoms)
        values[bottoms == 0] = np.nan
        values[self._one_minus] = 1.0 - values[self._one_minus]
        rows = [
            values[places[0]] if join is None else join([values[place] for place in places])
            for places, join in zip(self._places, self._joins, strict=True)
        ]
        return np.stack(rows)

    def _terms(self, totals: Counts) -> tuple[FloatArray, FloatArray]:
        """Return the numerators and the denominators of all ratios: totals (k, m) -> two float64 (ratios, m)."""
        if self._any_order(totals):
            numbers = np.asarray(totals, np.float64)
            return self._tops @ numbers, self._bottoms @ numbers
        terms = [ratio.terms(self._names, totals.T) for ratio in self._ratios]
        tops, bottoms = (np.array([pair[side] for pair in terms], np.float64) for side in (0, 1))
        return tops, bottoms

    def _any_order(self, totals: Counts) -> bool:
        """Tell whether terms have the same bits in whichever order they are added up."""
        if totals.dtype.kind == "f" and self._one_rounding:
            return True
        if float(np.abs(totals).max(initial=0)) * self._reach >= _EXACT:
            return False
        if totals.dtype.kind == "f":
            return self._whole and bool((totals == np.rint(totals)).all())
        return self._whole or self._one_rounding


def _key(ratio: Ratio) -> object:
    return tuple(ratio.numerator.items()), tuple(ratio.denominator.items()), ratio.one_minus


def _matrix(terms: Sequence[Mapping[str, float]], names: Sequence[str]) -> FloatArray:
    """Return the weights of each term's counts, (terms, k)."""
    weights = np.zeros((len(terms), len(names)))
    column_of = {name: column for column, name in enumerate(names)}
    for row, term in enumerate(terms):
        weights[row, [column_of[name] for name in term]] = list(term.values())
    return weights


Quotient = tuple[list[int], list[int]]
"""The columns of the counts that are added up above and below the line, a column twice where its weight is 2."""
_MOST_TIMES = 2
"""How often a count may stand in a quotient: as often as the correct ones in F1."""


def _quotient(score: Score, names: Sequence[str]) -> Quotient | None:
    """Return a score as the quotient of counts that it is; None for any other."""
    ratio = score.ratios[0]
    weights = {*ratio.numerator.values(), *ratio.denominator.values()}
    if score.join or len(score.ratios) > 1 or ratio.one_minus or not weights <= {1, _MOST_TIMES}:
        return None
    above, below = (
        [names.index(name) for name, weight in terms.items() for _ in range(int(weight))]
        for terms in (ratio.numerator, ratio.denominator)
    )
    return above, below


def _as_they_are(rows: Counts) -> Counts:
    return rows


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The scores of one metric, main score first, with the names of its counts.

    Attributes:
        count_names: of the columns of rows.
        scores: functions of summed counts.
        shown: the counts that the item of a sentence shows, of its rows (n, k).
        by_name: the scores.
        quotients: the scores that divide one sum of counts by another, by name.
    """

    count_names: tuple[str, ...]
    scores: tuple[Score, ...]
    shown: Callable[[Counts], Counts] = _as_they_are
    by_name: Mapping[str, Score] = field(init=False)
    quotients: Mapping[str, Quotient] = field(init=False, repr=False, compare=False)
    _formulas: Formulas = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {score.name: score for score in self.scores})
        object.__setattr__(self, "_formulas", Formulas(self.count_names, self.scores))
        quotients = {score.name: _quotient(score, self.count_names) for score in self.scores}
        object.__setattr__(self, "quotients", {name: found for name, found in quotients.items() if found is not None})

    def of(self, totals: Counts) -> FloatArray:
        """Return all scores of summed counts: totals (..., k) -> (..., s)."""
        by_count: Counts = np.ascontiguousarray(totals.reshape(-1, totals.shape[-1]).T)  # type: ignore[assignment]
        columns = self.of_columns(by_count)
        return np.ascontiguousarray(columns.T).reshape(*totals.shape[:-1], len(self.scores))

    def of_columns(self, totals: Counts) -> FloatArray:
        """Return all scores of summed counts, a row for each count and each score: totals (k, m) -> (s, m)."""
        return self._formulas.of(totals)

    def values(self, totals: Counts) -> dict[str, FloatArray]:
        """Return every score of summed counts: totals (..., k) -> name -> (...)."""
        scores = self.of(totals)
        return {score.name: scores[..., column] for column, score in enumerate(self.scores)}
