"""The difference that would have been found: reference figures, and what has none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from treescore.core.scores import ratio_score
from treescore.significance.contributions import Contributions, contributions, contributions_of
from treescore.significance.pair_figures import detectable, moments_of, moments_of_pairs
from treescore.significance.units import sample_of

SHARE = ratio_score("share", "", "m", "n")


def of(a: Any, b: Any, n: Any) -> Contributions:
    rows = [np.array([side, n], np.int64).T for side in (a, b)]
    found = contributions(sample_of(SHARE, ("m", "n"), rows, None, None), 0, 1)
    assert found is not None
    return found


def test_figures_agree_with_the_reference(golden: Any) -> None:
    for case in golden("inference")["few_units"]["cases"]:
        c = of(case["a"], case["b"], case["total"])
        assert detectable(c, 0.05, 0.8) == pytest.approx(case["detectable"], abs=1e-9)
        assert detectable(c, 0.01, 0.8) == pytest.approx(case["detectable_alpha_01"], abs=1e-9)


def test_it_solves_its_equation() -> None:
    c = of([5, 3, 6, 9, 4, 4, 7, 9, 1], [4, 4, 5, 5, 4, 2, 8, 7, 1], [9] * 9)
    x = detectable(c, 0.05, 0.9)
    assert x is not None
    s = math.sqrt(((c.e - c.difference * c.w) ** 2).sum())
    law = math.sqrt(s**2 + x**2 * (c.w**2).sum())
    assert x == pytest.approx(-ndtri(0.025) * law + ndtri(0.9) * s)


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [
        ([], [], []),
        ([3], [1], [4]),
        ([3, 2], [1, 3], [4, 4]),
        ([3, 2, 4] * 9, [3, 2, 4] * 9, [5] * 27),
        ([2, 4, 6] * 9, [1, 2, 3] * 9, [3, 6, 9] * 9),
        ([0] * 9, [0] * 9, [0] * 9),
    ],
    ids=["none", "one", "two", "identical", "proportional", "undefined"],
)
def test_null_without_spread_and_with_too_few_units(a: Any, b: Any, n: Any) -> None:
    assert detectable(of(a, b, n), 0.05, 0.8) is None


def test_null_where_one_unit_outweighs_all_others() -> None:
    n = np.array([1_000_000, *[1] * 40])
    assert detectable(of(n // 2, n // 3, n), 0.05, 0.8) is None


def test_the_smallest_level_has_an_answer_or_none() -> None:
    c = of([5, 3, 6, 9] * 50, [4, 4, 5, 5] * 50, [9] * 200)
    assert detectable(c, 1e-300, 0.8) is None
    assert detectable(c, 1e-12, 0.8) is not None


@pytest.mark.parametrize("scale", [1, 0.1], ids=["whole", "real"])
@pytest.mark.parametrize("parts", [None, np.repeat([0, 2, 1], 4)], ids=["one", "parts"])
@pytest.mark.parametrize("one_minus", [False, True])
def test_sums_over_all_pairs_are_those_of_each(*, one_minus: bool, parts: Any, scale: float) -> None:
    score = ratio_score("score", "", {"m": 2}, {"n": 1, "k": 1}, one_minus=one_minus)
    generator = np.random.default_rng(8)
    rows = [generator.integers(0, 9, (12, 3)) * scale for _ in range(4)]
    sample = sample_of(score, ("m", "n", "k"), rows, None, parts)
    pairs = [(0, 1), (2, 0), (1, 3)]
    for pair, found in zip(pairs, moments_of_pairs(sample, pairs), strict=True):
        c = contributions(sample, *pair)
        assert c is not None
        assert found == pytest.approx(moments_of(c), rel=1e-9)


def test_a_part_that_one_lacks_is_one_unit_with_its_whole_share() -> None:
    words = np.array([5, 7, 4, 6, 8, 5])
    rows = [np.stack([words - wrong, words], axis=1) for wrong in ([1, 2, 0, 1, 3, 2], [2, 3, 2, 1, 2, 3])]
    strata = np.array([0, 0, 0, 0, 1, 1])
    missing = np.array([[False, False], [False, True]])
    for score in (SHARE, replace(SHARE, ratios=SHARE.ratios * 2, join=lambda each: 0.5 * (each[0] + each[1]))):
        c = contributions_of(sample_of(score, ("m", "n"), rows, None, strata, missing), 0, 1)
        assert c.w[4:] == pytest.approx([0.5, 0.0])
        assert c.e[4:] == pytest.approx([0.5 * (rows[0][4:, 0].sum() / 13), 0.0])
        assert c.w.sum() == pytest.approx(1.0)
