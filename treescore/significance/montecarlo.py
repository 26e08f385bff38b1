"""Paired permutation tests by random swaps, where shuffles are asked for by name; all pairs under the same ones.

For any one pair the rows of the matrix of swaps are independent and uniform, so that p = (b + 1) / (R + 1) is valid
(Dwass 1957; Phipson & Smyth 2010). Pairs are dependent, which the corrections allow. Swapped sums of a pair are
differences of the systems' own, so that only systems meet the matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from treescore.core.arrays import Counts, FloatArray, IntArray
from treescore.significance.settings import SLACK, TOLERANCE
from treescore.significance.units import Sample

MOST_NUMBERS = 1 << 22
"""Swaps of one batch: 32 MB. A batch has a stream of its own, and its size goes by the units alone."""
MOST_BATCH = 1 << 12
_STREAM = 0x5357
"""Keeps the draws of swaps apart from those of other procedures under one seed."""


def extreme_counts(
    sample: Sample,
    pairs: Sequence[tuple[int, int]],
    whole: Sequence[Sequence[slice]],
    shuffles: int,
    seed: int,
    alternative: str,
) -> IntArray:
    """Count for each pair the shuffles at least as extreme as the observed difference: int64 (pairs,).

    Args:
        sample: any score.
        pairs: of systems.
        whole: for each pair the ranges of units that are swapped as one, the parts that one of the two lacks.
        shuffles: how many.
        seed: of the swaps.
        alternative: two-sided, greater, less.
    """
    counts = np.zeros(len(pairs), np.int64)
    terms = np.concatenate([side for ratio in sample.ratios for side in ratio]).astype(np.float64)
    totals = [(sample.summed(top), sample.summed(bottom)) for top, bottom in sample.ratios]
    values = np.nan_to_num(sample.values())
    starts = np.searchsorted(sample.strata, np.arange(sample.strata_count + 1))
    step = max(1, min(MOST_BATCH, MOST_NUMBERS // max(1, sample.units)))
    for batch, start in enumerate(range(0, shuffles, step)):
        size = min(step, shuffles - start)
        generator = np.random.default_rng([seed, _STREAM, batch])
        swapped = _swaps(generator, size, sample.units)
        sums = _sums(terms, swapped, starts)
        for index, (a, b) in enumerate(pairs):
            of_pair = sums
            if whole[index]:
                own = swapped.copy()
                for units in whole[index]:
                    own[units] = swapped[units.start]
                of_pair = _sums(terms, own, starts)
            found = _differences(sample, of_pair, totals, a, b)
            counts[index] += int(_extreme(found, float(values[a] - values[b]), alternative, sample.score.sign).sum())
    return counts


def _sums(terms: FloatArray, swapped: FloatArray, starts: IntArray) -> FloatArray:
    """Sum terms (columns, n) over the swapped units of each part: (parts, columns, shuffles)."""
    return np.stack([terms[:, start:end] @ swapped[start:end] for start, end in pairwise(starts.tolist())])


def _swaps(generator: np.random.Generator, shuffles: int, units: int) -> FloatArray:
    """Draw swaps, 0.0 or 1.0: (units, shuffles)."""
    drawn = np.frombuffer(generator.bytes(-(-shuffles * units // 8)), np.uint8)
    return np.unpackbits(drawn)[: shuffles * units].reshape(units, shuffles).astype(np.float64)


def _differences(
    sample: Sample, sums: FloatArray, totals: Sequence[tuple[Counts, Counts]], first: int, second: int
) -> FloatArray:
    """Compute the difference of two systems' scores after each shuffle; undefined ones count as 0.

    Args:
        sample: any score.
        sums: over the swapped units of each part, (parts, columns, shuffles); columns are the numerators of all
            systems, their denominators, and so on for each ratio.
        totals: sums over all units, (N, parts), of the numerators and the denominators of each ratio.
        first: the one system.
        second: the other.
    """
    terms_a, terms_b = [], []
    for ratio, sides in enumerate(totals):
        moved = []
        for side, total in enumerate(sides):
            column = (2 * ratio + side) * sample.systems
            change = (sums[:, column + first] - sums[:, column + second]).T
            moved.append((total[first] - change, total[second] + change))
        terms_a.append((moved[0][0], moved[1][0]))
        terms_b.append((moved[0][1], moved[1][1]))
    return np.asarray(np.nan_to_num(sample.joined(terms_a)) - np.nan_to_num(sample.joined(terms_b)))


def _extreme(differences: FloatArray, observed: float, alternative: str, sign: float) -> np.ndarray:
    """Tell which differences are at least as extreme as the observed one, ties included."""
    slack = max(TOLERANCE * abs(observed), SLACK)
    if alternative == "two-sided":
        return np.asarray(np.abs(differences) >= abs(observed) - slack)
    better = -sign if alternative == "less" else sign
    return np.asarray(better * differences >= better * observed - slack)
