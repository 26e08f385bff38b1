"""Tilted sampling of a swap test: draws from the law whose mean is the observed sum, weighted back.

Under the tilt t the sum L = sum of s_i e_i has the mean K'(t), where the tail of T is no longer rare. A draw stands
for g = exp(K(t) - t L) draws of uniform signs, and P(T >= x) is estimated by
(g_observed + sum of g [T >= x]) / (draws + 1): with the observed signs counted as a draw, p is valid at any number of
draws (Harrison 2012).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import Bits, FloatArray, IntArray
from treescore.significance.constants import TOLERANCE
from treescore.significance.tail_kernels import Kinds, cumulants, tilted_draws

DRAWS = 20_000
"""Draws of a test: a relative standard error of about 1 % at any p, since the tilted law has its mean at x."""
_BATCH = 4_000
"""Draws made at once: 32 KB for each of five arrays."""
_TILTED_STREAM = 0x7117
"""Keeps tilted draws apart from those of other procedures under one seed."""


class Sampled(NamedTuple):
    """P(T >= x) by its natural logarithm, and the relative standard error."""

    log_p: float
    error: float


def linear_kinds(e: FloatArray, copies: IntArray) -> Kinds:
    """Return kinds of a plain sum, whose T is L itself: one part with M = 0 and N = 1, u = e / 2, v = 0."""
    return Kinds(e, 0.5 * e, np.zeros(len(e)), copies, np.array([0, len(e)]), np.zeros(1), np.ones(1))


def sampled_tail(
    kinds: Kinds, x: float, observed_sum: float, t: float, *, seed: int, draws: int = DRAWS, worst: float = 0.0
) -> Sampled:
    """Estimate P(T >= x) from draws tilted by t.

    Args:
        kinds: of the pair.
        x: the observed T, turned like the side of the tail.
        observed_sum: the observed L, turned likewise.
        t: not negative; 0 draws uniform signs.
        seed: the same seed gives the same draws.
        draws: how many.
        worst: the ratio of a part that is undefined after a swap.
    """
    limit = x - TOLERANCE * abs(x)
    value, _, _ = cumulants(kinds.e, kinds.copies, t)
    # weights are kept relative to that of the observed signs, so that they neither overflow nor vanish
    total, squares = 1.0, 1.0
    sums, statistics = np.empty(_BATCH), np.empty(_BATCH)
    for start in range(0, draws, _BATCH):
        size = min(_BATCH, draws - start)
        seeds = np.random.SeedSequence([seed, _TILTED_STREAM, start])
        states: Bits = seeds.generate_state(size, np.uint64).astype(np.uint64)
        tilted_draws(states, kinds, t, worst, sums[:size], statistics[:size])
        weights = np.exp(-t * (sums[:size][statistics[:size] >= limit] - observed_sum))
        total += float(weights.sum())
        squares += float((weights * weights).sum())
    share = total / (draws + 1)
    variance = max(0.0, squares / (draws + 1) - share * share) / (draws + 1)
    # of the 2^units signs the observed ones reach x
    least = -float(kinds.copies.sum()) * math.log(2.0)
    return Sampled(max(value - t * observed_sum + math.log(share), least), math.sqrt(variance) / share)
