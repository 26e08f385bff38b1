"""Families of tests: p corrected for their number, the levels of their intervals, and partial conjunctions.

**Correction.** Holm (1979) and Bonferroni hold under any dependence, as does Benjamini & Yekutieli (2001). Hochberg
(1988) and Benjamini & Hochberg (1995) need positive dependence; pairs that share systems are taken to have it.

**Partial conjunction**, the number of treebanks on which one system is better: replicability analysis (Dror et al.
2017). p[u] tests "at most u - 1 of the k null hypotheses are false" (Benjamini & Heller 2008). The largest u at which
all p[1..u] are at most alpha is, with confidence 1 - alpha, a lower bound of the number of treebanks with a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treescore.core.arrays import BoolArray, FloatArray, special
from treescore.core.params import Json
from treescore.significance.settings import SMALLEST


def adjusted(p: FloatArray, method: str) -> FloatArray:
    """Adjust p-values: (m,) of p (m,), at most 1, to be compared with alpha itself.

    Raises:
        KeyError: an unknown method.
    """
    p = np.asarray(p, np.float64)
    size = len(p)
    if method == "none" or size == 0:
        return p.copy()
    if method == "bonferroni":
        return np.minimum(1.0, p * size)
    order, ranks = np.argsort(p, kind="stable"), np.arange(1, size + 1, dtype=np.float64)
    down, factors = size + 1 - ranks, size / ranks
    steps = {"holm": down, "hochberg": down, "bh": factors, "by": factors * harmonic_number(size)}[method] * p[order]
    steps = np.maximum.accumulate(steps) if method == "holm" else np.minimum.accumulate(steps[::-1])[::-1]
    result = np.empty(size)
    result[order] = np.minimum(1.0, steps)
    return result


def divisors(p: FloatArray, significant: BoolArray, method: str) -> FloatArray:
    """Return the divisor c of each pair: it was judged at alpha / c, and its interval belongs to that level; (m,).

    Holm: m - k + 1 for the k-th smallest p, k being 1 + the number of smaller p, max(1, m - R) for those that are not
    significant, where R are. Hochberg: m - R + 1 and max(1, m - R). Bonferroni: m. Benjamini & Hochberg: m / max(1, R);
    Benjamini & Yekutieli: that times 1 + 1/2 + ... + 1/m (Benjamini & Yekutieli 2005).

    Args:
        p: (m,).
        significant: after the correction, (m,).
        method: of correction.
    """
    size, rejected = len(p), int(significant.sum())
    if method == "none":
        return np.ones(size)
    if method == "bonferroni":
        return np.full(size, float(size))
    if method in ("bh", "by"):
        factor = harmonic_number(size) if method == "by" else 1.0
        return np.full(size, factor * size / max(1, rejected))
    smaller = np.searchsorted(np.sort(p), p, side="left")
    judged = size - smaller if method == "holm" else np.full(size, size - rejected + 1)
    return np.where(significant, judged, max(1, size - rejected)).astype(np.float64)


def harmonic_number(size: int) -> float:
    """Return 1 + 1/2 + ... + 1/size, the factor of Benjamini & Yekutieli for any dependence."""
    return float((1.0 / np.arange(1, size + 1)).sum())


@dataclass(frozen=True, slots=True)
class PartialConjunction:
    """On how many of k datasets there is a difference.

    Attributes:
        bonferroni: p (k,), monotone; holds under any dependence of the datasets.
        fisher: p (k,), monotone; needs independent datasets.
        k_bonferroni, k_fisher: on at least how many datasets there is a difference.
        holm: indices of the datasets identified with a difference, in order of p.
    """

    bonferroni: FloatArray
    fisher: FloatArray
    k_bonferroni: int
    k_fisher: int
    holm: tuple[int, ...]

    def document(self) -> dict[str, Json]:
        """Return the members of a comparison document."""
        return {
            "bonferroni": self.bonferroni.tolist(),
            "fisher": self.fisher.tolist(),
            "k_bonferroni": self.k_bonferroni,
            "k_fisher": self.k_fisher,
            "holm": list(self.holm),
        }


def partial_conjunction(p: Sequence[float], alpha: float) -> PartialConjunction:
    """Count and identify the datasets with a difference from one p for each, all for the same two systems."""
    return partial_conjunctions(np.asarray(p, np.float64)[np.newaxis], alpha)[0]


def partial_conjunctions(p: FloatArray, alpha: float) -> list[PartialConjunction]:
    """Do the same for many pairs of systems at once, p (pairs, k).

    Over the ordered p, Bonferroni's steps (k - u + 1) p[u] are those of Holm (1979) too: so Holm identifies the first
    k_bonferroni datasets.
    """
    order = np.argsort(p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    remaining = np.arange(p.shape[1], 0, -1, dtype=np.float64)
    bonferroni = np.minimum(1.0, np.maximum.accumulate(remaining * ordered, axis=1))
    logs = np.log(np.maximum(ordered, SMALLEST))
    tails = -np.cumsum(logs[:, ::-1], axis=1)[:, ::-1]
    # Fisher's -2 sum(log p) is chi-square with 2 degrees of freedom a dataset: its tail is a gamma function
    fisher = np.maximum.accumulate(special.gammaincc(remaining, tails), axis=1)
    k_bonferroni = (bonferroni <= alpha).sum(axis=1).tolist()
    k_fisher = (fisher <= alpha).sum(axis=1).tolist()
    return [
        PartialConjunction(
            bonferroni=bonferroni[row],
            fisher=fisher[row],
            k_bonferroni=k_bonferroni[row],
            k_fisher=k_fisher[row],
            holm=tuple(order[row, : k_bonferroni[row]].tolist()),
        )
        for row in range(len(p))
    ]
