"""Paired permutation tests by Monte Carlo, all pairs under one matrix of random swaps.

For any one pair the rows of the matrix are independent uniform swaps, so that p = (b + 1) / (R + 1) is valid
(Dwass 1957; Phipson & Smyth 2010). Pairs are dependent, which the corrections allow.
Swapped sums of a pair are differences of the systems' own, so only systems meet the matrix, as bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.significance.exact_ratios import extreme
from treescore.significance.families import first_threshold
from treescore.significance.kernels import PairTerms, count_extreme, mean_ratios, swapped_real_sums, swapped_sums
from treescore.significance.settings import TOLERANCE
from treescore.significance.units import Sample

BATCH = 2048
"""Shuffles that are counted at once, at most: 16 KB of sums of a system, which stay in a processor's cache."""
THREADS = 4
"""Threads that count batches, the same number on every machine, so that memory is bounded."""
MOST_SHUFFLES = 4_000_000
"""Most shuffles of a test when the correction asks for more: the smallest p of 200,000 pairs passes 0.05 with them."""
MOST_WORK = 4e10
"""Limit of word operations and pair steps (about 10 and 2 a nanosecond) when shuffles are raised."""
ASKED_WORK = 1e11
"""Limit of the same work for the shuffles that were asked for (some 80 s on two cores); beyond it they are lowered."""
FEWEST_SHUFFLES = 1_000
_SHUFFLES_STREAM = 0x5357
"""Keeps the draws of swaps apart from those of other procedures under one seed."""
_BATCH_NUMBERS = 2_500_000
"""Numbers of one batch (20 MB), so that four threads with their copies hold about 100 MB."""
_SMALL_WORK = 2e7
"""Pair steps (10 ms) up to which threads cost more than they save."""

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Layout:
    """The bit of each unit, and the words of each part: part p has the words `offsets[p]:offsets[p + 1]`."""

    bits: IntArray
    offsets: IntArray

    @property
    def words(self) -> int:
        """Words of one shuffle."""
        return int(self.offsets[-1])


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a sample in the form that the kernels take."""

    layout: Layout
    planes: Words | None
    plane_columns: IntArray
    weights: IntArray
    reals: FloatArray | None
    count: int


def shuffles_needed(requested: int, pairs: int, alpha: float, correction: str) -> int:
    """Return the shuffles with which a single real difference can pass the correction over all pairs, with a margin."""
    least = math.ceil(1.0 / first_threshold(pairs, alpha, correction))
    if requested + 1 >= 2 * least:
        return requested
    round_number = int(10 ** math.ceil(math.log10(2 * least)))
    return max(requested, round_number if round_number <= 5 * least else 4 * least)


def affordable_shuffles(wanted: int, requested: int, sample: Sample, pairs: int) -> int:
    """Return `wanted`, or as many as the budget allows, at least those asked for.

    The largest comparisons cannot afford even these; they get fewer, but no less than `FEWEST_SHUFFLES`.
    """
    columns = 2 * len(sample.tops) * sample.systems
    per_step = _step_cost(sample)
    per_unit = 4.0 / 64.0 if sample.integer else 1.0
    work = columns * sample.units * per_unit + pairs * per_step
    least = min(requested, max(FEWEST_SHUFFLES, int(ASKED_WORK / max(1.0, work))))
    return max(least, min(wanted, MOST_SHUFFLES, int(MOST_WORK / max(1.0, work))))


def _step_cost(sample: Sample) -> float:
    """Estimate the cost of one shuffle of one pair, in compiled ratios over all units."""
    if sample.plain:
        return 1.0
    return (40.0 if sample.parts is None or sample.score.join is not None else 6.0) * max(1, sample.part_count)


def extreme_counts(
    sample: Sample, pairs: Sequence[tuple[int, int]], shuffles: int, seed: int, alternative: str
) -> IntArray:
    """Count for each pair the shuffles at least as extreme as the observed difference: int64 (pairs,).

    The same for any number of threads: a batch draws from a stream of its own.
    """
    if not pairs or not sample.units:
        return np.full(len(pairs), shuffles, np.int64)
    fast = _fast(sample, pairs)
    columns = _columns(sample, spread=not sample.plain)
    step = _batch(columns)
    batches = [(start, min(step, shuffles - start)) for start in range(0, shuffles, step)]
    plan = _Plan(sample, columns, [pair for pair, is_fast in zip(pairs, fast, strict=True) if is_fast], alternative)
    slow = [pair for pair, is_fast in zip(pairs, fast, strict=True) if not is_fast]

    def run(batch: tuple[int, int]) -> tuple[IntArray, IntArray]:
        start, size = batch
        generator = np.random.default_rng([seed, _SHUFFLES_STREAM, start // step])
        signs = generator.integers(0, 2**64, dtype=np.uint64, size=(size, columns.layout.words))
        sums = _swapped(columns, signs)
        return plan.count(sums), _slow_counts(sample, slow, sums, alternative)

    work = shuffles * (len(pairs) + columns.count * sample.units / 16)
    if work < _SMALL_WORK or len(batches) == 1:
        batch_counts = [run(batch) for batch in batches]
    else:
        with ThreadPoolExecutor(THREADS) as pool:
            batch_counts = list(pool.map(run, batches))
    result = np.zeros(len(pairs), np.int64)
    fast_rows = np.flatnonzero(fast)
    slow_rows = np.flatnonzero(~fast)
    for fast_hits, slow_hits in batch_counts:
        result[fast_rows] += fast_hits
        result[slow_rows] += slow_hits
    return result


def _batch(columns: Columns) -> int:
    """Return the shuffles of one batch, from the data alone, so that threads hold less than about 100 MB."""
    widest = max(columns.layout.words, (len(columns.layout.offsets) - 1) * columns.count, 1)
    return max(16, min(BATCH, _BATCH_NUMBERS // widest))


class _Plan:
    """The pairs of one ratio that the compiled loop can count."""

    def __init__(self, sample: Sample, columns: Columns, pairs: Sequence[tuple[int, int]], alternative: str) -> None:
        self.two_sided = alternative == "two-sided"
        self.direction = -sample.direction if alternative == "less" else sample.direction
        self.limits = np.zeros(len(pairs))
        self.slacks = np.zeros(len(pairs))
        self.systems = sample.systems
        self.columns = columns
        firsts, seconds = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
        tops, bottoms = sample.tops[0].sum(axis=1), sample.bottoms[0].sum(axis=1)
        self.terms = PairTerms(
            totals=(tops[firsts] + tops[seconds]).astype(np.float64),
            sizes=(bottoms[firsts] + bottoms[seconds]).astype(np.float64),
            us=(tops[firsts] - tops[seconds]).astype(np.float64),
            vs=(bottoms[firsts] - bottoms[seconds]).astype(np.float64),
            firsts=firsts,
            seconds=seconds,
        )
        for row in range(len(pairs)):
            total, size, u, v = (float(terms[row]) for terms in self.terms[:4])
            observed = self.direction * 2.0 * (u * size - total * v) / (size * size - v * v)
            limit = abs(observed) if self.two_sided else observed
            self.limits[row] = limit - TOLERANCE * abs(limit)
            if not sample.integer:
                self.slacks[row] = TOLERANCE * abs(total) * size

    def count(self, sums: FloatArray) -> IntArray:
        """Count hits of one batch: sums (2 * systems, shuffles) -> (pairs,)."""
        hits = np.zeros(len(self.limits), np.int64)
        if len(hits):
            tops, bottoms = sums[0, : self.systems], sums[0, self.systems : 2 * self.systems]
            count_extreme(tops, bottoms, self.terms, self.limits, self.slacks, self.direction, self.two_sided, hits)
        return hits


def _fast(sample: Sample, pairs: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Tell which pairs have one ratio over all units whose denominators no swap can bring to 0."""
    if not sample.plain:
        return np.zeros(len(pairs), np.bool_)
    bottom = sample.bottoms[0]
    if (bottom < 0).any():
        return np.zeros(len(pairs), np.bool_)
    if (bottom.min(axis=0) > 0).any():
        return np.ones(len(pairs), np.bool_)
    return np.array([np.minimum(bottom[first], bottom[second]).sum() > 0 for first, second in pairs], np.bool_)


