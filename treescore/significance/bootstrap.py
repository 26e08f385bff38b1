"""Paired bootstrap intervals of scores and of differences, without p-values, the jackknife, and what stands on it.

Koehn 2004; Efron & Tibshirani 1993; Berg-Kirkpatrick, Burkett & Klein 2012. One matrix of weights serves all
systems, so that differences are paired; units are redrawn within their part.

**The Ladder**: a shown score moves only when it beats the best one before it by more than its noise. Blum & Hardt
(2015), "The Ladder: a reliable leaderboard for machine learning competitions", section 4, without a parameter: with
losses l_i of n units, the shown loss R moves to R(new) only if

    R(new) < R(shown) - s / sqrt(n),

where s is the standard deviation of the paired differences l_i(new) - l_i(shown). The right side is the paired standard
error of the difference of two means. Scores of parsing are functions of sums, not means, so that here the standard
error is that of the jackknife, which is s / sqrt(n) where a score is a mean (Efron & Stein 1981, equation 1.3): with
d_(k) the difference of both scores without unit k, of the n_h units of stratum h,

    SE^2 = sum_h (n_h - 1) / n_h  sum_{k in h} (d_(k) - mean_h d)^2.

Of outputs that differ at random few then move the shown score: the best of t random ones is better than the first by
about sqrt(2 ln t) standard errors, which are so many steps at most, and what a search learns is the steps alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from treescore.core.arrays import Bits, Counts, FloatArray, IntArray, offsets_of
from treescore.core.scores import Score
from treescore.significance.kernels import LANE_BITS, LANE_MOST, LANES, draw_weights, lane_sums
from treescore.significance.units import Sample, sample_of

_FIRST = 0x8B51F9DD
_FACTOR = 0x58F38DED
_KEPT = 8
"""Lengths whose factors are kept: a comparison asks for two, that of all batches and that of the last."""


def many_states(seeds: np.random.SeedSequence, count: int) -> Bits:
    """Return `seeds.generate_state(count, np.uint64)`, in vectors (O'Neill 2015, "Simple portable seed_seq").

    Each half of a number is hashed by itself, with a factor that depends on its place alone.
    """
    pool = np.asarray(seeds.pool, np.uint32)
    factors = _factors(-(-2 * count // len(pool)) * len(pool))
    halves = pool ^ factors[:-1].reshape(-1, len(pool))
    halves *= factors[1:].reshape(halves.shape)
    halves ^= halves >> np.uint32(16)
    states: Bits = halves.ravel()[: 2 * count].astype("<u4").view("<u8").astype(np.uint64)
    return states


@lru_cache(maxsize=_KEPT)
def _factors(count: int) -> NDArray[np.uint32]:
    """Return first * factor^i for i = 0 to count, modulo 2^32."""
    powers = np.full(count + 1, _FACTOR, np.uint32)
    powers[0] = _FIRST
    return np.multiply.accumulate(powers, dtype=np.uint32)


BATCH_DRAWS = 2_000_000
"""Limit of draws that a batch of resamples holds."""
MOST_DRAWS = 2_000_000_000
"""Limit of units drawn in all resamples together (some ten seconds); resamples are reduced beyond it."""
MOST_SUMS = 1_000_000_000
"""Limit of sums in all resamples together: of terms by system and part, of differences by pair (some 15 s)."""
MOST_PRODUCTS = 100_000_000_000
"""Limit of units drawn times terms of all systems in all resamples together (0.7 nanoseconds each, some 40 s on two
cores)."""
FEWEST_RESAMPLES = 1_000
"""Resamples that are drawn at any cost: 25 of them lie beyond each end of a 95 % interval."""
BATCH_SUMS = 1_000_000
"""Limit of sums (resamples x parts x terms of all systems) that a thread holds: with their copies in float64 and what
scores are made of some 16 MB, 64 MB in all threads."""
_RESAMPLES_STREAM = 0xB007
"""Keeps the draws of resamples apart from those of other procedures under one seed."""
PERCENTILE = "percentile bootstrap"
_THREADS = 4
"""Threads, the same number on every machine, so that memory is bounded."""
LARGEST_IN_LANE = 2_000
"""Largest count that is packed: lanes are then emptied every 32 words, which costs less than drawing these."""
EXACT_SINGLE = 2.0**24
"""Below this limit float32 holds every whole number."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a score or a difference.

    Attributes:
        low, high: NaN where the score is undefined in too many resamples.
        method: in words.
    """

    low: float
    high: float
    method: str = PERCENTILE


def affordable_resamples(requested: int, units: int, sums: int, terms: int) -> int:
    """Return the resamples asked for, or as many as so many units drawn and sums in each of them allow.

    Args:
        requested: resamples.
        units: drawn in each.
        sums: of terms by system and part, and differences by pair, in each.
        terms: of all systems, each of which is multiplied by the weight of each unit.
    """
    most = min(MOST_DRAWS // max(1, units), MOST_SUMS // max(1, sums), MOST_PRODUCTS // max(1, units * terms))
    return min(requested, max(FEWEST_RESAMPLES, most))


def resampled(sample: Sample, resamples: int, seed: int, threads: int | None = None) -> FloatArray:
    """Return the score of every system in every resample: float64 (N, resamples), NaN where undefined.

    What a system gets depends on no other. Sums are of whole numbers (real counts are put on a grid of 2^-40 of their
    largest), so that they do not depend on the order in which a processor adds them up. Resamples are reduced to
    scores some at a time: only these are kept.
    """
    terms = _terms_of(sample)
    scores = np.empty((sample.systems, resamples))

    def fill(start: int, states: Bits) -> None:
        scores[:, start : start + states.shape[1]] = _scores(sample, terms, states)

    work = list(_seeded(sample, terms, resamples, seed))
    with ThreadPoolExecutor(threads or _THREADS) as pool:
        list(pool.map(fill, *zip(*work, strict=True)))
    return scores


def intervals(replicates: FloatArray, level: float) -> list[Interval]:
    """Compute percentile intervals of replicates (m, resamples)."""
    tail = 0.5 * (1.0 - level)
    lows, highs = quantiles(replicates, np.array([tail, 1.0 - tail]))
    return [Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]


def bca_interval(replicates: FloatArray, observed: float, jackknife: FloatArray, level: float) -> Interval:
    """Compute the bias-corrected and accelerated interval (Efron 1987) of one statistic.

    Args:
        replicates: (resamples,).
        observed: the statistic itself.
        jackknife: the statistic without each unit, one after the other, (n,).
        level: of the interval.
    """
    finite = replicates[~np.isnan(replicates)]
    below = float((finite < observed).sum() + 0.5 * (finite == observed).sum())
    if not len(finite) or below in (0.0, float(len(finite))):
        return intervals(replicates[None], level)[0]
    bias = float(ndtri(below / len(finite)))
    influences = jackknife.mean() - jackknife
    spread = float((influences**2).sum())
    acceleration = float((influences**3).sum()) / (6.0 * spread**1.5) if spread > 0 else 0.0
    tail = 0.5 * (1.0 - level)
    shares = []
    for share in (tail, 1.0 - tail):
        z = bias + float(ndtri(share))
        shares.append(float(ndtr(bias + z / (1.0 - acceleration * z))))
    low, high = quantiles(finite[None], np.array(shares))
    return Interval(float(low[0]), float(high[0]), "BCa bootstrap")


def jackknife_scores(sample: Sample) -> FloatArray:
    """Compute scores without each unit, one after the other: (N, n); undefined ones as if no unit were left out."""
    values_of_all = sample.values()
    left_out = [
        (_without_each(sample, top), _without_each(sample, bottom))
        for top, bottom in zip(sample.tops, sample.bottoms, strict=True)
    ]
    plain = sample.parts is None
    values = sample.score.of_terms(left_out) if plain else _macro_without_each(sample, left_out)
    return np.where(np.isnan(values), values_of_all[:, None], values)


def quantiles(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Compute quantiles (q, m) of values (m, resamples), linearly interpolated, undefined ones left out."""
    if values.shape[1] == 0:
        return np.full((len(shares), len(values)), np.nan)
    undefined = np.isnan(values)
    if undefined.any():
        share = undefined.mean(axis=1)
        filled = np.where((share > 0.5)[:, None], 0.0, values)
        result = np.nanquantile(filled, shares, axis=1)
        return np.where(share > 0.5, np.nan, result)
    position = shares * (values.shape[1] - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, values.shape[1] - 1)
    ordered = np.partition(values, np.unique(np.concatenate([below, above])), axis=1)
    low, high = ordered[:, below].T, ordered[:, above].T
    return np.asarray(low + (high - low) * (position - below)[:, None], np.float64)


class _Terms(NamedTuple):
    """All terms of a sample as they are summed.

    Attributes:
        stack: whole numbers, (n, columns), the units of a part one after the other.
        scales: the value of 1 in each column.
        starts: the first unit of each part, and the end, (parts + 1,).
        lanes: the same numbers packed, where they are few and small.
    """

    stack: Any
    scales: FloatArray
    starts: IntArray
    lanes: Lanes | None


class Lanes(NamedTuple):
    """Few small counts, all columns of a unit in one word.

    Attributes:
        packed: uint64 (n,), a column in each lane.
        at_once: words of a stream whose units fit into a lane together.
    """

    packed: Bits
    at_once: int


def _terms_of(sample: Sample) -> _Terms:
    columns, scales = _stacked_terms(sample)
    order, sizes = _strata(sample)
    exact_in_float32 = (
        sample.integer and float(np.abs(columns).max(initial=0)) * max(1, int(sizes.max(initial=0))) < EXACT_SINGLE
    )
    dtype: type[Any] = np.float32 if exact_in_float32 else np.float64
    lanes = _lanes(columns[:, order]) if sample.integer else None
    return _Terms(np.ascontiguousarray(columns[:, order].T, dtype), scales, offsets_of(sizes), lanes)


def _lanes(columns: Counts) -> Lanes | None:
    """Pack whole numbers (columns, n); None where there are more columns than lanes, or too large or negative ones."""
    largest = int(columns.max(initial=0))
    if len(columns) > LANES or columns.min(initial=0) < 0 or largest > LARGEST_IN_LANE:
        return None
    packed = np.zeros(columns.shape[1], np.uint64)
    for lane, column in enumerate(columns):
        packed |= column.astype(np.uint64) << np.uint64(LANE_BITS * lane)
    return Lanes(packed, LANE_MOST // max(1, largest))


def _stacked_terms(sample: Sample) -> tuple[Counts, FloatArray]:
    """Stack all terms, (columns, n), as whole numbers; return them and the value of 1 in each column."""
    rows: list[Counts] = []
    for top, bottom in zip(sample.tops, sample.bottoms, strict=True):
        rows += [top, bottom]
    if sample.integer:
        return np.concatenate(rows).astype(np.int64), np.ones(sum(len(row) for row in rows))
    stack = np.concatenate(rows).astype(np.float64)
    largest = np.abs(stack).max(axis=1, initial=0.0)
    room = 52 - math.ceil(math.log2(max(2, sample.units)))
    scales = np.where(largest > 0, 2.0 ** (np.ceil(np.log2(np.where(largest > 0, largest, 1.0))) - room), 1.0)
    return np.rint(stack / scales[:, None]), scales


def _strata(sample: Sample) -> tuple[IntArray, IntArray]:
    if sample.parts is None:
        return np.arange(sample.units), np.array([sample.units])
    return np.argsort(sample.parts, kind="stable"), np.bincount(sample.parts, minlength=sample.part_count)


def _seeded(sample: Sample, terms: _Terms, resamples: int, seed: int) -> Iterator[tuple[int, Bits]]:
    """Yield the number of a resample, and the seeds of it and the next few in each part, (parts, few)."""
    parts = len(terms.starts) - 1
    step = max(1, min(resamples, BATCH_DRAWS // max(1, sample.units)))
    few = max(1, BATCH_SUMS // max(1, parts * terms.stack.shape[1]))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        seeds = np.random.SeedSequence([seed, _RESAMPLES_STREAM, start // step])
        states = many_states(seeds, size * parts).reshape(parts, size)
        for first in range(0, size, few):
            yield start + first, states[:, first : first + few]


def _scores(sample: Sample, terms: _Terms, states: Bits) -> FloatArray:
    """Return the scores of all systems in the resamples of some seeds (parts, few): (N, few)."""
    systems, few = sample.systems, states.shape[1]
    sums = _drawn_sums(terms, states)
    columns = np.ascontiguousarray(sums.T, np.float64)
    columns *= terms.scales[:, None, None]
    tops_and_bottoms = columns.reshape(len(sample.tops), 2, systems, few, len(states))
    return sample.joined([(top, bottom) for top, bottom in tops_and_bottoms])


def _drawn_sums(terms: _Terms, states: Bits) -> Any:
    """Return the sums of all terms in the resamples of some seeds (parts, few): (parts, few, columns)."""
    shape = (*states.shape, terms.stack.shape[1])
    if terms.lanes is not None:
        in_lanes = np.zeros((*states.shape, LANES))
        lane_sums(states, terms.lanes.packed, terms.starts, terms.lanes.at_once, in_lanes)
        return in_lanes[..., : shape[-1]]
    sums = np.empty(shape, terms.stack.dtype)
    for part, (start, end) in enumerate(pairwise(terms.starts.tolist())):
        weights = np.zeros((len(states[part]), end - start), terms.stack.dtype)
        draw_weights(states[part], weights)
        np.matmul(weights, terms.stack[start:end], out=sums[part])
    return sums


def _without_each(sample: Sample, terms: Counts) -> Counts:
    if sample.parts is None:
        return np.asarray(terms.sum(axis=1, keepdims=True) - terms)
    return np.asarray(sample.summed(terms)[:, sample.parts] - terms)


def _macro_without_each(sample: Sample, left_out: Sequence[tuple[Counts, Counts]]) -> FloatArray:
    """Return the mean of the parts' scores without each unit, one after the other."""
    worst = math.nan if sample.score.worst is None else sample.score.worst
    by_part = np.nan_to_num(sample.score.of_terms(sample.sums()), nan=worst)
    own = np.nan_to_num(sample.score.of_terms(left_out), nan=worst)
    total = by_part.sum(axis=1, keepdims=True)
    return np.asarray((total - by_part[:, sample.parts] + own) / sample.part_count, np.float64)


def beats_shown(score: Score, names: Sequence[str], new: Counts, shown: Counts, parts: IntArray | None = None) -> bool:
    """Return whether a score is better than the shown one by more than the paired standard error of the difference.

    A defined score beats an undefined one. A difference in one unit alone beats nothing: its standard error is the
    difference itself.

    Args:
        score: which is compared.
        names: of the counts.
        new: counts of the new output, (n, k), one row a sentence.
        shown: those of the shown one, in the same order.
        parts: stratum of each sentence, int64 (n,), where the mean of the parts' scores is compared; None for one.
    """
    sample = sample_of(score, names, [new, shown], None, parts)
    values = sample.values()
    if math.isnan(values[0]):
        return False
    if math.isnan(values[1]):
        return True
    gain = float(values[0] - values[1]) * score.sign
    return int(sample.differing_units(0, 1).sum()) > 1 and gain > paired_error(sample)


def paired_error(sample: Sample) -> float:
    """Return the jackknife's standard error of the difference of the scores of two systems; 0.0 over one unit."""
    first, second = jackknife_scores(sample)
    differences = np.nan_to_num(first - second)
    strata = sample.strata
    sizes = np.bincount(strata, minlength=1)
    means = np.bincount(strata, differences, minlength=1) / np.maximum(sizes, 1)
    squares = np.bincount(strata, (differences - means[strata]) ** 2, minlength=1)
    return math.sqrt(float((squares * (sizes - 1) / np.maximum(sizes, 1)).sum()))
