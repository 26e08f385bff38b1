"""Tails of signed sums: listed, inverted and sampled, against each other and against all signs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from treescore.core.jit import forced
from treescore.significance.exact_sums import tilted_tail
from treescore.significance.signed_sums import (
    Tail,
    inverted,
    inverted_tail,
    linear_kinds,
    lugannani_rice,
    saddle_at,
    sampled_tail,
    sum_tail,
)


def by_all_signs(e: np.ndarray, observed: float) -> float:
    sums = np.array([np.dot(signs, e) for signs in itertools.product((1, -1), repeat=len(e))])
    return float((sums >= observed - 1e-9).mean())


@pytest.mark.parametrize("units", [1, 2, 5, 11])
@pytest.mark.parametrize("share", [-1.0, -0.4, 0.0, 0.3, 1.0])
def test_few_units_are_listed(units: int, share: float) -> None:
    e = np.random.default_rng(units).integers(-3, 4, units).astype(float)
    observed = float(np.round(share * np.abs(e).sum()))
    found = sum_tail(e, observed)
    assert found.error is None
    assert found.p == pytest.approx(by_all_signs(e, observed), abs=1e-15)


def test_ties_count() -> None:
    assert sum_tail(np.array([0.1, 0.2, 0.3]), 0.1 + 0.2 + 0.3).p == 0.125
    assert sum_tail(np.array([0.1, 0.2, 0.3]), 0.0).p == 5 / 8
    assert sum_tail(np.zeros(3), 0.0) == Tail(1.0, 0.0, None)


def test_the_ends_are_exact() -> None:
    e = np.random.default_rng(0).normal(size=300)
    largest = float(np.abs(e).sum())
    assert sum_tail(e, largest).log_p == pytest.approx(-300 * math.log(2))
    assert sum_tail(e, -largest).p == 1.0
    assert sum_tail(e, 1.01 * largest).p == 0.0


@pytest.mark.parametrize("deviations", [-2.0, -0.1, 0.02, 0.7, 2.0, 4.0])
@pytest.mark.parametrize("units", [21, 150])
def test_a_sum_agrees_with_random_signs(units: int, deviations: float) -> None:
    generator = np.random.default_rng(units)
    e = generator.normal(size=units)
    observed = deviations * math.sqrt(float(e @ e))
    signs = generator.integers(0, 2, (100_000, units), np.int8)
    share = float((2.0 * (signs.astype(np.float32) @ e.astype(np.float32)) - e.sum() >= observed).mean())
    found = sum_tail(e, observed)
    assert found.error is not None
    noise = math.sqrt(max(share, found.p) / 100_000)
    assert abs(found.p - share) <= 4 * noise + 4 * found.error * found.p


@pytest.mark.parametrize("deviations", [1.0, 3.0, 6.0, 8.0])
def test_small_p_inverted_sampled_and_lugannani_rice_agree(deviations: float) -> None:
    e = np.abs(np.random.default_rng(3).normal(size=200))
    copies = np.ones(200, np.int64)
    x = deviations * math.sqrt(float(e @ e))
    saddle = saddle_at(e, copies, x)
    inverted = inverted_tail(e, copies, x)
    sampled = sampled_tail(linear_kinds(e, copies), x, x, saddle.t, seed=1, draws=100_000)
    assert inverted.log_p == pytest.approx(sampled.log_p, abs=0.02)
    assert inverted.log_p == pytest.approx(lugannani_rice(x, saddle), abs=1e-3)


def test_copies_are_units_of_their_own() -> None:
    e, copies = np.array([1.0, 2.5, 3.7]), np.array([70, 1, 90], np.int64)
    together = inverted_tail(e, copies, 60.0)
    apart = inverted_tail(np.repeat(e, copies), np.ones(161, np.int64), 60.0)
    assert together.log_p == pytest.approx(apart.log_p, rel=1e-12)


def test_tilted_kinds_are_binomial() -> None:
    e, copies = np.array([1.0, 2.5, 3.7]), np.array([70, 1, 90], np.int64)
    exact = inverted_tail(e, copies, 100.0)
    sampled = sampled_tail(linear_kinds(e, copies), 100.0, 100.0, 0.05, seed=1, draws=50_000)
    assert sampled.log_p == pytest.approx(exact.log_p, abs=0.05)


def test_p_is_valid_at_any_number_of_draws() -> None:
    generator = np.random.default_rng(0)
    copies = np.ones(40, np.int64)
    found = []
    for seed in range(500):
        d = generator.normal(size=40)
        e, x = np.abs(d), abs(float(d.sum()))
        sampled = sampled_tail(linear_kinds(e, copies), x, x, saddle_at(e, copies, x).t, seed=seed, draws=5)
        found.append(2.0 * math.exp(sampled.log_p))
    share = float((np.array(found) <= 0.05).mean())
    assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 500)


@pytest.mark.parametrize("units", [21, 60, 300])
@pytest.mark.parametrize("below", [1e-9, 1e-4, 1e-2])
def test_near_the_largest_sum_the_tail_lies_between_one_swap_and_chernoff_s_bound(units: int, below: float) -> None:
    e, copies = np.random.default_rng(units).uniform(0.1, 1.0, units), np.ones(units, np.int64)
    x = float(e.sum()) * (1.0 - below)
    saddle = saddle_at(e, copies, x)
    bound = saddle.cumulant - saddle.t * x
    for log_p in (inverted_tail(e, copies, x).log_p, lugannani_rice(x, saddle)):
        assert log_p <= bound + 1e-9
    assert inverted_tail(e, copies, x).log_p >= -units * math.log(2) - 1e-9


def test_no_estimate_is_below_what_the_observed_swap_alone_gives() -> None:
    e, copies = np.random.default_rng(0).uniform(0.5, 1.0, 40), np.ones(40, np.int64)
    x = 0.9999 * float(e.sum())
    t = saddle_at(e, copies, x).t
    for seed in range(20):
        drawn = sampled_tail(linear_kinds(e, copies), x, float(e.sum()), t, seed=seed, draws=500)
        assert drawn.log_p >= -40 * math.log(2)


@pytest.mark.slow
def test_laws_are_the_same_to_the_last_bit_interpreted_and_as_machine_code() -> None:
    generator = np.random.default_rng(5)
    for size in (1, 7, 40):
        e, copies = np.abs(generator.normal(size=size)) / size, generator.integers(1, 400, size)
        kinds = linear_kinds(e, copies)._replace(v=generator.normal(size=size) / size, sizes=np.array([7.0]))
        values, top = np.unique(generator.integers(1, 60, size)), 40
        found = []
        for setting in ("never", "always"):
            with forced(setting):
                saddle = saddle_at(e, copies, 0.4 * float(e @ copies))
                found.append(
                    repr(
                        (
                            saddle,
                            inverted(e, copies, 0.4, saddle.t + 1.0 / saddle.deviation, saddle.deviation),
                            sampled_tail(kinds, 0.1, 0.1, 0.3, seed=size, draws=2_000),
                            tilted_tail(values, copies[: len(values)], top, 0.1, 1 << 16, top),
                        )
                    )
                )
        assert found[0] == found[1]
