"""Agreement of two metrics over the same items: correlations, and where the worst items of one stand."""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import FloatArray, IntArray
from treescore.core.params import Json

DECILES = 10


def agreement(a: FloatArray, b: FloatArray, name_a: str, name_b: str) -> dict[str, Json]:
    """Compute Pearson's r, Spearman's rho, Kendall's tau-b, and the decile tables of two scores over the same items.

    After Sampson & Babarczy (2003), who compare leaf-ancestor and bracket F: of the items in the lowest tenth
    under one metric, how many stand in the first, second, ... tenth under the other.

    Args:
        a: one score an item, (n,), NaN where undefined.
        b: the other metric's, (n,), in the same order.
        name_a: what to call `a`.
        name_b: what to call `b`.

    Returns:
        `items` used, `undefined` (left out: either score is NaN), each coefficient with its two-sided `p`
        (null where a score is constant or there are fewer than 3 items), and `deciles`: two tables.
    """
    defined = ~(np.isnan(a) | np.isnan(b))
    first, second = a[defined], b[defined]
    return {
        "a": name_a,
        "b": name_b,
        "items": len(first),
        "undefined": int((~defined).sum()),
        **_coefficients(first, second),
        "deciles": [_deciles(first, second, name_a, name_b), _deciles(second, first, name_b, name_a)],
    }


def _coefficients(a: FloatArray, b: FloatArray) -> dict[str, Json]:
    names = ("pearson", "spearman", "kendall")
    if len(a) < 3 or _constant(a) or _constant(b):
        return {name: {"value": None, "p": None, "reason": _reason(a, b)} for name in names}
    from scipy import stats  # noqa: PLC0415 - half of all modules to load, and rarely needed

    results = (stats.pearsonr(a, b), stats.spearmanr(a, b), stats.kendalltau(a, b))
    return {
        name: {"value": float(result.statistic), "p": float(result.pvalue)}
        for name, result in zip(names, results, strict=True)
    }


def _constant(values: FloatArray) -> bool:
    # Scores that differ by rounding alone have no order either: a correlation of them would be noise.
    return float(np.ptp(values)) <= 1e-13 * max(1.0, float(np.abs(values).max()))


def _reason(a: FloatArray, b: FloatArray) -> str:
    if len(a) < 3:
        return "fewer than 3 items have both scores"
    return "both scores are constant" if _constant(a) and _constant(b) else "one of the scores is constant"


def _deciles(of: FloatArray, under: FloatArray, name_of: str, name_under: str) -> dict[str, Json]:
    """Count where the items of the lowest decile of `of` stand in the deciles of `under`.

    Deciles are by rank; items with one score share the lowest of their ranks, so that ties never depend on the
    order and the lowest decile is never empty.
    """
    lowest = _decile_numbers(of) == 0
    counts = np.bincount(_decile_numbers(under)[lowest], minlength=DECILES)
    return {"lowest_of": name_of, "under": name_under, "items": int(lowest.sum()), "counts": counts.tolist()}


def _decile_numbers(values: FloatArray) -> IntArray:
    if not len(values):
        return np.zeros(0, np.int64)
    ranks = np.searchsorted(np.sort(values), values) + 1  # of ties, the lowest
    numbers = np.ceil(ranks * DECILES / len(values)).astype(np.int64) - 1
    return np.asarray(np.minimum(numbers, DECILES - 1), np.int64)
