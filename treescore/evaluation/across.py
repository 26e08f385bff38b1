"""Comparisons of the same systems over several scores or benchmarks, as one family of tests, from their documents.

They are corrected once. Let p be the two-sided p of a law that is symmetric about 0, as those of signs and of Student's
t are: p = P(|T| >= |t|) = 2 P(T >= |t|), and the one-sided p towards the better system is p/2. Away from it the
one-sided p is P(T >= -|t|) = 1 - p/2 + P(T = |t|). The last term is not negligible where few units differ, and no
document holds it: 1 is taken instead, which is never too small. Without a difference both sides are 1. From these the
partial conjunction of each pair follows: on at least how many scores or benchmarks is the one system better.
Bonferroni's count holds under any dependence; scores of one text are dependent. Fisher's needs independent tests, so it
is counted over benchmarks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from treescore.core.params import Json
from treescore.significance.families import adjusted, partial_conjunctions

ANY_DEPENDENCE = "The scores are of one text and depend on each other. {correction}"
INDEPENDENT = (
    "The benchmarks stay as they are: the claim is about these. Fisher's count takes them for independent, with no "
    "text in two of them. {correction}"
)
_CORRECTIONS_OF_FAMILIES = {
    **dict.fromkeys(("holm", "bonferroni", "by"), "The correction holds however the tests depend on each other."),
    **dict.fromkeys(("hochberg", "bh"), "The correction takes the tests for independent or positively dependent."),
    "none": "Nothing is corrected for the number of tests.",
}


_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison among several.

    Attributes:
        document: of the comparison: `score`, `alternative` and `pairs` are read.
        about: further members of its tests, such as the benchmark.
    """

    document: Mapping[str, Json]
    about: Mapping[str, Json] = field(default_factory=dict)


def across(
    comparisons: Sequence[Compared],
    *,
    correction: str,
    alpha: float,
    independent: bool = False,
    pairs: Sequence[tuple[str, str]] = (),
) -> dict[str, Json]:
    """Return all pairs of several comparisons as one family of tests.

    Args:
        comparisons: of systems with the same names.
        correction: of all p together, one of `CORRECTIONS`.
        alpha: a test is significant where its adjusted p is at most this.
        independent: whether no text is in two comparisons; only then Fisher's product has a meaning.
        pairs: what is listed first and in this order, also without a test; all others follow.

    Returns:
        `family`, `correction`, `alpha`, `assumed`, and `pairs`: for each pair its `tests`, one for each comparison that
        has the pair, and the partial conjunctions `a_better` and `b_better` of the uncorrected one-sided p, in which an
        untested member counts as p = 1.
    """
    tests_of: dict[_Pair, list[_Test]] = {pair: [] for pair in pairs}
    for each in comparisons:
        for test in _tests_across(each):
            names = _known_pair(tests_of, test.names)
            tests_of.setdefault(names, []).append(test.turned_to(names))
    tested = [test for tests in tests_of.values() for test in tests if test.p is not None]
    p = np.array([test.p for test in tested], np.float64)
    p_adjusted = dict(zip(map(id, tested), adjusted(p, correction).tolist(), strict=True))
    a_better, b_better = (_sides(tests_of, side, alpha, independent=independent) for side in "ab")
    assumed = (INDEPENDENT if independent else ANY_DEPENDENCE).format(correction=_CORRECTIONS_OF_FAMILIES[correction])
    return {
        "family": {
            "size": len(tested),
            "definition": f"all listed pairs on all {'benchmarks' if independent else 'scores'} together",
        },
        "correction": correction,
        "alpha": alpha,
        "assumed": assumed,
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


@dataclass(frozen=True, slots=True)
class _Test:
    """The test of one pair in one comparison, in the order of `names`."""

    names: _Pair
    score: str
    about: Mapping[str, Json]
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
        return replace(self, names=names, alternative=alternative, difference=difference, better=better)

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
            **self.about,
            "difference": self.difference,
            "better": self.better,
            "p": self.p,
            "p_adjusted": p_adjusted,
            "significant": None if p_adjusted is None else p_adjusted <= alpha,
        }


_OTHER = {"a": "b", "b": "a"}
_TURNED = {"greater": "less", "less": "greater"}
_ASKED = {"greater": "a", "less": "b"}
"""Which side a one-sided test asks about; a test in the observed direction asks about the better one."""


def _tests_across(compared: Compared) -> Iterator[_Test]:
    document = compared.document
    for pair in document["pairs"]:
        yield _Test(
            (pair["a"], pair["b"]),
            document["score"],
            compared.about,
            document["alternative"],
            pair["difference"],
            pair["better"],
            pair["p"],
            pair["p"] == 1.0 and pair.get("p_unselected") is not None,
        )


def _known_pair(tests_of: Mapping[_Pair, object], names: _Pair) -> _Pair:
    """Return a pair in the order in which it came first."""
    return names[::-1] if names[::-1] in tests_of else names


def _sides(
    tests_of: Mapping[_Pair, Sequence[_Test]], side: str, alpha: float, *, independent: bool
) -> dict[_Pair, dict[str, Json]]:
    """Return for each pair the one-sided p of one side, with the counts that hold: Fisher's if tests are independent.

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
            documents[names] = {"p": one_sided, **conjunction.document()}
            if not independent:
                documents[names] |= {"fisher": None, "k_fisher": None}
    return documents
