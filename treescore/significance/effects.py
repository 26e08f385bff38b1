"""Effect sizes of differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.core.scores import Score
from treescore.significance.constants import ROUNDING

if TYPE_CHECKING:
    from treescore.core.params import Json


def effect_document(
    score: Score, value_a: float, value_b: float, units_a: FloatArray, units_b: FloatArray
) -> dict[str, Json]:
    """Compute relative error reduction, units won, tied and lost, and the standardised mean difference of units.

    Args:
        score: whose values these are.
        value_a: the first system's score.
        value_b: the second's.
        units_a: the first's score of each unit by itself, (n,), NaN where undefined; such units are ties.
        units_b: the second's.
    """
    differences = np.nan_to_num(units_a - units_b)
    better = score.sign * differences
    # equal unit scores may differ in the last bit where terms are real
    won = int((better > ROUNDING).sum())
    lost = int((better < -ROUNDING).sum())
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return {
        "relative_error_reduction": error_reduction(score, value_a, value_b),
        "units_won": won,
        "units_tied": len(differences) - won - lost,
        "units_lost": lost,
        "d_z": float(differences.mean()) / spread if spread > 0 else None,
    }


def error_reduction(score: Score, value_a: float, value_b: float) -> float | None:
    """Return the share of b's error that a avoids; None where the score has no best value or b makes no error."""
    if score.best is None:
        return None
    error_a, error_b = abs(score.best - value_a), abs(score.best - value_b)
    reduction = (error_b - error_a) / error_b if error_b > 0 else math.nan
    return reduction if math.isfinite(reduction) else None
