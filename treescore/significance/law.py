"""Choice between counting and transform for the exact law of a ratio's difference, with costs."""

from __future__ import annotations

import math

import numpy as np

from treescore.significance.constants import LN2, TOLERANCE
from treescore.significance.plane import LEAST_COST, Plane, log_mass, plane_cost
from treescore.significance.ratio import RatioPair, grid_cost, grid_p, normal_log_p, reduced

ALWAYS_ADDITIONS = 2e6
"""Additions up to which the dynamic programme is always run."""
GRID_ADDITIONS = 3e9
"""Additions of the longest dynamic programme that is run where the transform is not precise enough."""


def law_cost(pair: RatioPair, most: float = math.inf) -> float:
    """Estimate the nanoseconds that `law_p` needs, roughly where more than `most`; infinite where it gives no p."""
    if pair.zero_possible or not len(pair.us) or _beyond_integers(pair):
        return math.inf
    grid = grid_cost(pair, normal_log_p(pair))
    if grid <= ALWAYS_ADDITIONS or most < LEAST_COST:
        return grid
    return min(grid, plane_cost(plane_of(pair, abs(pair.observed), strict=False)))


def law_p(pair: RatioPair, alternative: str) -> tuple[float, float] | None:
    """Return the exact p and its logarithm, or None if that takes too long."""
    if _beyond_integers(pair):
        return None
    log_p = normal_log_p(pair)
    cost = grid_cost(pair, log_p)
    if cost > ALWAYS_ADDITIONS:
        result = _by_plane(pair, alternative)
        if result is not None:
            return result
    return grid_p(pair, alternative, log_p) if cost <= GRID_ADDITIONS else None


def _beyond_integers(pair: RatioPair) -> bool:
    """Tell whether products of the differences exceed 64 bits."""
    return float(np.abs(pair.us).max(initial=0)) * (float(np.abs(pair.vs).max(initial=0)) + 1) > 2.0**61


def _by_plane(pair: RatioPair, alternative: str) -> tuple[float, float] | None:
    observed = -pair.observed if alternative == "less" else pair.observed
    if alternative == "two-sided" and observed == 0:
        return 1.0, 0.0
    if alternative == "two-sided" or observed > 0:
        log_p = log_mass(plane_of(pair, abs(observed), strict=False))
        if log_p is None:
            return None
        log_p = min(0.0, log_p + (LN2 if alternative == "two-sided" else 0.0))
        return math.exp(log_p), log_p
    # the law is symmetric: P(T >= o) = 1 - P(T > -o) for o <= 0
    log_rest = log_mass(plane_of(pair, -observed, strict=True))
    return None if log_rest is None else (-math.expm1(log_rest), math.log(-math.expm1(log_rest)))


def plane_of(pair: RatioPair, limit: float, *, strict: bool) -> Plane:
    """Express the swaps with a difference of at least `limit` (more, if strict) as a bound in each row.

    Args:
        pair: with differences turned so that better is positive.
        limit: not negative.
        strict: ties do not count.
    """
    us, vs, _ = reduced(pair)
    sign = 1.0 if pair.direction > 0 else -1.0
    if sign < 0:
        us = -us
    wide = int(vs.max()) + 1
    kinds, copies = np.unique(us * wide + vs, return_counts=True)
    by_u = max(1, int(np.gcd.reduce(np.abs(pair.us))))
    by_v = max(1, int(np.gcd.reduce(np.abs(pair.vs))))
    # with U = u0 - 2 by_u x and V = v0 - 2 by_v y, what counts is U t - s V >= limit (t t - V V) / 2
    limit += TOLERANCE * limit if strict else -TOLERANCE * limit
    size, total = float(pair.size), sign * pair.total
    u0, v0 = float(by_u * int(us.sum())), float(by_v * int(vs.sum()))
    half = 0.25 if strict and limit == 0 else 0.0  # whole numbers: more than 0 is at least 1
    at_zero = half + 0.5 * limit * (size * size - v0 * v0) + total * v0
    scale = 1.0 / (2.0 * by_u * size)
    return Plane(
        us=kinds // wide,
        vs=kinds % wide,
        copies=copies.astype(np.int64),
        offset=scale * (u0 * size - at_zero),
        slope=-scale * (2.0 * by_v) * (limit * v0 - total),
        bend=scale * 2.0 * limit * by_v * by_v,
    )
