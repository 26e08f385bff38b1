"""The intervals of a comparison: of scores, of differences, and of all differences together (Westfall & Young 1993).

`interval: auto` chooses. The percentile bootstrap of n units has a variance (n-1)/n too small and no tails of Student's
t: with 5, 10 and 20 units its 95 % intervals cover 83, 87 and 92 %, where those below cover 95, 94 and 95 %. So

- a share of whole units (exact_match, no_crossing) gets Wilson's interval, at every n;
- another score with fewer than `MANY` units gets Student's t on the logit scale, and a difference Student's t;
- from `MANY` units on the percentile bootstrap is used, which follows skewed laws.

**Macro averages** are sums of parts that vary by themselves. Their variance is the sum of the parts' variances, each
with its part's n_p/(n_p-1); the degrees of freedom are Satterthwaite's (1946), V²/Σ(V_p²/(n_p-1)). The bootstrap is
(n_p-1)/n_p too small in each part, however many parts there are, so that `MANY` goes by the smallest part. A part of
one unit shows no spread of its own: its distance from the mean of the parts stands for it, as if parts were the units,
which errs on the wide side (collapsed strata, Cochran 1977, section 5A.12).

**Composite scores** (F1 of two averages, weighted means) go by their linear terms (`contributions.py`).

A unit all of whose terms are 0 (an empty sentence) says nothing about a score and is not counted here.

Wilson 1927; Brown, Cai & DasGupta 2001; Student 1908.

**All differences together.** Of 66 intervals of single pairs at 95 % all are right at once in a quarter of the
comparisons only. These are wider: D ± q se, where se is the bootstrap standard error of the pair and q the level
quantile, over resamples, of the maximum over all pairs of |D* - D|/se. All pairs share each resample, so that what
pairs have in common is not paid twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from treescore.core.arrays import BoolArray, FloatArray
from treescore.core.params import Json
from treescore.significance.bootstrap import PERCENTILE, Interval, bca_interval, intervals, jackknife_scores, resampled
from treescore.significance.contributions import contributions, counted_units, difference_squares, influences
from treescore.significance.question import Question
from treescore.significance.settings import AUTO, ROUNDING
from treescore.significance.units import Sample

MANY = 10**9
"""Units from which the percentile bootstrap is used: it then lacks 1/50 of the variance, 1 % of the width."""
WILSON = "Wilson"
LOGIT_T = "logit t"
STUDENT_T = "Student's t"


class UnitsInterval(NamedTuple):
    """An interval and its method in words; the interval is None where there is none, and where the bootstrap gives it.

    Attributes:
        interval: of a score or a difference.
        method: WILSON, LOGIT_T, STUDENT_T, or PERCENTILE: then the caller draws it.
    """

    interval: Interval | None
    method: str


class Spread(NamedTuple):
    """The variance of a sum of linear terms.

    Attributes:
        se: its square root; NaN where the units show none.
        df: degrees of freedom.
        units: units that hold anything.
        weight: units of a sample of equal weights that would vary as much, P²/Σ(1/n_p).
    """

    se: float
    df: float
    units: int
    weight: float


def system_intervals(sample: Sample, systems: Sequence[int], level: float) -> list[Interval | None]:
    """Return the interval of each system's score, in the order of the systems."""
    return [answer.interval for answer in _units_intervals(sample, systems, level)]


def _units_intervals(sample: Sample, systems: Sequence[int], level: float) -> list[UnitsInterval]:
    """Return the interval of each system's score under `interval: auto`, in the order of the systems."""
    values = sample.values()
    by_part = None if sample.parts is None else sample.part_values()
    return [
        _system_interval(sample, system, float(values[system]), None if by_part is None else by_part[system], level)
        for system in systems
    ]


def difference_intervals(sample: Sample, pairs: Sequence[tuple[int, int]], level: float) -> list[UnitsInterval]:
    """Return the interval of each pair's difference D under `interval: auto`: D ± t_df √V.

    V = n/(n-1) Σ(e_i - D w_i)² for one ratio over all units; else e_i - D w_i is the difference of both systems'
    linear terms, which is the same where denominators are equal.
    """
    values = sample.values()
    by_part = None if sample.parts is None else sample.part_values()
    strata, parts = sample.strata, sample.strata_count
    used = sorted({system for pair in pairs for system in pair})
    row_of = {system: row for row, system in enumerate(used)}
    counted = np.array([counted_units(sample, system) for system in used]).reshape(-1, sample.units)
    own_sizes = np.array([_sizes(sample, units) for units in counted]).reshape(-1, parts)
    linear: list[FloatArray] = []
    answers = []
    for first, second in pairs:
        rows = [row_of[first], row_of[second]]
        if _is_many(own_sizes[rows]):
            answers.append(UnitsInterval(None, PERCENTILE))
            continue
        squares, sizes = np.zeros(parts), np.zeros(parts)
        c = contributions(sample.of_systems([first, second]), 0, 1) if sample.plain else None
        if c is None:
            linear = linear or [np.array([influences(sample, system) for system in used])]
            difference_squares(linear[0], counted, strata, np.array(rows), squares, sizes)
        else:
            squares[0] = ((c.e - c.difference * c.w) ** 2).sum()
            sizes = _sizes(sample, counted[rows[0]] | counted[rows[1]])
        if _is_many(sizes[None]):
            answers.append(UnitsInterval(None, PERCENTILE))
            continue
        spread = spread_of(sizes, squares, None if by_part is None else by_part[first] - by_part[second])
        answers.append(UnitsInterval(student_t(float(values[first] - values[second]), spread, level), STUDENT_T))
    return answers


