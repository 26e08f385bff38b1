"""Intervals of few units: reference figures, which interval is chosen, macro averages, composite scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtrit

from treescore.core.scores import Score, f1_score, harmonic, ratio_score
from treescore.significance.bootstrap import PERCENTILE
from treescore.significance.contributions import influences
from treescore.significance.intervals import (
    LOGIT_T,
    MANY,
    STUDENT_T,
    WILSON,
    UnitsInterval,
    difference_intervals,
    system_intervals,
)
from treescore.significance.units import Sample, sample_of

NAMES = ("m", "n", "k")
SHARE = ratio_score("share", "", "m", "n")
F1 = f1_score("f1", "", "m", "n", "k", "nothing")
ERRORS = ratio_score("errors", "", "m", "n", higher_is_better=False, high=None)
AER = ratio_score("aer", "", "m", "n", one_minus=True, higher_is_better=False)
JOINED = Score("joined", "", F1.ratios + SHARE.ratios, harmonic)


def sample(score: Score, *systems: Any, parts: Any = None, blocks: Any = None) -> Sample:
    rows = [np.array([*system, *[system[-1]] * (3 - len(system))], np.int64).T for system in systems]
    return sample_of(score, NAMES, rows, blocks, None if parts is None else np.array(parts))


def own(score: Score, m: Any, n: Any, **where: Any) -> UnitsInterval:
    return system_intervals(sample(score, (m, n), **where), [0], 0.95)[0]


def difference(score: Score, first: Any, second: Any, **where: Any) -> UnitsInterval:
    return difference_intervals(sample(score, first, second, **where), [(0, 1)], 0.95)[0]


def ends(answer: UnitsInterval) -> list[float]:
    assert answer.interval is not None
    return [answer.interval.low, answer.interval.high]


def drawn(units: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    n = generator.integers(3, 30, units)
    return generator.binomial(n, 0.8), generator.binomial(n, 0.7), n


def test_intervals_agree_with_the_reference(golden: Any) -> None:
    for case in golden("inference")["few_units"]["cases"]:
        both = sample(SHARE, (case["a"], case["total"]), (case["b"], case["total"]))
        first, second = system_intervals(both, [0, 1], 0.95)
        assert ends(first) == pytest.approx(case["interval_a"], abs=1e-9)
        assert ends(second) == pytest.approx(case["interval_b"], abs=1e-9)
        answer = difference_intervals(both, [(0, 1)], 0.95)[0]
        assert ends(answer) == pytest.approx(case["interval"], abs=1e-9)
        assert (first.method, answer.method) == (LOGIT_T, STUDENT_T)


def test_shares_of_whole_units_agree_with_the_reference(golden: Any) -> None:
    for case in golden("inference")["exact_match"]["cases"]:
        units = np.arange(case["n"])
        answer = own(SHARE, units < case["right"], np.ones(case["n"]))
        assert answer.method == WILSON
        assert ends(answer) == pytest.approx(case["interval"], abs=1e-9)


def test_wilson_ends_exactly_at_none_and_all() -> None:
    assert ends(own(SHARE, [0] * 7, [1] * 7))[0] == 0.0
    assert ends(own(SHARE, [1] * 7, [1] * 7))[1] == 1.0


def test_documents_of_several_sentences_are_an_ordinary_ratio() -> None:
    right = [1, 1, 0, 1, 0, 1, 1, 1]
    assert own(SHARE, right, [1] * 8).method == WILSON
    assert own(SHARE, right, [1] * 8, blocks=np.repeat(np.arange(4), 2)).method == LOGIT_T


def test_sentences_left_out_of_a_share_are_not_counted() -> None:
    assert own(SHARE, [1, 1, 0, 0], [1, 1, 1, 0]) == own(SHARE, [1, 1, 0], [1, 1, 1])


def test_the_bootstrap_is_used_from_fifty_units_on() -> None:
    a, b, n = drawn(MANY)
    assert own(SHARE, a, n) == (None, PERCENTILE)
    assert own(SHARE, a[1:], n[1:]).method == LOGIT_T
    assert difference(SHARE, (a, n), (b, n)) == (None, PERCENTILE)
    assert difference(SHARE, (a[1:], n[1:]), (b[1:], n[1:])).method == STUDENT_T


def test_empty_units_are_not_counted() -> None:
    a, b, n = (np.concatenate([values, np.zeros(60, np.int64)]) for values in drawn(9))
    assert own(SHARE, a, n) == own(SHARE, a[:9], n[:9])
    assert difference(SHARE, (a, n), (b, n)) == difference(SHARE, (a[:9], n[:9]), (b[:9], n[:9]))


def test_one_unit_has_no_interval_but_wilsons() -> None:
    assert own(SHARE, [3], [4]).interval is None
    assert own(SHARE, [4], [4]).interval is None
    assert difference(SHARE, ([3], [4]), ([2], [4])).interval is None


def test_two_units_have_wide_intervals_within_the_range() -> None:
    low, high = ends(own(SHARE, [3, 1], [4, 4]))
    assert 0.0 < low < 0.01
    assert 0.99 < high < 1.0


def test_units_that_are_all_alike_get_wilsons_interval_and_no_difference() -> None:
    answer = own(SHARE, [2, 4, 6], [4, 8, 12])
    assert answer.method == WILSON
    assert ends(answer) == pytest.approx(ends(own(SHARE, [1, 0], [1, 1])), abs=0.15)
    assert difference(SHARE, ([2, 4, 6], [4, 8, 12]), ([1, 2, 3], [4, 8, 12])).interval is None


def test_identical_outputs_have_no_interval_of_the_difference() -> None:
    a, _, n = drawn(10)
    assert difference(SHARE, (a, n), (a, n)).interval is None


@pytest.mark.parametrize("right", [0, 1])
def test_a_score_at_an_end_gets_wilsons_interval(right: int) -> None:
    n = np.array([3, 5, 9, 2])
    answer = own(SHARE, n * right, n)
    assert answer.method == WILSON
    assert ends(answer) == pytest.approx(ends(own(SHARE, [right] * 4, [1] * 4)), abs=1e-12)


def test_undefined_scores_have_no_interval() -> None:
    assert own(SHARE, [0, 0], [0, 0]).interval is None


def test_an_error_rate_without_upper_end_gets_an_interval_within_its_range() -> None:
    answer = own(ERRORS, [0, 9, 1], [4, 4, 4])
    assert answer.method == STUDENT_T
    assert ends(answer)[0] == 0.0
    assert ends(answer)[1] > 1.0
    assert own(ERRORS, [0, 0], [4, 4]).interval is None


def test_one_minus_a_ratio_mirrors_it() -> None:
    a, b, n = drawn(12)
    assert ends(own(AER, a, n)) == pytest.approx([1 - end for end in ends(own(SHARE, a, n))[::-1]], abs=1e-12)
    mirrored = [-end for end in ends(difference(SHARE, (a, n), (b, n)))[::-1]]
    assert ends(difference(AER, (a, n), (b, n))) == pytest.approx(mirrored, abs=1e-12)


def test_the_variance_of_a_macro_average_is_the_sum_over_its_parts() -> None:
    sizes = (4, 7)
    columns = [drawn(size, seed) for size, seed in zip(sizes, (5, 6), strict=True)]
    a, b, n = (np.concatenate([part[row] for part in columns]) for row in range(3))
    answer = difference(SHARE, (a, n), (b, n), parts=np.repeat([0, 1], sizes))
    variances, gain = [], 0.0
    for part_a, part_b, part_n in columns:
        d = (part_a - part_b).sum() / part_n.sum()
        residuals = ((part_a - part_b) - d * part_n) / part_n.sum() / 2
        variances.append(len(part_n) / (len(part_n) - 1) * (residuals**2).sum())
        gain += d / 2
    df = sum(variances) ** 2 / sum(v**2 / (size - 1) for v, size in zip(variances, sizes, strict=True))
    half = stdtrit(df, 0.975) * math.sqrt(sum(variances))
    assert answer.method == STUDENT_T
    assert ends(answer) == pytest.approx([gain - half, gain + half], abs=1e-12)


def test_parts_of_one_unit_are_as_wide_as_a_t_interval_over_parts() -> None:
    values = np.array([30, 50, 40, 90])
    others = np.array([20, 45, 45, 70])
    n = np.full(4, 100)
    answer = difference(SHARE, (values, n), (others, n), parts=np.arange(4))
    d = (values - others) / 100
    half = stdtrit(3, 0.975) * d.std(ddof=1) / 2
    assert ends(answer) == pytest.approx([d.mean() - half, d.mean() + half], abs=1e-12)


def test_a_small_part_decides_for_all_parts() -> None:
    a, _, n = drawn(3 * MANY)
    assert own(SHARE, a, n, parts=np.repeat([0, 1, 2], MANY)) == (None, PERCENTILE)
    assert own(SHARE, a, n, parts=np.repeat([0, 1, 2], [MANY + 1, MANY, MANY - 1])).method == LOGIT_T


def test_a_part_without_units_adds_no_spread() -> None:
    a, _, n = drawn(8)
    empty = np.zeros(5, np.int64)
    with_gap = own(SHARE, [*a, *empty], [*n, *empty], parts=np.repeat([0, 1, 2], [4, 4, 5]))
    assert with_gap.method == LOGIT_T
    assert ends(with_gap)[1] < 2 / 3 + 0.05


def test_linear_terms_of_a_composite_score_are_its_derivative() -> None:
    """A unit with a weight 1 + h changes the score by h z_i."""
    a, _, n = drawn(6)
    both = sample(JOINED, (a, n, n + 2), parts=np.repeat([0, 1], 3))
    z = influences(both, 0)
    for unit in range(6):
        ends_of = []
        for h in (1e-5, -1e-5):
            weights = np.ones(6)
            weights[unit] += h
            weighed = sample_of(JOINED, NAMES, [np.array([a, n, n + 2]).T * weights[:, None]], None, both.parts)
            ends_of.append(weighed.values()[0])
        assert z[unit] == pytest.approx((ends_of[0] - ends_of[1]) / 2e-5, abs=1e-8)


def test_weights_that_differ_by_a_million_leave_intervals_finite() -> None:
    n = np.array([1_000_000, 1, 1, 2, 1])
    m = np.array([700_000, 1, 0, 1, 1])
    low, high = ends(own(SHARE, m, n))
    assert 0.0 < low < 0.7 < high < 1.0
    low, high = ends(difference(SHARE, (m, n), (m // 2, n)))
    assert math.isfinite(low)
    assert math.isfinite(high)
