"""Which configurations are regularly scored badly: groups of units, ordered so that one-offs do not lead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from scoring.arrays import FloatArray, IntArray

EXAMPLES = 3
"""Examples shown of each configuration, the worst first."""


@dataclass(frozen=True, slots=True)
class Regularity:
    """When a configuration is regular enough to be told.

    Attributes:
        min_count: units it must have.
        confidence: of the bound by which configurations are ordered.
        limit: configurations told of each grouping.
    """

    min_count: int
    confidence: float
    limit: int

    def upper_bound(self, means: FloatArray, counts: IntArray) -> FloatArray:
        """Upper bound of means of so many units in 0..1: the score interval of Wilson (1927), the same shape.

        It is meant for proportions. The variance of any score in 0..1 is at most that of a proportion of the same
        mean, so that for scores between it is on the safe side.
        """
        z = float(stats.norm.ppf(self.confidence))
        share = z * z / np.maximum(counts, 1)
        spread = np.sqrt(share * means * (1 - means) + share * share / 4)
        return np.asarray((means + share / 2 + spread) / (1 + share), np.float64)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A group of units: its number, how many, their mean score, its upper confidence bound, the worst units."""

    group: int
    count: int
    mean: float
    bound: float
    examples: IntArray


def worst(groups: IntArray, scores: FloatArray, regularity: Regularity) -> list[Configuration]:
    """The worst configurations, lowest upper bound of the mean first.

    The bound and not the mean decides: a group seen twice may be bad by chance, and its bound says so. Groups
    without any error are left out.

    Args:
        groups: group of each unit, from 0; -1 for units in none, (u,).
        scores: in 0..1, (u,), NaN for units that were not scored.
        regularity: which groups are told.
    """
    used = np.flatnonzero((groups >= 0) & ~np.isnan(scores))
    if not len(used):
        return []
    groups, scores = groups[used], scores[used]
    counts = np.bincount(groups)
    sums = np.bincount(groups, weights=scores)
    lost = np.bincount(groups, weights=scores < 1.0)
    means = sums / np.maximum(counts, 1)
    bounds = regularity.upper_bound(np.minimum(means, 1.0), counts)
    candidates = np.flatnonzero((counts >= regularity.min_count) & (lost > 0))
    leading = candidates[np.lexsort((candidates, bounds[candidates]))][: regularity.limit]
    examples = _examples(groups, scores, leading)
    return [
        Configuration(group, int(counts[group]), float(means[group]), float(bounds[group]), used[examples[group]])
        for group in leading.tolist()
    ]


def _examples(groups: IntArray, scores: FloatArray, leading: IntArray) -> dict[int, IntArray]:
    chosen = np.zeros(int(groups.max()) + 1, np.bool_)
    chosen[leading] = True
    units = np.flatnonzero(chosen[groups])
    units = units[np.lexsort((units, scores[units], groups[units]))]
    begins = np.searchsorted(groups[units], leading)
    ends = np.searchsorted(groups[units], leading, side="right")
    return {
        group: units[begin : min(begin + EXAMPLES, end)]
        for group, begin, end in zip(leading.tolist(), begins.tolist(), ends.tolist(), strict=True)
    }
