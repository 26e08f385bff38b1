"""Intervals that hold together: their definition, resample by resample, and what is left out."""

from __future__ import annotations

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from treescore.significance import intervals
from treescore.significance.intervals import simultaneous_intervals


def replicates_of(systems: int, resamples: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    values = generator.random(systems)
    return values[:, None] + 0.05 * generator.standard_normal((systems, resamples)), values


def test_ends_are_the_difference_and_q_standard_errors() -> None:
    replicates, values = replicates_of(5, 400)
    pairs = list(combinations(range(5), 2))
    found = simultaneous_intervals(replicates, values, pairs, 0.9)
    moved, errors = [], []
    for first, second in pairs:
        differences = replicates[first] - replicates[second]
        errors.append(differences.std(ddof=1))
        moved.append(np.abs(differences - (values[first] - values[second])) / errors[-1])
    q = np.quantile(np.max(moved, axis=0), 0.9)
    for (first, second), error, interval in zip(pairs, errors, found, strict=True):
        d = values[first] - values[second]
        assert [interval.low, interval.high] == pytest.approx([d - q * error, d + q * error], abs=1e-12)


def test_they_are_wider_than_those_of_single_pairs() -> None:
    replicates, values = replicates_of(8, 2_000)
    pairs = list(combinations(range(8), 2))
    together = simultaneous_intervals(replicates, values, pairs, 0.95)
    for pair, interval in zip(pairs, together, strict=True):
        alone = simultaneous_intervals(replicates, values, [pair], 0.95)[0]
        assert interval.high - interval.low > 1.2 * (alone.high - alone.low)


def test_a_pair_without_spread_is_left_out() -> None:
    replicates, values = replicates_of(3, 300)
    copied = np.concatenate([replicates, replicates[:1], replicates[:1] + 0.1])
    copied_values = np.array([*values, values[0], values[0] + 0.1])
    pairs = list(combinations(range(3), 2))
    found = simultaneous_intervals(copied, copied_values, [*pairs, (0, 3), (4, 0)], 0.95)
    assert found[:3] == simultaneous_intervals(replicates, values, pairs, 0.95)
    assert (found[3].low, found[3].high) == (0.0, 0.0)
    assert [found[4].low, found[4].high] == pytest.approx([0.1, 0.1])


def test_results_do_not_depend_on_how_many_pairs_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    replicates, values = replicates_of(6, 200)
    pairs = list(combinations(range(6), 2))
    at_once = simultaneous_intervals(replicates, values, pairs, 0.95)
    monkeypatch.setattr(intervals, "BLOCK_NUMBERS", 1)
    assert simultaneous_intervals(replicates, values, pairs, 0.95) == at_once


def test_undefined_resamples_are_left_out() -> None:
    replicates, values = replicates_of(3, 400)
    replicates[2, :100] = np.nan
    found = simultaneous_intervals(replicates, values, [(0, 1), (0, 2)], 0.95)
    assert all(math.isfinite(interval.low) for interval in found)
    replicates[2, :300] = np.nan
    found = simultaneous_intervals(replicates, values, [(0, 1), (0, 2)], 0.95)
    assert math.isnan(found[1].low)
    assert math.isnan(found[1].high)
    assert found[0] == simultaneous_intervals(replicates, values, [(0, 1)], 0.95)[0]


def test_nothing_to_compare() -> None:
    replicates, values = replicates_of(2, 10)
    assert simultaneous_intervals(replicates, values, [], 0.95) == []
    assert math.isnan(simultaneous_intervals(replicates[:, :1], values, [(0, 1)], 0.95)[0].low)
    undefined = np.full((2, 10), np.nan)
    assert math.isnan(simultaneous_intervals(undefined, np.full(2, np.nan), [(0, 1)], 0.95)[0].low)
    same = np.full((2, 10), 0.5)
    interval = simultaneous_intervals(same, same[:, 0], [(0, 1)], 0.95)[0]
    assert (interval.low, interval.high) == (0.0, 0.0)


def test_all_pairs_of_a_hundred_systems_need_the_room_of_a_few() -> None:
    replicates, values = replicates_of(100, 2_000)
    pairs = list(combinations(range(100), 2))
    tracemalloc.start()
    simultaneous_intervals(replicates, values, pairs, 0.95)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # all pairs' replicates are 79 MB
