"""Exact p against counting in whole numbers, from 1 down to 1e-300."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import f1_score, ratio_score
from treescore.significance import exact_ratios, exact_sums
from treescore.significance.exact_ratios import Plane, factor_tables, log_mass, plane_cost, significant_points
from treescore.significance.permutation import ShufflePlan, permutation
from treescore.significance.units import Sample, sample_of

NAMES = ("matched", "gold", "system")
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")
ALTERNATIVES = ("two-sided", "greater", "less")


def counted(values: list[int], top: int) -> int:
    """How many subsets have a sum of at most `top`, in whole numbers."""
    cells = [1] + [0] * top
    for value in values:
        for place in range(top, value - 1, -1):
            cells[place] += cells[place - value]
    return sum(cells)


def log_of(number: int, units: int) -> float:
    return math.log(number) - units * math.log(2)


@pytest.mark.parametrize(
    ("units", "mean", "spread"), [(200, 0.1, 2), (600, 0.4, 2), (900, 1.5, 3), (1100, 3.0, 2), (400, 9, 20)]
)
def test_both_ways_to_a_linear_p_agree_with_whole_numbers(units: int, mean: float, spread: float) -> None:
    d = np.rint(np.random.default_rng(units).normal(mean, spread, units)).astype(np.int64)
    found = exact_sums.differences_of(d)
    top = (found.largest - abs(found.observed)) // 2
    values = np.repeat(found.values, found.copies)
    expected = log_of(counted(values.tolist(), top), len(values))
    assert exact_sums._by_subsets(found, top)[1] == pytest.approx(expected, abs=1e-9)
    assert exact_sums._by_tilting(found, top) == pytest.approx(expected, abs=1e-9)


def test_a_gap_in_the_lattice_does_not_fool_the_transform() -> None:
    d = np.full(400, 100)
    d[:150] *= -1
    d[0] = 1
    found = exact_sums.differences_of(d)
    top = (found.largest - abs(found.observed)) // 2
    expected = log_of(counted([1] + [100] * 399, top), 400)
    assert exact_sums.tail(found, abs(found.observed))[1] == pytest.approx(expected, abs=1e-9)


def test_sums_on_a_very_wide_lattice_are_counted_not_transformed() -> None:
    found = exact_sums.differences_of(np.random.default_rng(1).integers(-60_000, 60_001, 40))
    top = (found.largest - abs(found.observed)) // 2
    assert exact_sums._by_tilting(found, top) is None
    assert exact_sums.tail(found, abs(found.observed)) == exact_sums._by_subsets(found, top)


def test_the_smallest_p_is_a_power_of_two_at_any_size() -> None:
    for units in (3, 60, 997, 1080):
        p, log_p = exact_sums.exact_p(exact_sums.differences_of(np.ones(units, np.int64)), "two-sided")
        assert log_p == pytest.approx((1 - units) * math.log(2), rel=1e-12)
        if units < 1022:
            assert p == pytest.approx(2.0 ** (1 - units), rel=1e-9)
            assert Fraction(p).denominator > 1


def brackets(generator: np.random.Generator, units: int, better: float = 0.0) -> Sample:
    gold = generator.integers(1, 15, units)
    rows = []
    for share in (0.8 + better, 0.8):
        system = np.maximum(1, gold + generator.integers(-2, 3, units))
        rows.append(np.array([np.minimum(generator.binomial(gold, share), system), gold, system]).T)
    return sample_of(F1, NAMES, rows, None, None)


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_ratio_p_by_counting_and_by_transform_is_the_share_of_swaps(seed: int) -> None:
    generator = np.random.default_rng(seed)
    sample = brackets(generator, 14, 0.03 * seed / 2)
    pair = exact_ratios.pair_of(sample, 0, 1)
    for alternative in ALTERNATIVES:
        expected = exact_ratios.enumerated_p(sample, 0, 1, alternative)
        assert exact_ratios.grid_p(pair, alternative, -1.0)[0] == pytest.approx(expected, rel=1e-9)
        by_plane = exact_ratios._by_plane(pair, alternative)
        assert by_plane is not None
        assert by_plane[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("units", "better"), [(60, 0.0), (120, 0.2), pytest.param(400, 0.12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("score", ["f1", "precision", "error"])
def test_the_transform_agrees_with_counting_at_any_p(units: int, better: float, score: str) -> None:
    made = brackets(np.random.default_rng(units), units, better)
    wanted = {
        "f1": F1,
        "precision": ratio_score("precision", "precision", "matched", "system"),
        "error": ratio_score("error", "error", "matched", "system", one_minus=True, higher_is_better=False),
    }[score]
    rows = [np.array([made.tops[0][at] // 2, made.bottoms[0][at], made.bottoms[0][at]]).T for at in (0, 1)]
    pair = exact_ratios.pair_of(sample_of(wanted, NAMES, rows, None, None), 0, 1)
    for alternative in ALTERNATIVES:
        expected = exact_ratios.grid_p(pair, alternative, exact_ratios.normal_log_p(pair))
        found = exact_ratios._by_plane(pair, alternative)
        assert found is not None
        assert found[1] == pytest.approx(expected[1], abs=1e-9)
        assert found[0] == pytest.approx(expected[0], rel=1e-9)


def test_no_difference_at_all_is_p_1_two_sided_and_more_than_half_one_sided() -> None:
    one, other = np.array([[3, 5, 4]] * 20), np.array([[1, 5, 4]] * 20)
    rows = [np.concatenate([one, other]), np.concatenate([other, one])]
    pair = exact_ratios.pair_of(sample_of(F1, NAMES, rows, None, None), 0, 1)
    assert pair.observed == 0
    for found in (
        exact_ratios._by_plane(pair, "greater"),
        exact_ratios.law_p(pair, "greater"),
        exact_ratios.law_p(pair, "less"),
    ):
        assert found is not None
        # P(S >= 0) of a walk of 40 steps
        assert found[0] == pytest.approx(0.5 + math.comb(40, 20) / 2**41, rel=1e-9)
    assert exact_ratios.law_p(pair, "two-sided") == pytest.approx((1.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(("units", "largest"), [(40, 60), pytest.param(100, 400, marks=pytest.mark.slow)])
def test_a_system_that_is_better_in_every_unit_is_compared_like_any_other(units: int, largest: int) -> None:
    generator = np.random.default_rng(units)
    gold = generator.integers(20, largest, units)
    sizes = [gold + generator.integers(-3, 4, units) for _ in range(2)]
    matched = np.minimum(gold, sizes[0]) - 3, generator.integers(0, 3, units)
    rows = [np.array([right, gold, size]).T for right, size in zip(matched, sizes, strict=True)]
    sample = sample_of(F1, NAMES, rows, None, None)
    for alternative, p in (("two-sided", 2.0 ** (1 - units)), ("greater", 2.0**-units), ("less", 1.0)):
        pair = exact_ratios.pair_of(sample, 0, 1)
        test = permutation(sample, [(0, 1)], alternative, ShufflePlan(2_000, 1, 0.05, "holm", 1))[0]
        by_law = exact_ratios.law_p(pair, alternative)
        assert by_law is not None
        assert by_law[0] == pytest.approx(p, rel=1e-9)
        assert (test.kind, test.p) == ("exact", pytest.approx(p, rel=1e-9))


@pytest.mark.parametrize("seed", range(6))
def test_no_point_of_the_transform_is_lost_by_judging_blocks(seed: int) -> None:
    generator = np.random.default_rng(seed)
    us, vs = generator.integers(-40, 41, 30), generator.integers(0, 20, 30)
    if seed % 2:
        us, vs = 2 * us, 4 * vs  # the law has peaks that are far from the origin
    width, height = (512, 128) if seed < 3 else (128, 256)
    size = max(width, height)
    sizes, turns = np.empty((2, 30, size))
    factor_tables(np.exp(generator.normal(0, 0.5, 30)), generator.integers(1, 20, 30), size, sizes, turns)
    found = np.empty((width * height, 2), np.int64)
    count = significant_points(us, vs, sizes, width, height, found)
    second, first = np.meshgrid(np.arange(height // 2 + 1), np.arange(width), indexing="ij")
    total = sum(
        sizes[kind, (first * us[kind] * (size // width) + second * vs[kind] * (size // height)) % size]
        for kind in range(30)
    )
    expected = np.argwhere(total >= -46.0)[:, ::-1]
    assert 0 < count < width * height / 2
    assert found[:count].tolist() == expected.tolist()


def test_hopeless_sizes_are_refused_not_tried() -> None:
    d = np.random.default_rng(1).integers(1, 2**40, 500) * np.where(np.arange(500) % 3, 1, -1)
    with pytest.raises(exact_sums.TooLargeError):
        exact_sums.exact_p(exact_sums.differences_of(d), "two-sided")
    size = d + 2**42
    rows = [np.array([d + 2**41, size, size]).T, np.array([d // 3 + 2**41, size, size[::-1]]).T]
    pair = exact_ratios.pair_of(sample_of(F1, NAMES, rows, None, None), 0, 1)
    assert math.isinf(exact_ratios.law_cost(pair))
    assert exact_ratios.law_p(pair, "two-sided") is None


def test_a_transform_over_units_that_are_all_different_counts_as_the_slow_one_that_it_is() -> None:
    generator = np.random.default_rng(1)
    us, vs = generator.integers(-30, 30, 120), generator.integers(1, 30, 120)
    scattered = Plane(us, vs, np.ones(120, np.int64), -200.0, 0.0, 0.0)
    alike = Plane(us[:12], vs[:12], np.full(12, 10, np.int64), -200.0, 0.0, 0.0)
    assert plane_cost(scattered) > 5 * plane_cost(alike)


def test_a_transform_that_is_not_precise_says_so() -> None:
    def nothing(*_arguments: Any) -> tuple[float, float]:
        return 1e-9, 1.0

    sample = brackets(np.random.default_rng(5), 80, 0.05)
    pair = exact_ratios.pair_of(sample, 0, 1)
    plane = exact_ratios.plane_of(pair, abs(pair.observed), strict=False)
    assert log_mass(plane) is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treescore.significance.exact_ratios.region_sum", nothing)
        assert log_mass(plane) is None
        expected = exact_ratios.grid_p(pair, "two-sided", -3.0)
        assert exact_ratios.law_p(pair, "two-sided") == pytest.approx(expected)
