"""Scores as functions of summed counts, their places in documents, and what a missing sentence costs.

Nearly every score of the field is a ratio of two weighted sums of counts; a few join such ratios. With this form one
significance module serves all metrics: it works on the terms of a score as arrays and knows no metric.

In documents scores and counts are members by name, dots nested, with reasons for undefined ones.

A sentence for which an output has nothing costs as if it had gold's units, all of them wrong. Without that, a score
whose denominator counts the output's own units (precision, crossing brackets) would be taken over the sentences that
the output has, and one sentence that is certainly right would beat a complete output.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from treescore.core.arrays import Counts, FloatArray
from treescore.core.params import Json, Param

_EXACT = 2.0**53
"""Below this limit float64 holds every whole number, so that sums of whole numbers are exact in any order."""
_MANTISSA_OF_POWER = 0.5
"""What `frexp` splits off a power of two: the product with one is exact."""


class Ratio(NamedTuple):
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


class Score(NamedTuple):
    """A named score of a metric.

    Attributes:
        name: as in API.md; a dot nests it in documents (`cutoff.labelled_f1`).
        doc: a sentence for users, in the terms of the field.
        ratios: one for most scores.
        join: combines several ratios into the score; None for a single ratio.
        higher_is_better: False for error rates.
        low, high: the range; None where unbounded.
        undefined: the reason to give where the score has no value.
        one_sided: whether an output that says next to nothing, or everything that can be said, gets its best value: a
            precision, a recall where nothing limits what an output has, what looks at crossings or coverage alone.
    """

    name: str
    doc: str
    ratios: tuple[Ratio, ...]
    join: Joined | None = None
    higher_is_better: bool = True
    low: float = 0.0
    high: float | None = 1.0
    undefined: str = "its denominator is 0"
    one_sided: bool = False

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
    one_sided: bool = False,
) -> Score:
    """Make a score of one ratio; a plain count name stands for that count with weight 1."""
    ratios = (Ratio(_weights(numerator), _weights(denominator), one_minus=one_minus),)
    return Score(
        name, doc, ratios, higher_is_better=higher_is_better, high=high, undefined=undefined, one_sided=one_sided
    )


def f1_score(name: str, doc: str, correct: str, gold: str, system: str, undefined: str) -> Score:
    """Make the score F1 = 2 correct / (gold + system), undefined only where both totals are 0."""
    return ratio_score(name, doc, {correct: 2}, {gold: 1, system: 1}, undefined=undefined)


def matched_scores(
    begin: str,
    docs: tuple[str, str, str],
    counts: Sequence[str],
    undefined: tuple[str, str, str],
    *,
    high: float | None = 1.0,
    one_sided: tuple[bool, bool] = (True, False),
) -> list[Score]:
    """Make F1, precision and recall, `BEGINf1` and so on, of correct units among gold's and the output's.

    Args:
        begin: of the names.
        docs: of the three scores, in this order.
        counts: the correct units, gold's and the output's.
        undefined: where neither side has units, where the output has none, where gold has none.
        high: the upper end of the range.
        one_sided: whether precision and recall are.
    """
    correct, gold, system = counts
    f1 = f1_score(f"{begin}f1", docs[0], correct, gold, system, undefined[0])._replace(high=high)
    halves = zip(("precision", "recall"), docs[1:], (system, gold), undefined[1:], one_sided, strict=True)
    return [
        f1,
        *(
            ratio_score(begin + name, doc, correct, whole, high=high, undefined=why, one_sided=alone)
            for name, doc, whole, why, alone in halves
        ),
    ]


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
    shown: Callable[[Counts], Counts] = lambda rows: rows
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
        return np.ascontiguousarray(self.of_columns(by_count).T).reshape(*totals.shape[:-1], len(self.scores))

    def of_columns(self, totals: Counts) -> FloatArray:
        """Return all scores of summed counts, a row for each count and each score: totals (k, m) -> (s, m)."""
        return self._formulas.of(totals)

    def values(self, totals: Counts) -> dict[str, FloatArray]:
        """Return every score of summed counts: totals (..., k) -> name -> (...)."""
        scores = self.of(totals)
        return {score.name: scores[..., column] for column, score in enumerate(self.scores)}


HEAD = ("item", "sent_id", "status", "problem")
"""Members of an item before its scores and counts."""


def with_values(table: ScoreTable, rows: Counts, documents: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Add scores and counts to documents of `item_details`: rows (n, k), one for each document."""
    rows = table.shown(rows)
    values = {name: array.tolist() for name, array in table.values(rows).items()}
    numbers = rows.tolist()
    return [
        {
            **{name: document[name] for name in HEAD if name in document},
            "scores": nested_values((name, _defined(column[row])) for name, column in values.items()),
            "counts": nested_values(zip(table.count_names, map(whole, numbers[row]), strict=True)),
            **document,
        }
        for row, document in enumerate(documents)
    ]


