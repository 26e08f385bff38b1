"""McNemar's test against binomial sums: mid-p and the smallest p of each kind."""

from __future__ import annotations

import math
from typing import Any

import pytest

from treescore.significance.mcnemar import SMALLEST, mcnemar, smallest_of

KINDS = ("exact", "mid-p", "chi2", "chi2-corrected")


def mass(right: int, total: int) -> float:
    return math.comb(total, right) / 2**total


def test_mid_p_and_smallest_p_agree_with_binomial_sums(golden: Any) -> None:
    for case in golden("inference")["mcnemar"]["cases"]:
        b, c = case["b"], case["c"]
        for found in (mcnemar(b, c), mcnemar(c, b)):
            assert found.mid_p == pytest.approx(case["mid_p"], rel=1e-9)
        for kind, expected in case["smallest_p"].items():
            assert smallest_of(kind, b + c) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("total", range(1, 12))
def test_mid_p_takes_half_of_what_is_observed(total: int) -> None:
    """Two-sided: the mass of what is less likely than the observed table, and half of the mass as likely."""
    for b in range(total + 1):
        own = mass(b, total)
        rest = [mass(right, total) for right in range(total + 1)]
        expected = sum(
            (1.0 if abs(2 * right - total) > abs(2 * b - total) else 0.5) * each
            for right, each in enumerate(rest)
            if abs(2 * right - total) >= abs(2 * b - total)
        )
        assert mcnemar(b, total - b).mid_p == pytest.approx(expected, rel=1e-12)
        above = sum(rest[b + 1 :]) + 0.5 * own
        assert mcnemar(b, total - b, "greater").mid_p == pytest.approx(above, rel=1e-12)
        assert mcnemar(b, total - b, "less").mid_p == pytest.approx(1.0 - above, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_no_table_has_a_p_below_the_smallest_one(kind: str, alternative: str) -> None:
    assert smallest_of(kind, 0, alternative) == 1.0
    for total in (1, 2, 5, 20, 60):
        least = min(mcnemar(b, total - b, alternative).p(kind) for b in range(total + 1))
        assert smallest_of(kind, total, alternative) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_p_has_a_floor(kind: str) -> None:
    assert smallest_of(kind, 5_000) == SMALLEST
