"""p-values adjusted for the number of tests of one family.

Holm (1979) and Bonferroni hold under any dependence, as does Benjamini & Yekutieli (2001). Hochberg (1988) and
Benjamini & Hochberg (1995) need positive dependence; pairs that share systems are taken to have it.
"""

from __future__ import annotations

import numpy as np

from treescore.core.arrays import FloatArray

METHODS = ("holm", "hochberg", "bh", "by", "bonferroni", "none")


def adjusted(p: FloatArray, method: str) -> FloatArray:
    """Adjust p-values: (m,) of p (m,), at most 1, to be compared with alpha itself.

    Raises:
        ValueError: an unknown method.
    """
    p = np.asarray(p, np.float64)
    size = len(p)
    if method == "none" or size == 0:
        return p.copy()
    if method == "bonferroni":
        return np.minimum(1.0, p * size)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, size + 1, dtype=np.float64)
    if method == "holm":
        steps = np.maximum.accumulate(p[order] * (size + 1 - ranks))
    elif method == "hochberg":
        steps = _from_above(p[order] * (size + 1 - ranks))
    elif method == "bh":
        steps = _from_above(p[order] * size / ranks)
    elif method == "by":
        steps = _from_above(p[order] * size * harmonic_number(size) / ranks)
    else:
        raise ValueError(method)
    result = np.empty(size)
    result[order] = np.minimum(1.0, steps)
    return result


def harmonic_number(size: int) -> float:
    """Return 1 + 1/2 + ... + 1/size, the factor of Benjamini & Yekutieli for any dependence."""
    return float((1.0 / np.arange(1, size + 1)).sum())


def first_threshold(size: int, alpha: float, method: str) -> float:
    """Return the p below which the smallest of `size` p-values is significant though all others are 1."""
    if method == "none" or size == 0:
        return alpha
    if method == "by":
        return alpha / (size * harmonic_number(size))
    return alpha / size


def _from_above(values: FloatArray) -> FloatArray:
    result: FloatArray = np.minimum.accumulate(values[::-1])[::-1]
    return result
