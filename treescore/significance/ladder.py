"""The Ladder: a shown score moves only when it beats the best one before it by more than its noise.

Blum & Hardt (2015), "The Ladder: a reliable leaderboard for machine learning competitions", section 4, without a
parameter: with losses l_i of n units, the shown loss R moves to R(new) only if

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
from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import Counts, IntArray
from treescore.core.scores import Score
from treescore.significance.bootstrap import jackknife_scores
from treescore.significance.units import Sample, sample_of


def beats(score: Score, names: Sequence[str], new: Counts, shown: Counts, parts: IntArray | None = None) -> bool:
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
