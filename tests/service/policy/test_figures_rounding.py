from __future__ import annotations

import pytest

from service.policy.figures import rounded_bound, rounded_difference, rounded_p, rounded_score


@pytest.mark.parametrize(
    ("exact", "shown"), [(0.876543, 0.8765), (0.0876543, 0.08765), (1.0, 1.0), (0.0, 0.0), (12.34567, 12.35)]
)
def test_scores_have_four_significant_digits(exact: float, shown: float) -> None:
    assert rounded_score(exact) == shown


def test_bounds_have_three_significant_digits() -> None:
    assert [rounded_bound(each) for each in (0.87654, -0.0012345, 1.0)] == [0.877, -0.00123, 1.0]


@pytest.mark.parametrize(
    ("exact", "shown"), [(0.04567, 0.046), (1.0, 1.0), (3e-7, 1e-4), (0.0, 1e-4), (0.00123, 0.0012)]
)
def test_p_have_two_significant_digits_and_a_floor(exact: float, shown: float) -> None:
    assert rounded_p(exact) == shown


def test_differences_have_four_decimals_and_no_negative_zero() -> None:
    assert [str(rounded_difference(each)) for each in (0.01234567, -0.00004)] == ["0.0123", "0.0"]
