"""Right and wrong answers by sentence or by token, for McNemar's test."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import BoolArray
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.significance.constants import ROUNDING
from treescore.significance.mcnemar import mcnemar, smallest_of
from treescore.significance.permutation import Test
from treescore.significance.settings import Settings
from treescore.significance.units import Sample

DEPENDENT_TOKENS = (
    "Tokens of one sentence are not independent. McNemar's test on tokens calls 13 to 43 % of true nulls significant "
    "at 5 % (measured); it is offered for comparison with MaltEval. Decide by sentences or documents."
)
_NAMES = {
    "exact": "exact binomial",
    "mid-p": "mid-p",
    "chi2": "chi-square without correction",
    "chi2-corrected": "chi-square with continuity correction",
}


def mcnemar_tests(
    sample: Sample, pairs: Sequence[tuple[int, int]], settings: Settings, bits: Sequence[TokenBits | None] | None
) -> tuple[list[Test], list[dict[str, Json]]]:
    """Run McNemar's test of each pair; return the tests, and all their forms as documents.

    What is tested is (b - c) / n, the difference in units that are right as a whole; positive: the first has more.
    """
    right = right_answers(sample, bits)
    tests, documents = [], []
    for first, second in pairs:
        a_only = int((right[first] & ~right[second]).sum())
        b_only = int((right[second] & ~right[first]).sum())
        result = mcnemar(a_only, b_only, settings.alternative)
        tests.append(
            Test(
                result.p(settings.mcnemar),
                "exact" if settings.mcnemar == "exact" else None,
                f"McNemar, {_NAMES[settings.mcnemar]}",
                differing=a_only + b_only,
                smallest=smallest_of(settings.mcnemar, a_only + b_only, settings.alternative),
                difference=(a_only - b_only) / max(1, right.shape[1]),
            )
        )
        documents.append({"mcnemar": result.document()})
    return tests, documents


def right_answers(sample: Sample, bits: Sequence[TokenBits | None] | None) -> BoolArray:
    """Find what each system has right: tokens where `bits` has them, (N, tokens), else units, (N, n)."""
    return right_units(sample) if bits is None else np.stack([column.bits for column in bits if column is not None])


def right_units(sample: Sample) -> BoolArray:
    """Find units that a system has wholly right, (N, n): the unit by itself has the best score.

    A unit in which the score is undefined is right for no system.
    """
    best = sample.score.best
    values = sample.unit_values()
    if best is None or not math.isfinite(best):
        return np.zeros(values.shape, np.bool_)
    return np.asarray(np.abs(values - best) <= ROUNDING, np.bool_)
