"""The p of each part by itself: near the exact law also where the budget does not allow it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.treescore.significance.test_macro import ERRORS, F1, NAMES, PLAN, RECALL
from treescore.core.scores import Score, harmonic, ratio_score
from treescore.significance import Candidate, Settings, compare
from treescore.significance.permutation import permutation
from treescore.significance.signed_sums import signed_sums
from treescore.significance.units import sample_of

SIZES = [0, 12, 25, 35, 60, 130, 400, 900]
SETTINGS = Settings(shuffles=20_000, resamples=100, interval="none")
RATES = [ratio_score(side, side, "matched", side).ratios[0] for side in ("system", "gold")]
HARMONIC = replace(F1, ratios=tuple(RATES), join=harmonic)


def counts(seed: int, gap: float, sizes: list[int] = SIZES) -> list[np.ndarray]:
    """Make two systems whose units all differ more or less; the first part has no unit."""
    generator = np.random.default_rng(seed)
    units = sum(sizes)
    gold = generator.integers(3, 12, units)
    rows = []
    for error in (0.15, 0.15 + gap):
        predicted = np.maximum(1, gold + generator.integers(-1, 2, units))
        rows.append(np.array([np.minimum(generator.binomial(gold, 1 - error), predicted), gold, predicted]).T)
    return rows


def p_of_parts(score: Score, rows: list[np.ndarray], sizes: list[int] = SIZES, **how: Any) -> dict[str, list[float]]:
    """Compare two systems; return the p of each part for both sides."""
    systems = [Candidate(name, [row]) for name, row in zip("ab", rows, strict=True)]
    parts = np.repeat(np.arange(len(sizes)), sizes)
    pair = compare(score.name, score, NAMES, systems, SETTINGS, parts=parts, **how)["pairs"][0]
    return {
        alternative: pair["parts"][f"{side}_better"]["p"] for side, alternative in (("a", "greater"), ("b", "less"))
    }


@pytest.mark.parametrize("gap", [0.02, 0.4])
@pytest.mark.parametrize("alone", [False, True], ids=["together", "alone"])
@pytest.mark.parametrize("score", [F1, ERRORS], ids=["f1", "errors"])
def test_each_p_is_within_five_percent_of_the_exact_law(score: Score, gap: float, alone: bool) -> None:  # noqa: FBT001
    rows = counts(int(100 * gap), gap)
    seeds: dict[str, Callable[..., int]] = {"seed_of": lambda _: 7} if alone else {}
    found = p_of_parts(score, rows, **seeds)
    inverted = 0
    for alternative, of_parts in found.items():
        assert of_parts[0] == 1.0
        start = 0
        for size, p in zip(SIZES[1:], of_parts[1:], strict=True):
            here = slice(start, start + size)
            start += size
            sample = sample_of(score, NAMES, [row[here] for row in rows], None, None)
            exact = permutation(sample, [(0, 1)], alternative, PLAN)[0]
            assert exact.kind == "exact"
            assert p == pytest.approx(exact.p, rel=0.05)
            inverted += p != exact.p
    assert (inverted > 0) is alone


@pytest.mark.parametrize("seed", range(4))
def test_so_is_that_of_real_counts_in_few_units_which_are_drawn(seed: int) -> None:
    generator = np.random.default_rng(seed)
    units = 18
    gold = np.full(units, 10)
    rows = []
    for error in (0.15, 0.25):
        matched = generator.binomial(gold, 1 - error) + generator.random(units) * 0.3
        rows.append(np.array([matched, gold, gold]).T)
    systems = [Candidate(name, [row]) for name, row in zip("ab", rows, strict=True)]
    parts = np.zeros(units, np.int64)
    pair = compare("r", RECALL, NAMES, systems, SETTINGS, parts=parts, seed_of=lambda _: 7)["pairs"][0]
    differences = rows[0][:, 0] - rows[1][:, 0]
    sums = signed_sums(differences)
    assert pair["parts"]["a_better"]["p"] == [pytest.approx((sums >= differences.sum() - 1e-9).mean(), rel=0.05)]
    assert pair["parts"]["b_better"]["p"] == [pytest.approx((sums <= differences.sum() + 1e-9).mean(), rel=0.05)]


@pytest.mark.slow
def test_a_score_of_several_ratios_is_shuffled() -> None:
    sizes = [0, 35, 130]
    found = p_of_parts(HARMONIC, counts(3, 0.1, sizes), sizes, seed_of=lambda _: 7)
    plain = p_of_parts(F1, counts(3, 0.1, sizes), sizes, seed_of=lambda _: 7)
    for alternative, of_parts in found.items():
        assert of_parts == pytest.approx(plain[alternative], rel=0.2, abs=2e-4)
