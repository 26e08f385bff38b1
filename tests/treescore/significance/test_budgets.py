"""Exact laws of sums: reckoned before starting, within limits for a pair and for a comparison."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import ratio_score
from treescore.significance import exact_sums, permutation
from treescore.significance.exact_sums import TooLargeError, additions, differences_of, exact_p
from treescore.significance.permutation import ShufflePlan
from treescore.significance.signed_sums import sum_tail
from treescore.significance.units import sample_of

RECALL = ratio_score("recall", "recall", "matched", "gold")
PLAN = ShufflePlan(1_000, 1, 0.05, "holm", 1)


def coprime(units: int, largest: int, seed: int = 0) -> np.ndarray:
    """Make differences without a common divisor."""
    return np.random.default_rng(seed).integers(-largest, largest + 1, units)


def test_a_law_beyond_the_budget_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(exact_sums, "subset_tail", never)
    monkeypatch.setattr(exact_sums, "tilted_tail", never)
    with pytest.raises(TooLargeError):
        exact_p(differences_of(coprime(300, 10_000_000)), "two-sided")


@pytest.mark.parametrize(("units", "largest"), [(30, 50), (84, 300), (2_000, 5), (100, 10_000)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_additions_are_no_more_than_reckoned(
    monkeypatch: pytest.MonkeyPatch, units: int, largest: int, alternative: str
) -> None:
    done = []
    subsets, transform = exact_sums.subset_tail, exact_sums.tilted_tail

    def counted_subsets(values: np.ndarray, top: int) -> tuple[np.ndarray, int]:
        done.append(len(values) * (top + 1.0))
        return subsets(values, top)

    def counted_transform(values: np.ndarray, copies: np.ndarray, *rest: Any) -> tuple[float, float]:
        done.append(exact_sums.POINT_ADDITIONS * len(values) * rest[2] / 2)
        return transform(values, copies, *rest)

    monkeypatch.setattr(exact_sums, "subset_tail", counted_subsets)
    monkeypatch.setattr(exact_sums, "tilted_tail", counted_transform)
    differences = differences_of(coprime(units, largest))
    exact_p(differences, alternative)
    assert 0 < sum(done) <= 1.02 * additions(differences)
    assert additions(differences) <= exact_sums.MAX_ADDITIONS


def test_pairs_beyond_the_budget_of_the_comparison_are_inverted_or_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    gold = generator.integers(500, 1_001, 120)
    rows = [np.array([generator.binomial(gold, 0.8), gold]).T for _ in range(5)]
    sample = sample_of(RECALL, ("matched", "gold"), rows, None, None)
    pairs = list(itertools.combinations(range(5), 2))
    exact = permutation.permutation(sample, pairs, "two-sided", PLAN)
    assert {test.kind for test in exact} == {"exact"}
    costs = sorted(additions(differences_of(sample.tops[0][first] - sample.tops[0][second])) for first, second in pairs)
    monkeypatch.setattr(permutation, "ADDITIONS", sum(costs[:4]))
    some = permutation.permutation(sample, pairs, "two-sided", PLAN)
    assert sum(test.kind == "exact" for test in some) == 4
    for one, other in zip(exact, some, strict=True):
        assert one.p == pytest.approx(other.p, rel=0.02)
        assert (other.error is None) == (other.kind == "exact")


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_sum_beyond_the_budget_agrees_with_its_exact_law(monkeypatch: pytest.MonkeyPatch, alternative: str) -> None:
    gold = np.full(60, 500)
    rows = [np.array([gold - np.abs(coprime(60, 90, seed)), gold]).T for seed in (1, 2)]
    sample = sample_of(RECALL, ("matched", "gold"), rows, None, None)
    exact = permutation.permutation(sample, [(0, 1)], alternative, PLAN)[0]
    monkeypatch.setattr(permutation, "ADDITIONS", 0.0)
    drawn = permutation.permutation(sample, [(0, 1)], alternative, PLAN)[0]
    assert (exact.kind, drawn.kind) == ("exact", "sampled")
    assert drawn.p == pytest.approx(exact.p, rel=0.04)
    assert drawn.smallest == exact.smallest


def test_multiples_of_one_number_have_an_exact_law() -> None:
    e = np.repeat([0.1, 0.3], [60, 50])
    found = sum_tail(e, 4.0)
    assert found.error is None
    signs = np.random.default_rng(0).integers(0, 2, (100_000, 110), np.int8)
    share = float(((2.0 * signs - 1.0).astype(np.float32) @ e.astype(np.float32) >= 3.999).mean())
    assert found.p == pytest.approx(share, rel=0.05)
