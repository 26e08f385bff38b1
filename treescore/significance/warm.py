"""Warm-up of the compiled kernels, by a call with tiny arrays."""

from __future__ import annotations

import numpy as np

from treescore.core.scores import ratio_score
from treescore.significance import kernels, linear_kernels
from treescore.significance.bootstrap import resampled
from treescore.significance.contributions import contributions
from treescore.significance.detectable import moments_of_pairs
from treescore.significance.few_units import difference_intervals
from treescore.significance.inversion import SAMPLED_BELOW, sum_tail
from treescore.significance.law import plane_of
from treescore.significance.macro import inverted_p, macro_pair, parts_of, sampled_p
from treescore.significance.montecarlo import extreme_counts
from treescore.significance.plane import log_mass
from treescore.significance.ratio import grid_p, pair_of
from treescore.significance.units import sample_of


def warm_kernels() -> None:
    """Call every compiled function of this package with the types of real calls."""
    score = ratio_score("ratio", "a ratio", "top", "bottom")
    first, second = np.array([[1, 2], [1, 3]]), np.array([[1, 3], [2, 3]])
    whole, halves, mixed = np.zeros(2, np.int64), np.array([0.5, 0.25]), np.array([0.5, 0.0])
    by_part = np.array([0, 1])
    for added in (halves, mixed, whole):
        rows = [first + added, second + added / 2 if added.any() else second]
        sample = sample_of(score, ("top", "bottom"), rows, None, None)
        extreme_counts(sample, [(0, 1)], 2, 1, "two-sided")
        moments_of_pairs(sample, [(0, 1)])
        parts = sample_of(score, ("top", "bottom"), rows, None, by_part)
        extreme_counts(parts, [(0, 1)], 2, 1, "two-sided")
        moments_of_pairs(parts, [(0, 1)])
        contributions(parts, 0, 1)
        macro = macro_pair(parts_of(parts), 0, 1)
        inverted_p(macro, "two-sided")
        sampled_p(macro, "two-sided", 1, 1)
        resampled(parts, 1, 1)
    pair = pair_of(sample, 0, 1)
    grid_p(pair, "two-sided", -1.0)
    log_mass(plane_of(pair, abs(pair.observed), strict=False))
    one = np.ones(1, np.int64)
    kernels.draw_weights(one.astype(np.uint64), np.zeros((1, 1), np.float32))
    kernels.draw_weights(one.astype(np.uint64), np.zeros((1, 1), np.float64))
    linear_kernels.subset_tail(one, 1)
    linear_kernels.tilted_tail(one, one, 0, 0.5, 2, 1)
    difference_intervals(parts, [(0, 1)], 0.95)
    sum_tail(np.ones(SAMPLED_BELOW), 2.0)
    sum_tail(np.arange(2.0, SAMPLED_BELOW), 2.0)
