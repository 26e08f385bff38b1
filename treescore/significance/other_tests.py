"""Tests of other programs: McNemar's, MaltEval's form of it, and that of Bikel's comparator (compare.pl), from counts.

**McNemar** (Fagerland, Lydersen & Laake 2013), of right and wrong answers by sentence or by token. b answers only the
first has right, c only the second, t = b + c. The exact test on sentences is the exact paired permutation test of
sentence exact match. What is tested is (b - c) / n, the difference in wholly right units, not the score from which
right and wrong may have been read.

**compare.pl**: stratified shuffling, one-sided in the direction in which the systems were seen to differ, for recall
and precision of brackets. As there, what is swapped are percentages of sentences, rounded to two decimals as EVALB
prints them and weighted by their brackets: rounding breaks ties, so p may be far below that of counts. The original
drops lines that are not numbers, and has no seed; here p is exact where it can be. It knows no F: other scores are
tested from counts. Since the direction is taken from the data, p must be doubled to be read as two-sided: at a nominal
5 % about 9 % of true nulls are rejected.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treescore.core.arrays import BoolArray, Counts, special
from treescore.core.params import Json
from treescore.core.registry import TokenBits
from treescore.core.scores import Score, ratio_score
from treescore.significance.contributions import Contributions
from treescore.significance.law import Asked, Test, by_law
from treescore.significance.question import Terms
from treescore.significance.settings import ROUNDING, SMALLEST, Settings
from treescore.significance.units import Sample, sample_of

MALTEVAL_P05 = 1.96
"""MaltEval's bound of z for 5 %, the two-sided normal quantile to two decimals; then that for 1 %."""
MALTEVAL_P01 = 2.58


def mcnemar(a_only: int, b_only: int, alternative: str = "two-sided") -> dict[str, Json]:
    """Test b = a_only against c = b_only, and return all forms as a document; where nothing differs every p is 1.

    Two-sided, with X ~ Binomial(t, 1/2), CDF and pmf of X and m = min(b, c): exact 2 CDF(m), at most 1; mid-p
    2 CDF(m) - pmf(m), and at b = c, where the two tails share their middle, 1 - pmf(b) / 2 (Fagerland, Lydersen &
    Laake 2013). `greater`: the first is right more often: CDF(c), mid-p CDF(c) - pmf(c) / 2; the chi-square forms then
    halve their tail.
    """
    total, difference, exact, mid_p = a_only + b_only, abs(a_only - b_only), 1.0, 1.0
    if total and alternative == "two-sided":
        exact = min(1.0, 2.0 * binomial_tail(min(a_only, b_only), total))
        middle = _mass(min(a_only, b_only), total)
        mid_p = 1.0 - 0.5 * middle if a_only == b_only else max(SMALLEST, exact - middle)
    elif total:
        fewer = b_only if alternative == "greater" else a_only
        exact = binomial_tail(fewer, total)
        mid_p = max(SMALLEST, exact - 0.5 * _mass(fewer, total))
    z = (difference - 1) / math.sqrt(total) if total else None  # where nothing differs MaltEval prints -Infinity
    return {
        "a_only": a_only,
        "b_only": b_only,
        "exact": max(exact, SMALLEST),
        "mid_p": mid_p,
        "chi2": _chi_square(a_only, b_only, difference, alternative),
        "chi2_corrected": _chi_square(a_only, b_only, max(0, difference - 1), alternative),
        "malteval": {"z": z, "p01": z is not None and z >= MALTEVAL_P01, "p05": z is not None and z >= MALTEVAL_P05},
    }


def binomial_tail(most: int, total: int) -> float:
    """Compute P(X <= most) for X ~ Binomial(total, 1/2)."""
    return float(special.bdtr(most, total, 0.5))


_WHOLE = 1_000
"""Totals up to which all binomial coefficients are floats: those of 1,030 are beyond 2^1024."""


def _mass(right: int, total: int) -> float:
    """Compute P(X = right) for X ~ Binomial(total, 1/2)."""
    if total <= _WHOLE:
        return math.ldexp(math.comb(total, right), -total)
    log_ways = float(special.gammaln(total + 1) - special.gammaln(right + 1) - special.gammaln(total - right + 1))
    return math.exp(log_ways - total * math.log(2.0))


def _chi_square(a_only: int, b_only: int, difference: int, alternative: str) -> dict[str, float]:
    """Return the statistic with one degree of freedom, and its p."""
    if a_only == b_only == 0:
        return {"statistic": 0.0, "p": 1.0}
    statistic = difference * difference / (a_only + b_only)
    if alternative == "two-sided":
        p = float(special.chdtrc(1, statistic))
    else:
        ahead = (a_only >= b_only) == (alternative == "greater")
        p = math.exp(float(special.log_ndtr(-math.sqrt(statistic) if ahead else math.sqrt(statistic))))
    return {"statistic": statistic, "p": max(SMALLEST, p)}


