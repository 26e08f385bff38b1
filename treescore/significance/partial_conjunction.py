"""Number of treebanks on which one system is better: replicability analysis (Dror et al. 2017).

p[u] tests "at most u - 1 of the k null hypotheses are false" (Benjamini & Heller 2008). The largest u at which all
p[1..u] are at most alpha is, with confidence 1 - alpha, a lower bound of the number of treebanks with a difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc

from treescore.core.arrays import FloatArray
from treescore.significance.constants import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treescore.core.params import Json


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
    fisher = np.maximum.accumulate(gammaincc(remaining, tails), axis=1)
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
