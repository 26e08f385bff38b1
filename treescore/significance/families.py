"""Families of tests: p corrected for their number, the levels of their intervals, and partial conjunctions.

**Correction.** Holm (1979) and Bonferroni hold under any dependence, as does Benjamini & Yekutieli (2001). Hochberg
(1988) and Benjamini & Hochberg (1995) need positive dependence; pairs that share systems are taken to have it.

**Partial conjunction**, the number of treebanks on which one system is better: replicability analysis (Dror et al.
2017). p[u] tests "at most u - 1 of the k null hypotheses are false" (Benjamini & Heller 2008). The largest u at which
all p[1..u] are at most alpha is, with confidence 1 - alpha, a lower bound of the number of treebanks with a difference.

**Across** several scores the comparisons of the same systems are one family, made from their documents. They are
corrected once. Let p be the two-sided p of a law that is symmetric about 0, as those of signs and of Student's
t are: p = P(|T| >= |t|) = 2 P(T >= |t|), and the one-sided p towards the better system is p/2. Away from it the
one-sided p is P(T >= -|t|) = 1 - p/2 + P(T = |t|). The last term is not negligible where few units differ, and no
document holds it: 1 is taken instead, which is never too small. Without a difference both sides are 1. From these the
partial conjunction of each pair follows: on at least how many scores is the one system better. Bonferroni's count holds
under any dependence; scores of one text are dependent. Fisher's needs independent tests, so it is of parts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

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


def partial_conjunction(p: Sequence[float], alpha: float) -> dict[str, Json]:
    """Count and identify the datasets with a difference from one p for each, all for the same two systems.

    Returns:
        `bonferroni` and `fisher`: p, monotone, of which Bonferroni's holds under any dependence and Fisher's needs
        independent datasets; `k_bonferroni` and `k_fisher`: on at least how many datasets there is a difference;
        `holm`: indices of the datasets identified with a difference, in order of p.
    """
    return partial_conjunctions(np.asarray(p, np.float64)[np.newaxis], alpha)[0]


def partial_conjunctions(p: FloatArray, alpha: float) -> list[dict[str, Json]]:
    """Do the same for many pairs of systems at once, p (pairs, k).

    Over the ordered p, Bonferroni's steps (k - u + 1) p[u] are those of Holm (1979) too: so Holm identifies the first
    k_bonferroni datasets.
    """
    order = np.argsort(p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    remaining = np.arange(p.shape[1], 0, -1, dtype=np.float64)
    bonferroni = np.minimum(1.0, np.maximum.accumulate(remaining * ordered, axis=1))
    tails = -np.cumsum(np.log(np.maximum(ordered, SMALLEST))[:, ::-1], axis=1)[:, ::-1]
    # Fisher's -2 sum(log p) is chi-square with 2 degrees of freedom a dataset: its tail is a gamma function
    fisher = np.maximum.accumulate(special.gammaincc(remaining, tails), axis=1)
    k_bonferroni = (bonferroni <= alpha).sum(axis=1).tolist()
    k_fisher = (fisher <= alpha).sum(axis=1).tolist()
    return [
        {
            "bonferroni": bonferroni[row].tolist(),
            "fisher": fisher[row].tolist(),
            "k_bonferroni": k_bonferroni[row],
            "k_fisher": k_fisher[row],
            "holm": order[row, : k_bonferroni[row]].tolist(),
        }
        for row in range(len(p))
    ]


ANY_DEPENDENCE = "The scores are of one text and depend on each other. {correction}"
_CORRECTIONS_OF_FAMILIES = {
    **dict.fromkeys(("holm", "bonferroni", "by"), "The correction holds however the tests depend on each other."),
    **dict.fromkeys(("hochberg", "bh"), "The correction takes the tests for independent or positively dependent."),
    "none": "Nothing is corrected for the number of tests.",
}


_Pair = tuple[str, str]


def across(comparisons: Sequence[Mapping[str, Json]], *, correction: str, alpha: float) -> dict[str, Json]:
    """Return all pairs of the comparisons of several scores as one family of tests.

    Args:
        comparisons: documents, of systems with the same names; `score`, `alternative` and `pairs` are read.
        correction: of all p together, one of `CORRECTIONS`.
        alpha: a test is significant where its adjusted p is at most this.

    Returns:
        `family`, `correction`, `alpha`, `assumed`, and `pairs`: for each pair its `tests`, one for each comparison that
        has the pair, and the partial conjunctions `a_better` and `b_better` of the uncorrected one-sided p, in which an
        untested member counts as p = 1.
    """
    tests_of: dict[_Pair, list[_Test]] = {}
    for each in comparisons:
        for test in _tests_across(each):
            names = test.names[::-1] if test.names[::-1] in tests_of else test.names  # in the order that came first
            tests_of.setdefault(names, []).append(test.turned_to(names))
    tested = [test for tests in tests_of.values() for test in tests if test.p is not None]
    p = np.array([test.p for test in tested], np.float64)
    p_adjusted = dict(zip(map(id, tested), adjusted(p, correction).tolist(), strict=True))
    a_better, b_better = (_sides(tests_of, side, alpha) for side in "ab")
    return {
        "family": {"size": len(tested), "definition": "all listed pairs on all scores together"},
        "correction": correction,
        "alpha": alpha,
        "assumed": ANY_DEPENDENCE.format(correction=_CORRECTIONS_OF_FAMILIES[correction]),
        "pairs": [
            {
                "a": names[0],
                "b": names[1],
                "tests": [test.document(p_adjusted.get(id(test)), alpha) for test in tests],
                "a_better": a_better[names],
                "b_better": b_better[names],
            }
            for names, tests in tests_of.items()
        ],
    }


class _Test(NamedTuple):
    """The test of one pair in one comparison, in the order of `names`."""

    names: _Pair
    score: str
    alternative: str
    difference: float | None
    better: str | None
    p: float | None
    clipped: bool
    """Whether p is 1 by the allowance for picking."""

    def turned_to(self, names: _Pair) -> _Test:
        """Return the same test with the pair in this order."""
        if names == self.names:
            return self
        difference = None if self.difference is None else -self.difference
        better = None if self.better is None else _OTHER[self.better]
        alternative = _TURNED.get(self.alternative, self.alternative)
        return self._replace(names=names, alternative=alternative, difference=difference, better=better)

    def one_sided(self, side: str) -> float:
        """Return a one-sided p of "this side is better" that is never too small."""
        if self.p is None:
            return 1.0
        if self.alternative in _ASKED:
            return self.p if _ASKED[self.alternative] == side else 1.0
        if self.better != side:
            return 1.0
        if self.alternative != "two-sided":
            return self.p
        return 1.0 if self.clipped else self.p / 2

    def document(self, p_adjusted: float | None, alpha: float) -> dict[str, Json]:
        """Return the test as a member of `tests`."""
        return {
            "score": self.score,
            "difference": self.difference,
            "better": self.better,
            "p": self.p,
            "p_adjusted": p_adjusted,
            "significant": None if p_adjusted is None else p_adjusted <= alpha,
        }


_ANY_DEPENDENCE = ("bonferroni", "k_bonferroni", "holm")
"""Members of a partial conjunction that hold however the tests depend on each other."""
_OTHER = {"a": "b", "b": "a"}
_TURNED = {"greater": "less", "less": "greater"}
_ASKED = {"greater": "a", "less": "b"}
"""Which side a one-sided test asks about; a test in the observed direction asks about the better one."""


def _tests_across(document: Mapping[str, Json]) -> Iterator[_Test]:
    for pair in document["pairs"]:
        score, alternative, clipped = document["score"], document["alternative"], pair.get("p_unselected") is not None
        tested, p = (pair["difference"], pair["better"]), pair["p"]
        yield _Test((pair["a"], pair["b"]), score, alternative, *tested, p, p == 1.0 and clipped)


def _sides(tests_of: Mapping[_Pair, Sequence[_Test]], side: str, alpha: float) -> dict[_Pair, dict[str, Json]]:
    """Return for each pair the one-sided p of one side, with the counts that hold: not Fisher's, as tests depend.

    Pairs with equally many tests are counted together: one after the other takes four times as long.
    """
    by_size: dict[int, list[_Pair]] = {}
    for names, tests in tests_of.items():
        by_size.setdefault(len(tests), []).append(names)
    documents: dict[_Pair, dict[str, Json]] = {}
    for size, pairs in by_size.items():
        p = np.array([[test.one_sided(side) for test in tests_of[names]] for names in pairs], np.float64)
        found = partial_conjunctions(p.reshape(len(pairs), size), alpha)
        for names, one_sided, conjunction in zip(pairs, p.tolist(), found, strict=True):
            documents[names] = {"p": one_sided, **{name: conjunction[name] for name in _ANY_DEPENDENCE}}
    return documents
