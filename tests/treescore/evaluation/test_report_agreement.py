"""Agreement of two metrics over the same items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from treescore.evaluation import correlations
from treescore.evaluation.report import agreement


def test_the_three_coefficients_of_a_worked_example() -> None:
    """Ranks of b are 1 3 2 4 5: Spearman 1 - 6 * 2 / 120 = 0.9; nine of ten pairs agree: Kendall 0.8."""
    found = agreement(np.array([1.0, 2, 3, 4, 5]) / 10, np.array([0.1, 0.4, 0.3, 0.5, 0.9]), "x", "y")
    assert found["spearman"]["value"] == pytest.approx(0.9)
    assert found["kendall"]["value"] == pytest.approx(0.8)
    assert found["pearson"]["value"] == pytest.approx(np.corrcoef([1, 2, 3, 4, 5], [1, 4, 3, 5, 9])[0, 1])
    assert (found["a"], found["b"], found["items"], found["undefined"]) == ("x", "y", 5, 0)


def test_undefined_items_are_left_out_and_counted() -> None:
    nan = float("nan")
    found = agreement(np.array([0.1, nan, 0.3, 0.4, 0.5]), np.array([0.1, 0.2, nan, 0.4, 0.5]), "x", "y")
    assert (found["items"], found["undefined"]) == (3, 2)
    assert found["pearson"]["value"] == pytest.approx(1.0)


@pytest.mark.parametrize("size", [0, 1, 2, 10])
def test_without_variation_there_is_no_coefficient(size: int) -> None:
    found = agreement(np.full(size, 0.7), np.linspace(0, 1, size), "x", "y")
    assert found["kendall"]["value"] is None
    assert found["kendall"]["reason"]


@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("items", [3, 4, 20, 33, 34, 400])
def test_coefficients_are_those_of_scipy(items: int, levels: int) -> None:
    """With ties and without, in the same order, against it and in none."""
    rng = np.random.default_rng(items)
    a = rng.permutation(items) % levels / 7
    for b in (a * 2 + 1, -a, a + rng.integers(-1, 2, items) % levels, rng.permutation(a)):
        for ours, theirs in (("pearson", "pearsonr"), ("spearman", "spearmanr"), ("kendall", "kendalltau")):
            value, p = getattr(correlations, ours)(a, b)
            expected = getattr(stats, theirs)(a, b)
            assert value == pytest.approx(expected.statistic, abs=1e-13)
            assert p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-100)


def test_deciles_say_where_the_worst_items_stand() -> None:
    values = np.arange(100) / 100
    same, opposite = agreement(values, values, "x", "y"), agreement(values, -values, "x", "y")
    assert same["deciles"][0]["counts"] == [10] + [0] * 9
    assert opposite["deciles"][0]["counts"] == [0] * 9 + [10]
    assert opposite["deciles"][1] == {"lowest_of": "y", "under": "x", "items": 10, "counts": [0] * 9 + [10]}


def test_ties_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 4, 200) / 4, rng.integers(0, 3, 200) / 3
    order = rng.permutation(200)
    first, second = agreement(a, b, "x", "y"), agreement(a[order], b[order], "x", "y")
    assert first["deciles"] == second["deciles"]
    assert first["kendall"]["value"] == pytest.approx(second["kendall"]["value"])


def test_many_ties_at_the_bottom_are_all_in_the_lowest_decile() -> None:
    a = np.concatenate([np.zeros(40), np.linspace(0.1, 1, 60)])
    found = agreement(a, np.linspace(0, 1, 100), "x", "y")
    assert found["deciles"][0]["counts"] == [10, 10, 10, 10, 0, 0, 0, 0, 0, 0]
