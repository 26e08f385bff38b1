"""The test for parts like these: signs of whole parts' differences.

With d_p the difference of two systems in part p, p is the share of all signs s under which the sum of s_p d_p / P is
at least as extreme as the observed one. Swaps within the parts ask about these very parts; signs of whole parts ask
about others of their kind, among which the two systems' difference varies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.significance.constants import LN2, ROUNDING
from treescore.significance.inversion import Tail, sum_tail, tail_of
from treescore.significance.settings import FEWEST_PARTS
from treescore.significance.tilted import DRAWS

SIGNS_WORK = 2e8
"""Draws times parts of all pairs together (5 nanoseconds each, 1 s) up to which 21 to 99 parts are sampled; beyond it
all pairs are inverted."""


class PartSigns(NamedTuple):
    """The tail of one pair, and in how many parts the two differ."""

    tail: Tail
    differing: int


def part_signs(
    values: FloatArray, pairs: Sequence[tuple[int, int]], alternative: str, *, higher_is_better: bool, seed: int = 1
) -> list[PartSigns | None]:
    """Test each pair of systems by the signs of its parts; None below six parts, or where a value is undefined.

    Args:
        values: the score of each system in each part, (N, P), missing and undefined ones as the worst value.
        pairs: rows of `values`.
        alternative: two-sided; greater or less, of the first system's quality.
        higher_is_better: of the score.
        seed: of the draws where 21 to 99 parts differ.
    """
    parts = values.shape[1]
    if parts < FEWEST_PARTS:
        return [None] * len(pairs)
    draws = DRAWS if len(pairs) * parts * DRAWS <= SIGNS_WORK else 0
    better = 1.0 if higher_is_better else -1.0
    results: list[PartSigns | None] = []
    for first, second in pairs:
        d = better * (values[first] - values[second]) / parts
        if not np.isfinite(d).all():
            results.append(None)
            continue
        differing = int(np.count_nonzero(d))
        results.append(PartSigns(_one(d, alternative, seed, draws), differing))
    return results


def _one(d: FloatArray, alternative: str, seed: int, draws: int) -> Tail:
    observed = float(d.sum())
    if alternative != "two-sided":
        return sum_tail(d, -observed if alternative == "less" else observed, seed=seed, draws=draws)
    if abs(observed) <= ROUNDING * float(np.abs(d).sum()):
        return Tail(1.0, 0.0, None)
    tail = sum_tail(d, abs(observed), seed=seed, draws=draws)
    return tail_of(LN2 + tail.log_p, tail.error)