def _slow_counts(sample: Sample, pairs: Sequence[tuple[int, int]], sums: FloatArray, alternative: str) -> IntArray:
    """Count hits of one batch for any score: sums (parts, columns, shuffles)."""
    hits = np.zeros(len(pairs), np.int64)
    observed = np.nan_to_num(sample.values()) if pairs else np.zeros(0)
    for row, differences in enumerate(swapped_differences(sample, pairs, sums)):
        first, second = pairs[row]
        observed_difference = float(observed[first] - observed[second])
        hits[row] = int(extreme(differences, observed_difference, alternative, sample.score.higher_is_better).sum())
    return hits


def shuffled_sums(sample: Sample, shuffles: int, seed: int) -> Iterator[FloatArray]:
    """Yield the sums over swapped units of all terms, (parts, columns, swaps), some random swaps of all at a time."""
    columns = _columns(sample, spread=not sample.plain)
    step = _batch(columns)
    for start in range(0, shuffles, step):
        generator = np.random.default_rng([seed, _SHUFFLES_STREAM, start // step])
        size = (min(step, shuffles - start), columns.layout.words)
        yield _swapped(columns, generator.integers(0, 2**64, dtype=np.uint64, size=size))


def swapped_differences(sample: Sample, pairs: Sequence[tuple[int, int]], sums: FloatArray) -> Iterator[FloatArray]:
    """Yield for each pair the difference of the systems' scores after each swap, (swaps,); undefined ones count as 0.

    Args:
        sample: any score.
        pairs: systems whose units were swapped.
        sums: over the swapped units of each part, (parts, columns, swaps); columns are the numerators of all systems,
            their denominators, and so on for each ratio.
    """
    if not pairs:
        return
    totals = sample.sums()
    macro = sample.parts is not None and sample.score.join is None
    for first, second in pairs:
        if macro:
            yield _macro_differences(sample, sums, totals[0], first, second)
        else:
            yield _differences(sample, sums, totals, first, second)


def _differences(
    sample: Sample, sums: FloatArray, totals: Sequence[tuple[Counts, Counts]], first: int, second: int
) -> FloatArray:
    """Compute the difference of two systems' scores after each shuffle, any score; undefined ones count as 0."""
    systems = sample.systems
    terms_a, terms_b = [], []
    for ratio, terms in enumerate(totals):
        halves = []
        for half, total in enumerate(terms):
            column = (2 * ratio + half) * systems
            change = (sums[:, column + first] - sums[:, column + second]).T
            halves.append((total[first] - change, total[second] + change))
        terms_a.append((halves[0][0], halves[1][0]))
        terms_b.append((halves[0][1], halves[1][1]))
    return np.asarray(np.nan_to_num(sample.joined(terms_a)) - np.nan_to_num(sample.joined(terms_b)))


def _macro_differences(
    sample: Sample, sums: FloatArray, totals: tuple[Counts, Counts], first: int, second: int
) -> FloatArray:
    """Do the same for the mean of one ratio over parts, in one compiled pass."""
    worst = math.nan if sample.score.worst is None else float(sample.score.worst)
    one_minus = sample.score.ratios[0].one_minus
    changes = sums[:, [first, sample.systems + first]] - sums[:, [second, sample.systems + second]]
    means = [
        np.nan_to_num(
            mean_ratios(changes, 0, 1, np.stack([total[system] for total in totals]) * 1.0, sign, one_minus, worst)
        )
        for system, sign in ((first, -1.0), (second, 1.0))
    ]
    return np.asarray(means[0] - means[1])


def _layout(sample: Sample, *, spread: bool) -> Layout:
    if sample.parts is None or not spread:
        return Layout(np.arange(sample.units, dtype=np.int64), np.array([0, (sample.units + 63) // 64]))
    sizes = np.bincount(sample.parts, minlength=sample.part_count)
    offsets = np.concatenate([[0], np.cumsum((sizes + 63) // 64)]).astype(np.int64)
    order = np.argsort(sample.parts, kind="stable")
    within = np.arange(sample.units) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    bits = np.empty(sample.units, np.int64)
    bits[order] = offsets[sample.parts[order]] * 64 + within
    return Layout(bits, offsets)


def _columns(sample: Sample, *, spread: bool) -> Columns:
    layout = _layout(sample, spread=spread)
    # only differences between systems matter: each unit's smallest value is taken off all
    stacks: list[Counts] = []
    for top, bottom in zip(sample.tops, sample.bottoms, strict=True):
        stacks += [top - top.min(axis=0), bottom - bottom.min(axis=0)]
    if not sample.integer:
        values = np.zeros((layout.words * 64, sum(len(stack) for stack in stacks)))
        values[layout.bits] = np.concatenate(stacks).T
        empty = np.zeros(0, np.int64)
        return Columns(layout, None, empty, empty, values, values.shape[1])
    values_by_column = np.concatenate(stacks)
    planes, columns, weights = [], [], []
    for column, values_of in enumerate(values_by_column):
        for bit in range(int(values_of.max(initial=0)).bit_length()):
            bits = np.zeros(layout.words * 64, np.uint8)
            bits[layout.bits] = (values_of >> bit) & 1
            planes.append(np.packbits(bits, bitorder="little").view(np.uint64))
            columns.append(column)
            weights.append(1 << bit)
    words = np.stack(planes) if planes else np.zeros((0, layout.words), np.uint64)
    return Columns(layout, words, np.array(columns, np.int64), np.array(weights, np.int64), None, len(values_by_column))


def _swapped(columns: Columns, signs: Words) -> FloatArray:
    """Compute sums over the swapped units: (parts, columns, shuffles)."""
    offsets = columns.layout.offsets
    sums = np.zeros((len(offsets) - 1, columns.count, len(signs)))
    for part in range(len(offsets) - 1):
        first, last = int(offsets[part]), int(offsets[part + 1])
        part_signs = np.ascontiguousarray(signs[:, first:last])
        if columns.planes is not None:
            planes = np.ascontiguousarray(columns.planes[:, first:last])
            swapped_sums(part_signs, planes, columns.plane_columns, columns.weights, sums[part])
        elif columns.reals is not None:
            swapped_real_sums(part_signs, columns.reals[first * 64 : last * 64], sums[part])
    return sums