DEPENDENT_TOKENS = (
    "Tokens of one sentence are not independent. McNemar's test on tokens calls 13 to 43 % of true nulls significant "
    "at 5 % (measured); it is offered for comparison with MaltEval. Decide by sentences or documents."
)
_KINDS = {
    "exact": ("exact", "exact binomial"),
    "mid-p": ("mid_p", "mid-p"),
    "chi2": ("chi2", "chi-square without correction"),
    "chi2-corrected": ("chi2_corrected", "chi-square with continuity correction"),
}
"""Kind of PARAMS -> the member of the document, and its name."""


def mcnemar_tests(
    sample: Sample, pairs: Sequence[tuple[int, int]], settings: Settings, bits: Sequence[TokenBits | None] | None
) -> tuple[list[Test], list[dict[str, Json]]]:
    """Run McNemar's test of each pair; return the tests, and all their forms as documents.

    What is tested is (b - c) / n, the difference in units that are right as a whole; positive: the first has more.
    """
    right = right_answers(sample, bits)
    member, name = _KINDS[settings.mcnemar]
    tests, documents = [], []
    for first, second in pairs:
        a_only = int((right[first] & ~right[second]).sum())
        b_only = int((right[second] & ~right[first]).sum())
        found = mcnemar(a_only, b_only, settings.alternative)
        p = found[member]["p"] if member.startswith("chi2") else found[member]
        kind = "exact" if member == "exact" else None
        difference = (a_only - b_only) / max(1, right.shape[1])
        tests.append(Test(p, kind, f"McNemar, {name}", differing=a_only + b_only, difference=difference))
        documents.append({"mcnemar": found})
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


_COLUMNS = (
    # (recall: numerator, denominator), (precision: numerator, denominator), what is counted
    (("matched", "gold"), ("matched", "system"), "brackets"),
    (("sure_links_in_sure", "sure"), ("sure_links_in_sure", "sure_links"), "sure links"),
    (("links_in_sure", "sure"), ("links_in_sure", "links"), "sure links"),
    (("key_found", "key"), ("answer_correct", "answer"), "dependencies"),
    (("matched", "key_constituents"), ("matched", "response_constituents"), "constituents"),
)


def directed_tests(sample: Sample, pairs: Sequence[tuple[int, int]]) -> list[Test]:
    """Run one-sided tests, each in the observed direction of its pair; recall and precision as compare.pl has them."""
    if _is_printed(sample.score):
        tops, bottoms = (np.asarray(terms[0], np.float64) for terms in (sample.tops, sample.bottoms))
        shares = np.divide(tops, bottoms, out=np.zeros_like(tops), where=bottoms > 0)
        percents = np.rint(100 * np.round(100 * shares, 2))
        sample = replace(sample, tops=((percents * bottoms).astype(sample.tops[0].dtype),))
    units = Contributions(sample)
    better = sample.score.sign * units.values
    test_of: dict[int, Test] = {}
    for alternative, ahead in (("greater", True), ("less", False)):  # of equal ones the first is asked about
        indices = [index for index, (a, b) in enumerate(pairs) if (better[a] >= better[b]) == ahead]
        tests = by_law(units, [pairs[index] for index in indices], Asked("permutation", alternative))
        test_of.update(zip(indices, tests, strict=True))
    return [test_of[index] for index in range(len(pairs))]


def _is_printed(score: Score) -> bool:
    """Tell whether a score is one of the comparator's two rows."""
    rows = [({top: 1}, {bottom: 1}) for *both, _ in _COLUMNS for top, bottom in both]
    return [(dict(ratio.numerator), dict(ratio.denominator)) for ratio in score.ratios] in [[row] for row in rows]


def recall_and_precision(
    counted: Terms, rows: Sequence[Counts], pairs: Sequence[tuple[int, int]]
) -> list[dict[str, Json]]:
    """Make for each pair the comparator's two rows; empty documents where the counts have no brackets or links."""
    documents: list[dict[str, Json]] = [{} for _ in pairs]
    known = [each for each in _COLUMNS if {*each[0], *each[1]} <= set(counted.names)]
    for recall, precision, what in known[:1]:
        for name, (numerator, denominator) in (("recall", recall), ("precision", precision)):
            score = ratio_score(name, name, numerator, denominator)
            sample = sample_of(score, counted.names, rows, counted.units.blocks, None)
            values = sample.values()
            defined = [pair for pair in pairs if np.isfinite(values[list(pair)]).all()]
            tests = dict(zip(defined, directed_tests(sample, defined), strict=True))
            for (a, b), document in zip(pairs, documents, strict=True):
                test, document["of"] = tests.get((a, b)), what
                document[name] = {"difference": None, "p": None, "p_kind": None, "reason": score.undefined}
                if test is not None:
                    document[name] = {"difference": float(values[a] - values[b]), "p": test.p, "p_kind": test.kind}
    return documents