def wilson(k: float, n: float, level: float) -> Interval:
    """Compute (k + z²/2)/(n + z²) ± z √(k(n-k)/n + z²/4)/(n + z²), exactly 0 at k = 0 and 1 at k = n (Wilson 1927)."""
    z = float(ndtri(0.5 * (1.0 + level)))
    middle = (k + z * z / 2.0) / (n + z * z)
    half = z * math.sqrt(max(0.0, k * (n - k) / n) + z * z / 4.0) / (n + z * z)
    return Interval(0.0 if k <= 0 else middle - half, 1.0 if k >= n else middle + half, WILSON)


def logit_t(value: float, spread: Spread, level: float) -> Interval:
    """Compute the interval logit S ± t_df se/(S(1-S)), brought back to shares; S lies between 0 and 1."""
    middle = math.log(value) - math.log1p(-value)
    half = _quantile(spread.df, level) * spread.se / (value * (1.0 - value))
    return Interval(_share(middle - half), _share(middle + half), LOGIT_T)


def student_t(value: float, spread: Spread, level: float) -> Interval | None:
    """Compute value ± t_df se; None where se is 0 or unknown."""
    if not spread.se > 0:
        return None
    half = _quantile(spread.df, level) * spread.se
    return Interval(value - half, value + half, STUDENT_T)


def spread_of(sizes: FloatArray, squares: FloatArray, values: FloatArray | None) -> Spread:
    """Compute the standard error of a score or a difference: V = Σ_p n_p/(n_p-1) Σ r_i², r_i its linear terms.

    These sum to 0 in each part, so that their mean is not taken off.

    Args:
        sizes: n_p, the units of each part that hold anything, (P,).
        squares: Σ r_i² of each part, (P,).
        values: the score or difference of each part, (P,), for parts of one unit; None over one part.
    """
    parts = len(sizes)
    several = sizes > 1
    variances = np.where(several, squares * sizes / np.maximum(sizes - 1.0, 1.0), 0.0)
    total, weighed = float(variances.sum()), float((variances**2 / np.maximum(sizes - 1.0, 1.0)).sum())
    alone = sizes == 1
    if alone.any():
        far = math.nan
        if values is not None and parts > 1:
            far = float(((values[alone] - values.mean()) ** 2).sum()) / (parts * (parts - 1.0))
        total += far
        weighed += far**2 / max(1.0, float(alone.sum()) - 1.0)
    filled = sizes[sizes > 0]
    return Spread(
        se=math.sqrt(total),
        df=total**2 / weighed if weighed > 0 else 1.0,
        units=int(sizes.sum()),
        weight=len(filled) ** 2 / float((1.0 / filled).sum()) if len(filled) else 0.0,
    )


def _system_interval(
    sample: Sample, system: int, value: float, of_parts: FloatArray | None, level: float
) -> UnitsInterval:
    units = counted_units(sample, system)
    if not math.isfinite(value):
        return UnitsInterval(None, STUDENT_T)
    share = _whole_units(sample, system)
    if share:
        return UnitsInterval(wilson(round(value * share), share, level), WILSON)
    sizes = _sizes(sample, units)
    if _is_many(sizes[None]):
        return UnitsInterval(None, PERCENTILE)
    strata, parts = sample.strata, sample.strata_count
    squares = np.bincount(strata, influences(sample, system) ** 2, minlength=parts).astype(np.float64)
    spread = spread_of(sizes, squares, of_parts)
    if math.isnan(spread.se):
        return UnitsInterval(None, STUDENT_T)
    if (sample.score.low, sample.score.high) != (0.0, 1.0):
        interval = student_t(value, spread, level)
        return UnitsInterval(interval and _within_range(sample, interval), STUDENT_T)
    if spread.se == 0 or not 0.0 < value < 1.0:
        if spread.units < 2:
            return UnitsInterval(None, WILSON)
        return UnitsInterval(wilson(min(1.0, max(0.0, value)) * spread.weight, spread.weight, level), WILSON)
    return UnitsInterval(logit_t(value, spread, level), LOGIT_T)


