"""Draws with replacement: the streams as they are defined, and the same sums however they are added up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treescore.core.scores import ratio_score
from treescore.significance import bootstrap
from treescore.significance.bootstrap import LARGEST_IN_LANE, many_states, resampled
from treescore.significance.kernels import LANE_MOST, LANES, draw_weights, lane_sums
from treescore.significance.units import sample_of

MASK = 2**64 - 1
SCORE = ratio_score("ratio", "a ratio", "top", "bottom")


def drawn(seed: int, units: int) -> list[int]:
    """The units that a stream draws: splitmix64, two from each word, the upper half first."""
    found: list[int] = []
    state = seed
    while len(found) < units:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        word = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
        word ^= word >> 31
        found += [((word >> 32) * units) >> 32, ((word & 0xFFFFFFFF) * units) >> 32]
    return found[:units]


@pytest.mark.parametrize("units", [0, 1, 2, 3, 64, 257])
def test_weights_count_what_a_stream_draws(units: int) -> None:
    seeds = [0, 7, MASK]
    weights = np.zeros((3, units), np.float32)
    draw_weights(np.array(seeds, np.uint64), weights)
    assert [np.bincount(drawn(seed, units), minlength=units).tolist() for seed in seeds] == weights.tolist()


@given(
    st.lists(st.integers(0, 41), min_size=1, max_size=4),
    st.sampled_from([1, 3, LARGEST_IN_LANE, LANE_MOST]),
    st.integers(0, MASK),
)
def test_lanes_add_up_what_the_streams_draw(sizes: list[int], largest: int, seed: int) -> None:
    generator = np.random.default_rng(seed % 2**32)
    columns = generator.integers(0, largest, (sum(sizes), LANES), endpoint=True).astype(np.uint64)
    packed = (columns << np.array([0, 16, 32, 48], np.uint64)).sum(axis=1, dtype=np.uint64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    states = generator.integers(0, 2**64, (len(sizes), 2), np.uint64)
    sums = np.zeros((len(sizes), 2, LANES))
    lane_sums(states, packed, starts, LANE_MOST // largest, sums)
    for part, (start, end) in enumerate(pairwise(starts.tolist())):
        for row in range(2):
            of_part = columns[start:end][drawn(int(states[part, row]), end - start)]
            assert sums[part, row].tolist() == of_part.sum(axis=0).tolist()


@pytest.mark.parametrize("largest", [9, LARGEST_IN_LANE, LARGEST_IN_LANE + 1])
@pytest.mark.parametrize("systems", [1, 2, 3])
def test_scores_are_the_same_with_lanes_and_without(
    largest: int, systems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(largest)
    bottoms = generator.integers(0, largest, (systems, 90), endpoint=True)
    bottoms[:, 0] = largest
    rows = [np.column_stack([generator.integers(0, bottom, endpoint=True), bottom]) for bottom in bottoms]
    sample = sample_of(SCORE, ("top", "bottom"), rows, None, np.arange(90) % 3)
    packed = bootstrap._terms_of(sample).lanes
    assert (packed is not None) == (systems <= 2 and largest <= LARGEST_IN_LANE)
    found = resampled(sample, 40, 5)
    monkeypatch.setattr(bootstrap, "_lanes", lambda _: None)
    assert np.array_equal(found, resampled(sample, 40, 5), equal_nan=True)


def test_numbers_that_lanes_cannot_hold_are_not_packed() -> None:
    below_zero = sample_of(SCORE, ("top", "bottom"), [np.array([[-1, 2], [1, 2]])], None, None)
    reals = sample_of(SCORE, ("top", "bottom"), [np.array([[0.5, 2.0], [1.0, 2.0]])], None, None)
    assert bootstrap._terms_of(below_zero).lanes is None
    assert bootstrap._terms_of(reals).lanes is None


@pytest.mark.parametrize("count", [0, 1, 2, 5, 1950])
@pytest.mark.parametrize("entropy", [[0], [1, 2, 3], [2**62, 0xB007, 5]])
def test_states_are_those_of_the_seed_sequence(count: int, entropy: list[int]) -> None:
    seeds = np.random.SeedSequence(entropy)
    assert np.array_equal(many_states(seeds, count), seeds.generate_state(count, np.uint64))
