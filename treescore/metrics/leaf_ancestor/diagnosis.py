"""Find configurations that are regularly scored badly, ordered so that single cases do not lead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.core.jit import compiled

EXAMPLES = 3
"""Number of examples of each configuration, the worst first."""


@dataclass(frozen=True, slots=True)
class Regularity:
    """When a configuration is regular enough to be reported.

    Attributes:
        min_count: units it must have.
        confidence: of the bound by which configurations are ordered.
        limit: the most configurations of each grouping.
    """

    min_count: int
    confidence: float
    limit: int

    def upper_bound(self, means: FloatArray, counts: IntArray) -> FloatArray:
        """Return upper bounds of means of scores in 0..1, the same shape: the score interval of Wilson (1927).

        The interval is made for proportions. The variance of any score in 0..1 is at most that of a proportion with
        the same mean, so that the bound also holds for scores in between.
        """
        from scipy.special import ndtri  # noqa: PLC0415 - a large library for one quantile of a table rarely requested

        z = float(ndtri(self.confidence))
        share = z * z / np.maximum(counts, 1)
        spread = np.sqrt(share * means * (1 - means) + share * share / 4)
        return np.asarray((means + share / 2 + spread) / (1 + share), np.float64)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A group of units: its number, their count, mean score and upper confidence bound, and the worst units."""

    group: int
    count: int
    mean: float
    bound: float
    examples: IntArray


def worst(groups: IntArray, scores: FloatArray, regularity: Regularity) -> list[Configuration]:
    """Find the worst configurations, lowest upper bound of the mean first.

    The bound decides, not the mean: it is high for small groups, whose means vary most. Groups without any error are
    left out.

    Args:
        groups: group of each unit, from 0; -1 for units in none, (u,).
        scores: in 0..1, (u,), NaN for units that were not scored.
        regularity: which groups are reported.
    """
    counts, sums, imperfect = tally(groups, scores, int(groups.max(initial=-1)) + 1)
    means = np.minimum(sums / np.maximum(counts, 1), 1.0)
    bounds = regularity.upper_bound(means, counts)
    candidates = np.flatnonzero((counts >= regularity.min_count) & (imperfect > 0))
    group_numbers = candidates[np.lexsort((candidates, bounds[candidates]))][: regularity.limit]
    rows = np.full(len(counts), -1, np.int64)
    rows[group_numbers] = np.arange(len(group_numbers))
    examples = lowest_units(groups, scores, rows, np.full((len(group_numbers), EXAMPLES), -1, np.int64))
    return [
        Configuration(group, int(counts[group]), float(means[group]), float(bounds[group]), units[units >= 0])
        for group, units in zip(group_numbers.tolist(), examples, strict=True)
    ]


@compiled
def tally(groups: IntArray, scores: FloatArray, size: int) -> tuple[IntArray, FloatArray, IntArray]:
    """Count the scored units of each group, sum their scores, and count those below 1."""
    counts, sums, imperfect = np.zeros(size, np.int64), np.zeros(size), np.zeros(size, np.int64)
    for unit in range(len(groups)):
        group, score = groups[unit], scores[unit]
        if group >= 0 and not np.isnan(score):
            counts[group] += 1
            sums[group] += score
            imperfect[group] += score < 1.0
    return counts, sums, imperfect


@compiled
def lowest_units(groups: IntArray, scores: FloatArray, rows: IntArray, lowest: IntArray) -> IntArray:
    """Write the units with the lowest scores of each group into its row of `lowest`; of equal scores the first."""
    for unit in range(len(groups)):
        group, score = groups[unit], scores[unit]
        if group < 0 or rows[group] < 0 or np.isnan(score):
            continue
        row = lowest[rows[group]]
        slot = len(row)
        while slot > 0 and (row[slot - 1] < 0 or scores[row[slot - 1]] > score):
            slot -= 1
            if slot + 1 < len(row):
                row[slot + 1] = row[slot]
        if slot < len(row):
            row[slot] = unit
    return lowest