def _whole_units(sample: Sample, system: int) -> int:
    """Return the units of a score that is the share of whole units, right or wrong; 0 for another score."""
    if not sample.plain:
        return 0
    m, n = sample.tops[0][system], sample.bottoms[0][system]
    right_or_wrong = ((n == 0) | (n == 1)) & ((m == 0) | (m == n))
    return int(n.sum()) if right_or_wrong.all() else 0


def _sizes(sample: Sample, units: BoolArray) -> FloatArray:
    """Count the chosen units of each part, (P,)."""
    strata, parts = sample.strata, sample.strata_count
    return np.bincount(strata[units], minlength=parts).astype(np.float64)


def _is_many(sizes: FloatArray) -> bool:
    """Tell whether each part that has units at all has enough of one system: sizes (systems, P)."""
    largest = sizes.max(axis=0, initial=0.0)
    return bool(((largest == 0) | (largest >= MANY)).all()) and bool(largest.any())


def _within_range(sample: Sample, interval: Interval) -> Interval:
    high = math.inf if sample.score.high is None else sample.score.high
    return replace(interval, low=max(interval.low, sample.score.low), high=min(interval.high, high))


def _quantile(df: float, level: float) -> float:
    return float(stdtrit(df, 0.5 * (1.0 + level)))


def _share(logit: float) -> float:
    """Return 1/(1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))


SIMULTANEOUS_METHOD = "simultaneous bootstrap"
BLOCK_NUMBERS = 1_000_000
"""Replicates of differences held at once: 8 MB; never pairs times resamples."""


def simultaneous_intervals(
    replicates: FloatArray, values: FloatArray, pairs: Sequence[tuple[int, int]], level: float
) -> list[Interval]:
    """Compute D ± q se of each pair, in the order of the pairs; a pair with se = 0 is left out of q.

    A resample in which a score is undefined is left out for its pairs; a pair that is undefined in more than half of
    them has NaN ends.

    Args:
        replicates: the scores in each resample, (N, resamples); NaN where undefined.
        values: the scores themselves, (N,).
        pairs: of systems.
        level: at which all intervals hold together.
    """
    resamples = replicates.shape[1]
    chosen = np.array(pairs, np.int64).reshape(-1, 2)
    observed = values[chosen[:, 0]] - values[chosen[:, 1]]
    if not len(chosen) or resamples < 2:
        return [Interval(math.nan, math.nan, SIMULTANEOUS_METHOD) for _ in pairs]
    errors = np.empty(len(chosen))
    largest = np.full(resamples, -math.inf)
    step = max(1, BLOCK_NUMBERS // resamples)
    for start in range(0, len(chosen), step):
        block = slice(start, start + step)
        differences = replicates[chosen[block, 0]] - replicates[chosen[block, 1]]
        errors[block] = _standard_errors(differences)
        varying = errors[block] > 0
        if varying.any():
            moved = differences[varying]
            moved -= observed[block][varying, None]
            np.abs(moved, out=moved)
            moved /= errors[block][varying, None]
            np.fmax(largest, np.fmax.reduce(moved, axis=0), out=largest)
    found = largest[np.isfinite(largest)]
    q = float(np.quantile(found, level)) if len(found) else 0.0
    lows, highs = observed - q * errors, observed + q * errors
    return [Interval(float(low), float(high), SIMULTANEOUS_METHOD) for low, high in zip(lows, highs, strict=True)]


def _standard_errors(differences: FloatArray) -> FloatArray:
    """Return the standard deviation of each row's defined values: 0 where rounding is all, NaN where few are."""
    undefined = np.isnan(differences)
    if undefined.any():
        usable = undefined.mean(axis=1) <= 0.5
        errors = np.full(len(differences), math.nan)
        errors[usable] = np.nanstd(differences[usable], axis=1, ddof=1)
        scale = np.fmax.reduce(np.abs(differences), axis=1)
    else:
        errors = differences.std(axis=1, ddof=1)
        scale = np.maximum(differences.max(axis=1), -differences.min(axis=1))
    return np.asarray(np.where(errors <= ROUNDING * scale, 0.0, errors), np.float64)


DRAWN = "bootstrap"
"""How the names of methods end that draw resamples."""
PAIRED = "paired "
"""Before them where the same resamples serve both systems of a pair."""
PAIRS_AT_ONCE = 64
"""Pairs whose differences are held at once, so that memory stays of the order of systems times resamples."""


