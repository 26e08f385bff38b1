"""The paired permutation test (approximate randomization); the data alone decide how its p is computed.

Noreen 1989; Yeh 2000; Riezler & Maxwell 2005; Dror et al. 2018. Exact where the statistic is a sum of integers or
few units differ, and for ratios where a dynamic programme is affordable. Means of one ratio over parts are inverted
or sampled under a tilted law (`macro`); what is left is Monte Carlo.

For other parts like these whole parts are swapped: with d_p the difference of two systems in part p, p is the share of
all signs s under which the sum of s_p d_p / P is at least as extreme as the observed one. Swaps within the parts ask
about these very parts; signs of whole parts ask about others of their kind, among which the two systems' difference
varies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import FloatArray
from treescore.significance import exact_ratios, signed_sums
from treescore.significance.bootstrap import Interval
from treescore.significance.constants import LN2, LN10, ROUNDING, SMALLEST
from treescore.significance.exact_ratios import law_cost, law_p
from treescore.significance.exact_sums import ADDITIONS, Differences, TooLargeError, additions, differences_of, exact_p
from treescore.significance.families import first_threshold
from treescore.significance.kernels import THREADS, in_threads
from treescore.significance.macro import formula_holds, parts_of
from treescore.significance.macro_tests import SAMPLED_WORK, Decision, macro_answers
from treescore.significance.montecarlo import affordable_shuffles, extreme_counts, shuffles_needed
from treescore.significance.settings import FEWEST_PARTS
from treescore.significance.units import Sample, merged

SIGNS_WORK = 2e8
"""Draws times parts of all pairs together (5 nanoseconds each, 1 s) up to which 21 to 99 parts are sampled; beyond it
all pairs are inverted."""


class PartSigns(NamedTuple):
    """The tail of one pair, and in how many parts the two differ."""

    tail: signed_sums.Tail
    differing: int


def part_signs(
    values: FloatArray, pairs: Sequence[tuple[int, int]], alternative: str, *, higher_is_better: bool, seed: int = 1
) -> list[PartSigns | None]:
    """Test each pair of systems by the signs of its parts; None below six parts, or where a value is undefined.

    Args:
        values: the score of each system in each part, (N, P), missing and undefined ones as the worst value.
        pairs: rows of `values`.
        alternative: two-sided; greater or less, of the first system's quality.
        higher_is_better: of the score.
        seed: of the draws where 21 to 99 parts differ.
    """
    parts = values.shape[1]
    if parts < FEWEST_PARTS:
        return [None] * len(pairs)
    draws = signed_sums.DRAWS if len(pairs) * parts * signed_sums.DRAWS <= SIGNS_WORK else 0
    better = 1.0 if higher_is_better else -1.0
    results: list[PartSigns | None] = []
    for first, second in pairs:
        d = better * (values[first] - values[second]) / parts
        if not np.isfinite(d).all():
            results.append(None)
            continue
        differing = int(np.count_nonzero(d))
        results.append(PartSigns(_one(d, alternative, seed, draws), differing))
    return results


def _one(d: FloatArray, alternative: str, seed: int, draws: int) -> signed_sums.Tail:
    observed = float(d.sum())
    if alternative != "two-sided":
        return signed_sums.sum_tail(d, -observed if alternative == "less" else observed, seed=seed, draws=draws)
    if abs(observed) <= ROUNDING * float(np.abs(d).sum()):
        return signed_sums.Tail(1.0, 0.0, None)
    tail = signed_sums.sum_tail(d, abs(observed), seed=seed, draws=draws)
    return signed_sums.tail_of(LN2 + tail.log_p, tail.error)


LAW_BUDGET = 2e9
"""Limit of nanoseconds (estimated) for exact laws of ratios of all pairs: 2 s."""
NEAR_BUDGET = 5e8
"""The same for the pairs near the threshold, after the shuffles: 0.5 s."""
NEAR_THRESHOLD = 4.0
"""An exact law is computed for a p within this factor of the threshold of the decision: where ten shuffles reach
the observed difference, p is further off in less than one of 1,000 cases."""
LONG = 2e8
"""Additions (20 ms) from which on exact laws of sums are worth threads."""
_PAIRS_THAT_PREDICT = 8
"""Pairs whose mean cost predicts that of all: fewer may all be the cheap ones."""


@dataclass(frozen=True, slots=True)
class Test:
    """The test of one pair.

    Attributes:
        p: in (0, 1]; None where there is none.
        kind: exact, inversion, sampled, monte-carlo, or None.
        how: the method in words.
        log10_p: where it is known more precisely than p.
        shuffles: of a Monte Carlo test.
        differing: units in which the two differ.
        smallest: the smallest p that the data (and the shuffles) can give.
        error: relative error of p, where it is neither exact nor counted over shuffles.
        parts: p for parts like these, by the signs of whole parts' differences.
        unselected: p without allowance for the picking of the better one among several submissions.
        difference: what was tested, where that is not the difference of the scores.
        ci: an interval that the test itself gives.
    """

    p: float | None
    kind: str | None
    how: str | None = None
    log10_p: float | None = None
    shuffles: int | None = None
    differing: int = 0
    smallest: float = 1.0
    error: float | None = None
    parts: float | None = None
    unselected: float | None = None
    difference: float | None = None
    ci: Interval | None = None


IDENTICAL = Test(1.0, "exact", signed_sums.HOW_SAME, differing=0, smallest=1.0)
"""The test of two systems that differ in no unit."""


@dataclass(frozen=True, slots=True)
class ShufflePlan:
    """How many shuffles a test may use, and the decision that they serve."""

    requested: int
    seed: int
    alpha: float
    correction: str
    family: int
    law_budget: float = LAW_BUDGET

    @property
    def share(self) -> float:
        """The share of all budgets that the tests may use."""
        return self.law_budget / LAW_BUDGET


def permutation(sample: Sample, pairs: Sequence[tuple[int, int]], alternative: str, plan: ShufflePlan) -> list[Test]:
    """Test each pair of systems, in order. No system may have an undefined score."""
    if sample.parts is not None:
        return _of_parts(sample, pairs, alternative, plan)
    test_of = exact_tests(sample, pairs, alternative, plan)
    rest = [index for index in range(len(pairs)) if index not in test_of]
    if rest:
        test_of.update(_by_shuffles(sample, pairs, rest, alternative, plan))
        if sample.plain and sample.integer:
            test_of.update(_near_threshold(sample, pairs, rest, alternative, plan, test_of))
    return [test_of[index] for index in range(len(pairs))]


def exact_tests(
    sample: Sample, pairs: Sequence[tuple[int, int]], alternative: str, plan: ShufflePlan
) -> dict[int, Test]:
    """Test the pairs of a score over all units that need no shuffles, as the budget allows: tests by their index."""
    test_of = _sums(sample, pairs, alternative, plan)
    rest: list[int] = []
    for index, (first, second) in enumerate(pairs):
        if index in test_of:
            continue
        test = _cheap(sample, first, second, alternative)
        if test is None:
            rest.append(index)
        else:
            test_of[index] = test
    if sample.plain and sample.integer and rest:
        _laws(sample, pairs, rest, alternative, plan, test_of)
    return test_of


def part_tests(sample: Sample, pairs: Sequence[tuple[int, int]], alternative: str, seed: int) -> list[Test]:
    """Test each pair by the signs of whole parts' differences.

    Args:
        sample: whose units are whole parts (`units.by_part`).
        pairs: of systems.
        alternative: two-sided, greater, less.
        seed: of the draws where 21 to 99 parts differ.
    """
    higher = sample.score.higher_is_better
    found = part_signs(sample.unit_values(), pairs, alternative, higher_is_better=higher, seed=seed)
    kinds = {True: "exact", False: "sampled"}
    return [
        Test(None, None)
        if signs is None
        else _permutation_test(
            signs.tail, kinds[signs.tail.error is None], "signs of whole parts", signs.differing, alternative
        )
        for signs in found
    ]


def _permutation_test(tail: signed_sums.Tail, kind: str, how: str, differing: int, alternative: str) -> Test:
    return Test(
        max(tail.p, SMALLEST),
        kind,
        how,
        min(0.0, tail.log_p / LN10),
        differing=differing,
        smallest=smallest_p(differing, alternative),
        error=tail.error if kind != "exact" else None,
    )


def _of_parts(sample: Sample, pairs: Sequence[tuple[int, int]], alternative: str, plan: ShufflePlan) -> list[Test]:
    """Test a mean of parts: one ratio by its law, a score that joins several by shuffles."""
    if formula_holds(sample):
        decision = Decision(alternative, plan.alpha, plan.correction, plan.family, plan.seed, plan.share)
        answers = macro_answers(parts_of(sample), pairs, decision)
        tests = [
            _permutation_test(answer.tail, answer.kind, answer.how, answer.units, alternative) for answer in answers
        ]
    else:
        tests = _composites(sample, pairs, alternative, plan)
    higher = sample.score.higher_is_better
    signs = part_signs(sample.part_values(), pairs, alternative, higher_is_better=higher, seed=plan.seed)
    return [
        test if of_parts is None else replace(test, parts=max(of_parts.tail.p, SMALLEST))
        for test, of_parts in zip(tests, signs, strict=True)
    ]


def _composites(sample: Sample, pairs: Sequence[tuple[int, int]], alternative: str, plan: ShufflePlan) -> list[Test]:
    """Shuffle; a pair of which one lacks a part by itself, since the whole part is then one unit of it."""
    test_of: dict[int, Test] = {}
    rest = []
    for index, (first, second) in enumerate(pairs):
        lacking = sample.lacking(first, second)
        alone = sample if not lacking.any() else merged(sample.of_systems((first, second)), lacking)
        pair = (first, second) if alone is sample else (0, 1)
        if not alone.differing_units(*pair).any():
            test_of[index] = IDENTICAL
        elif alone is sample:
            rest.append(index)
        else:
            test_of[index] = _by_shuffles(alone, [pair], [0], alternative, plan, len(pairs))[0]
    if rest:
        test_of.update(_by_shuffles(sample, pairs, rest, alternative, plan))
    return [test_of[index] for index in range(len(pairs))]


def observed_alternatives(sample: Sample, pairs: Sequence[tuple[int, int]]) -> list[str]:
    """Return each pair's alternative in the direction that the data show (compare.pl's; ties count as greater)."""
    better = sample.values() if sample.score.higher_is_better else -sample.values()
    return ["less" if better[first] < better[second] else "greater" for first, second in pairs]


def _cheap(sample: Sample, first: int, second: int, alternative: str) -> Test | None:
    differing = int(sample.differing_units(first, second).sum())
    smallest = smallest_p(differing, alternative)
    if not differing:
        return IDENTICAL
    if sample.integer and differing <= exact_ratios.LISTED_UNITS:
        p = exact_ratios.enumerated_p(sample, first, second, alternative)
        return Test(p, "exact", signed_sums.HOW_LISTED, differing=differing, smallest=smallest)
    return None


def _sums(sample: Sample, pairs: Sequence[tuple[int, int]], alternative: str, plan: ShufflePlan) -> dict[int, Test]:
    """Test the pairs with equal denominators by the exact law of a sum; invert or sample those beyond the budget."""
    if not (sample.plain and sample.integer):
        return {}
    turned = alternative if sample.direction > 0 else _OPPOSITE[alternative]
    tops, bottoms = sample.tops[0], sample.bottoms[0]
    of_pair = {
        index: differences_of(tops[first] - tops[second])
        for index, (first, second) in enumerate(pairs)
        if np.array_equal(bottoms[first], bottoms[second])
    }
    costs = {index: additions(differences) for index, differences in of_pair.items()}
    left = ADDITIONS * plan.share
    exact: set[int] = set()
    for index in sorted(costs, key=lambda index: (costs[index], index)):
        left -= costs[index]
        if left < 0:
            break
        exact.add(index)

    beyond = sum(of_pair[index].units for index in of_pair if index not in exact)
    draws = signed_sums.DRAWS if beyond * signed_sums.DRAWS <= SAMPLED_WORK * plan.share else 0

    def solve(index: int) -> Test:
        differences = of_pair[index]
        if not differences.units:
            return IDENTICAL
        try:
            if index in exact:
                p, log_p = exact_p(differences, turned)
                return _permutation_test(
                    signed_sums.Tail(p, log_p, None), "exact", signed_sums.HOW_SUM_LAW, differences.units, alternative
                )
        except TooLargeError:
            pass
        return _beyond(differences, turned, alternative, plan.seed, draws)

    return dict(
        zip(of_pair, in_threads(solve, list(of_pair), THREADS if sum(costs.values()) > LONG else 1), strict=True)
    )


def _beyond(differences: Differences, turned: str, alternative: str, seed: int, draws: int) -> Test:
    """Test a sum of whole numbers whose exact law is too long; draws are 0 where those of all pairs would be too."""
    e = np.repeat(differences.values, differences.copies).astype(np.float64)
    observed = float(-differences.observed if turned == "less" else differences.observed)
    tail = signed_sums.sum_tail(
        e, abs(observed) if turned == "two-sided" else observed, seed=seed, draws=draws, most=0.0
    )
    if turned == "two-sided":
        tail = signed_sums.tail_of(LN2 + tail.log_p, tail.error) if observed else signed_sums.Tail(1.0, 0.0, None)
    how, kind = signed_sums.HOW_INVERTED, "inversion"
    if tail.error is None:
        how, kind = signed_sums.HOW_LISTED, "exact"
    elif differences.units < signed_sums.SAMPLED_BELOW and draws:
        how, kind = signed_sums.how_sampled(draws), "sampled"
    return _permutation_test(tail, kind, how, differences.units, alternative)


_OPPOSITE = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def smallest_p(differing: int, alternative: str) -> float:
    """Return the smallest p that an exact test over this many differing units can reach."""
    swaps = differing - 1 if alternative == "two-sided" else differing
    return max(SMALLEST, 0.5 ** min(1100, max(0, swaps)))


def _laws(
    sample: Sample,
    pairs: Sequence[tuple[int, int]],
    rest: Sequence[int],
    alternative: str,
    plan: ShufflePlan,
    test_of: dict[int, Test],
) -> None:
    """Compute exact laws for all remaining pairs, if the whole is affordable."""
    jobs: dict[int, exact_ratios.RatioPair] = {}
    spent = 0.0
    for index in rest:
        pair = exact_ratios.pair_of(sample, *pairs[index])
        cost = law_cost(pair, plan.law_budget)
        if math.isinf(cost):
            continue
        spent += cost
        jobs[index] = pair
        # the mean cost of a few pairs predicts the cost of all
        predicted = spent / len(jobs) * len(rest) if len(jobs) >= _PAIRS_THAT_PREDICT else 0.0
        if spent > plan.law_budget or predicted > 2.0 * plan.law_budget:
            return
    test_of.update(_solved(jobs, alternative, "exact law of a ratio"))


def _solved(jobs: dict[int, exact_ratios.RatioPair], alternative: str, how: str) -> dict[int, Test]:
    def solve(index: int) -> Test | None:
        pair = jobs[index]
        result = law_p(pair, alternative)
        if result is None:
            return None
        return Test(
            max(result[0], SMALLEST),
            "exact",
            how,
            log10_p=result[1] / LN10,
            differing=len(pair.us),
            smallest=smallest_p(len(pair.us), alternative),
        )

    tests = zip(jobs, in_threads(solve, list(jobs), THREADS), strict=True)
    return {index: test for index, test in tests if test is not None}


def _by_shuffles(
    sample: Sample,
    pairs: Sequence[tuple[int, int]],
    rest: Sequence[int],
    alternative: str,
    plan: ShufflePlan,
    sharing: int = 1,
) -> dict[int, Test]:
    """Shuffle the pairs of `rest` together; `sharing` is how many pairs the budget is for."""
    rest_pairs = [pairs[index] for index in rest]
    differing = [int(sample.differing_units(first, second).sum()) for first, second in rest_pairs]
    smallest = [smallest_p(units, alternative) for units in differing]
    shuffles = _shuffles(sample, min(smallest), max(sharing, len(rest)), plan)
    counts = extreme_counts(sample, rest_pairs, shuffles, plan.seed, alternative)
    return {
        index: Test(
            max((int(count) + 1) / (shuffles + 1), least),
            "monte-carlo",
            "random swaps shared by all pairs",
            shuffles=shuffles,
            differing=units,
            smallest=max(1 / (shuffles + 1), least),
        )
        for index, units, least, count in zip(rest, differing, smallest, counts, strict=True)
    }


def _shuffles(sample: Sample, smallest: float, pairs: int, plan: ShufflePlan) -> int:
    """Return the shuffles asked for; more where the correction needs them and a rejection is possible.

    Fewer where those asked for are more than the budget.
    """
    asked = affordable_shuffles(plan.requested, plan.requested, sample, pairs)
    threshold = first_threshold(plan.family, plan.alpha, plan.correction)
    if smallest > threshold:
        return asked
    wanted = shuffles_needed(plan.requested, plan.family, plan.alpha, plan.correction)
    shuffles = affordable_shuffles(wanted, plan.requested, sample, pairs)
    return shuffles if 1 / (shuffles + 1) <= threshold else asked


def _near_threshold(
    sample: Sample,
    pairs: Sequence[tuple[int, int]],
    rest: Sequence[int],
    alternative: str,
    plan: ShufflePlan,
    test_of: dict[int, Test],
) -> dict[int, Test]:
    """Compute exact laws for the Monte Carlo p nearest to the threshold, as the budget allows."""
    p = np.array([test_of[index].p for index in sorted(test_of)], np.float64)
    order = np.argsort(p, kind="stable")
    thresholds = np.empty(len(p))
    for rank, row in enumerate(order):
        thresholds[row] = first_threshold(max(1, plan.family - rank), plan.alpha, plan.correction)
    position_of = {index: position for position, index in enumerate(sorted(test_of))}
    distances = {index: abs(math.log(p[position_of[index]] / thresholds[position_of[index]])) for index in rest}
    jobs: dict[int, exact_ratios.RatioPair] = {}
    spent = 0.0
    for index in sorted(rest, key=distances.__getitem__):
        if distances[index] > math.log(NEAR_THRESHOLD):
            break
        pair = exact_ratios.pair_of(sample, *pairs[index])
        cost = law_cost(pair)
        if math.isinf(cost):
            continue
        spent += cost
        if spent > min(NEAR_BUDGET, plan.law_budget):
            break
        jobs[index] = pair
    return _solved(jobs, alternative, "exact law of a ratio, sought since p is near the threshold")