def score_values(table: ScoreTable, totals: Counts) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return scores of summed counts (k,), dots nested, and reasons for undefined ones."""
    values = {name: float(value) for name, value in table.values(totals).items()}
    undefined = nested_values(
        (name, table.by_name[name].undefined) for name, value in values.items() if math.isnan(value)
    )
    return nested_values((name, _defined(value)) for name, value in values.items()), undefined


def count_values(names: Sequence[str], totals: Counts) -> dict[str, Json]:
    """Return counts by name, dots nested; whole numbers are integers."""
    return nested_values(zip(names, map(whole, totals.tolist()), strict=True))


def nested_values(members: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """Nest members: a name with dots becomes objects in objects."""
    document: dict[str, Json] = {}
    for name, value in members:
        *path, last = name.split(".")
        inner = document
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return document


def flat_values(document: Mapping[str, Json], path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield members by name, what is nested with dots: the reverse of `nested_values`."""
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from flat_values(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def member_at(document: Json, name: str) -> Json:
    """Return a member by its name, whose dots stand for nested objects; None where there is none."""
    for step in name.split("."):
        if not isinstance(document, Mapping) or step not in document:
            return None
        document = document[step]
    return document


def value_at(scores: Json, name: str) -> float | None:
    """Return a score of a document by its name, whose dots stand for nested objects."""
    for step in name.split("."):
        scores = scores[step]
    return None if scores is None else float(scores)


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def whole(value: float) -> float:
    """Return a whole number as an integer, any other as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


EXCLUDE, ZERO = "exclude", "zero"
"""Values of the parameter `errors` of a metric, and of the member `errors` of a benchmark."""


def errors_param(which: str, excluded: str = "left out and counted") -> Param:
    """Make the parameter `errors`: `which` says of which sentences, `excluded` what `exclude` does with them."""
    doc = f"{which}: {excluded}; or, with zero, scored as if the output had gold's units there, all of them wrong."
    return Param({"enum": [EXCLUDE, ZERO]}, EXCLUDE, doc)


def charged(table: ScoreTable, perfect: Counts) -> Counts:
    """Return the counts of sentences without an output, from those of an output that equals gold: both (n, k).

    What is right becomes 0, what is wrong as many as its denominator has, and every other count stays: a count is
    right or wrong by the score whose numerator it is, unless it is also a denominator.
    """
    rows = perfect.copy()
    column_of = {name: column for column, name in enumerate(table.count_names)}
    below = {name for score in table.scores for ratio in score.ratios for name in _used(ratio.denominator)}
    for score in table.scores:
        for ratio in score.ratios:
            for name in _used(ratio.numerator):
                if name not in below:
                    whole = ratio.terms(table.count_names, perfect)[1]
                    rows[:, column_of[name]] = whole if ratio.one_minus == score.higher_is_better else 0
    return rows


def _used(weights: Mapping[str, float]) -> list[str]:
    return [name for name, weight in weights.items() if weight]