class Draws:
    """The systems of a question that have a score, and their scores in every resample, drawn when first asked for.

    Attributes:
        systems: as indices of the question.
        sample: of these systems only.
        pairs: of the question, as rows of the sample.
    """

    def __init__(self, question: Question, threads: int | None = None) -> None:
        """Draw nothing yet; then in so many threads."""
        self.systems = [index for index, value in enumerate(question.values) if math.isfinite(value)]
        self.sample: Sample = question.sample.of_systems(self.systems)
        row_of = {system: row for row, system in enumerate(self.systems)}
        self.pairs = [(row_of[first], row_of[second]) for first, second in question.pairs]
        self._question = question
        self._threads = threads
        self._replicates: FloatArray | None = None

    @property
    def replicates(self) -> FloatArray:
        """The scores, (N, resamples); NaN where undefined."""
        if self._replicates is None:
            question = self._question
            self._replicates = resampled(self.sample, question.resamples, question.seed(), self._threads)
        return self._replicates


def own_intervals(question: Question, draws: Draws) -> tuple[Mapping[int, Interval], list[Interval | None]]:
    """Compute the interval of each system's score, by its index, and of each pair's difference, None without one."""
    settings = question.settings
    if settings.interval == "none" or not draws.systems or not question.sample.units:
        return {}, [None] * len(draws.pairs)
    of_systems: Sequence[Interval | None]
    of_pairs: Sequence[Interval | None]
    if settings.interval == AUTO:
        of_systems, of_pairs = _by_units(draws, settings.level)
    elif settings.interval == "bca":
        of_systems, of_pairs = _accelerated(draws, settings.level)
    else:
        of_systems = intervals(draws.replicates, settings.level)
        of_pairs = percentile_differences(draws.replicates, draws.pairs, settings.level)
    found = zip(draws.systems, of_systems, strict=True)
    return {system: interval for system, interval in found if interval is not None}, list(of_pairs)


def intervals_together(question: Question, draws: Draws) -> list[Interval | None]:
    """Compute the intervals of all differences that hold together; None where none are asked for.

    They depend on all systems, as corrected p do.
    """
    if question.settings.interval == "none" or not question.pairs or not question.sample.units:
        return [None] * len(question.pairs)
    values = draws.sample.values()
    return list(simultaneous_intervals(draws.replicates, values, draws.pairs, question.settings.level))


def interval_document(question: Question, interval: Interval | None, systems: Sequence[int]) -> dict[str, Json] | None:
    """Make the document of an interval that belongs to some systems: one, the two of a difference, or all."""
    if interval is None:
        return None
    drawn = interval.method.endswith(DRAWN)
    return {
        "level": question.settings.level,
        "low": interval.low if math.isfinite(interval.low) else None,
        "high": interval.high if math.isfinite(interval.high) else None,
        "method": f"{PAIRED}{interval.method}" if drawn and len(systems) > 1 else interval.method,
    }


def percentile_differences(replicates: FloatArray, pairs: Sequence[tuple[int, int]], level: float) -> list[Interval]:
    """Compute percentile intervals of all differences, a bounded number of pairs at once."""
    result: list[Interval] = []
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        indices = np.array(pairs[start : start + PAIRS_AT_ONCE])
        result += intervals(replicates[indices[:, 0]] - replicates[indices[:, 1]], level)
    return result


def _by_units(draws: Draws, level: float) -> tuple[list[Interval | None], list[Interval | None]]:
    """Compute each interval as the number of units asks for."""
    own = _units_intervals(draws.sample, range(len(draws.systems)), level)
    of_pairs = difference_intervals(draws.sample, draws.pairs, level)
    systems = [row for row, answer in enumerate(own) if answer.method == PERCENTILE]
    pairs = [at for at, answer in enumerate(of_pairs) if answer.method == PERCENTILE]
    found_own = [answer.interval for answer in own]
    found = [answer.interval for answer in of_pairs]
    if systems:
        for row, interval in zip(systems, intervals(draws.replicates[systems], level), strict=True):
            found_own[row] = interval
    if pairs:
        drawn = percentile_differences(draws.replicates, [draws.pairs[at] for at in pairs], level)
        for at, interval in zip(pairs, drawn, strict=True):
            found[at] = interval
    return found_own, found


def _accelerated(draws: Draws, level: float) -> tuple[list[Interval], list[Interval]]:
    replicates, values = draws.replicates, draws.sample.values()
    left_out = jackknife_scores(draws.sample)
    own = [bca_interval(replicates[row], float(values[row]), left_out[row], level) for row in range(len(draws.systems))]
    of_pairs = [
        bca_interval(
            replicates[first] - replicates[second],
            float(values[first] - values[second]),
            left_out[first] - left_out[second],
            level,
        )
        for first, second in draws.pairs
    ]
    return own, of_pairs
