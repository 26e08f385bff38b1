"""Intervals of scores, by closed forms at any number of units; those of differences are the law's (`law`).

- A share of whole units, each right or wrong (exact_match, no_crossing), by sentence: Wilson's (1927).
- Another score from 0 to 1: logit S ± t_df se / (S (1 - S)), with se and df of `contributions`.
- Any other: S ± t_df se, within the score's range.
- S = 0, S = 1 or se = 0: Wilson's, with as many units of equal weight as would vary as much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from treescore.core import special
from treescore.significance.contributions import Contributions, Spread
from treescore.significance.law import STUDENT_T, Interval
from treescore.significance.units import Sample

WILSON = "Wilson"
LOGIT_T = "logit t"


def system_intervals(
    sample: Sample, systems: Sequence[int], level: float, units: Contributions | None = None
) -> list[Interval | None]:
    """Return the interval of each system's score, in the order of the systems; None where there is none.

    Args:
        sample: the terms of the score.
        systems: rows of the sample.
        level: of the intervals.
        units: of the same sample, where they are known.
    """
    units = units or Contributions(sample)
    spread = units.of_systems(systems)
    return [
        _interval(sample, system, float(units.values[system]), spread, row, level) for row, system in enumerate(systems)
    ]


def wilson(k: float, n: float, level: float) -> Interval:
    """Compute (k + z²/2)/(n + z²) ± z √(k(n-k)/n + z²/4)/(n + z²), exactly 0 at k = 0 and 1 at k = n (Wilson 1927)."""
    z = float(special.ndtri(0.5 * (1.0 + level)))
    middle = (k + z * z / 2.0) / (n + z * z)
    half = z * math.sqrt(max(0.0, k * (n - k) / n) + z * z / 4.0) / (n + z * z)
    return Interval(0.0 if k <= 0 else middle - half, 1.0 if k >= n else middle + half, WILSON)


def _interval(sample: Sample, system: int, value: float, spread: Spread, row: int, level: float) -> Interval | None:
    if not math.isfinite(value):
        return None
    share = _whole_units(sample, system)
    if share:
        return wilson(round(value * share), share, level)
    se = float(spread.se[row])
    if math.isnan(se):
        return None
    t = 0.0 if se == 0.0 else float(special.stdtrit(spread.df[row], 0.5 * (1.0 + level)))
    score = sample.score
    if not score.is_share:
        high = math.inf if score.high is None else score.high
        return Interval(max(value - t * se, score.low), min(value + t * se, high), STUDENT_T) if se > 0.0 else None
    if se == 0.0 or not 0.0 < value < 1.0:
        if spread.units[row] < 2:
            return None
        weight = float(spread.weight[row])
        return wilson(min(1.0, max(0.0, value)) * weight, weight, level)
    middle = math.log(value) - math.log1p(-value)
    half = t * se / (value * (1.0 - value))
    return Interval(_share(middle - half), _share(middle + half), LOGIT_T)


def _whole_units(sample: Sample, system: int) -> int:
    """Return the units of a score that is the share of whole units, right or wrong; 0 for another score."""
    if not sample.plain:
        return 0
    m, n = sample.tops[0][system], sample.bottoms[0][system]
    right_or_wrong = ((n == 0) | (n == 1)) & ((m == 0) | (m == n))
    return int(n.sum()) if right_or_wrong.all() else 0


def _share(logit: float) -> float:
    """Return 1/(1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))
