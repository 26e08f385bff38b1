"""Intervals part by part: the bits of drawing all parts resample by resample, whatever is held at once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treescore.core.scores import Ratio, Score, ScoreTable, harmonic, ratio_score
from treescore.evaluation import parts as part_intervals
from treescore.evaluation.parts import RESAMPLES, SEED, distinct_columns, resampled_scores, worst_values
from treescore.significance.kernels import draw_weights

TABLE = ScoreTable(
    ("a", "b", "c", "c again"),
    (
        ratio_score("plain", "", "a", "b"),
        ratio_score("errors", "", {"c": 1, "a": -1}, "c again", higher_is_better=False, high=None),
        Score("joined", "", (Ratio({"a": 1}, {"b": 1}), Ratio({"a": 2}, {"b": 1, "c": 1}, one_minus=True)), harmonic),
    ),
)


def drawn(kind, sizes, seed=0):
    generator = np.random.default_rng(seed)
    parts = []
    for size in sizes:
        rows = generator.integers(0, 9, (size, 4)) if kind == "whole" else generator.random((size, 4))
        rows[:, 3] = rows[:, 2]
        rows[generator.random(size) < 0.3] = 0
        parts.append(rows)
    return parts


def plain(table, parts, batch_draws):
    """Draw resample by resample, and compute each score of each part by itself."""
    step = max(1, min(RESAMPLES, batch_draws // max(1, sum(map(len, parts)))))
    worst = worst_values(table)
    pooled, macro = [], []
    for batch, start in enumerate(range(0, RESAMPLES, step)):
        size = min(step, RESAMPLES - start)
        states = np.random.SeedSequence([SEED, batch]).generate_state(size * len(parts), np.uint64)
        for at in range(size):
            total, filled, some = np.zeros(len(table.count_names)), np.zeros(len(worst)), np.zeros(len(worst), bool)
            for part, rows in enumerate(parts):
                weights = np.zeros((1, len(rows)))
                draw_weights(states[part * size + at : part * size + at + 1], weights)
                whole, scale = part_intervals._on_grid(rows)
                sums = (weights[0] @ whole.astype(np.float64)) * scale
                total += sums
                values = np.array([float(score.of(table.count_names, sums)) for score in table.scores])
                filled += np.where(np.isnan(values), worst, values)
                some |= ~np.isnan(values)
            pooled.append([float(score.of(table.count_names, total)) for score in table.scores])
            macro.append(np.where(some, filled / len(parts), math.nan))
    return np.array(pooled).T, np.array(macro).T


@pytest.mark.parametrize("kind", ["whole", "real"])
@pytest.mark.parametrize("sizes", [(7,), (30, 0, 11)])
def test_parts_drawn_one_after_the_other_have_the_bits_of_resamples_drawn_so(monkeypatch, kind, sizes):
    monkeypatch.setattr(part_intervals, "RESAMPLES", 90)
    monkeypatch.setitem(globals(), "RESAMPLES", 90)
    monkeypatch.setattr(part_intervals, "BATCH_DRAWS", 700)  # several batches, the last of them smaller
    parts = drawn(kind, sizes)
    for found, expected in zip(resampled_scores(TABLE, parts), plain(TABLE, parts, 700), strict=True):
        assert np.array_equal(found, expected, equal_nan=True)


def test_the_weights_that_are_held_are_bounded_and_change_nothing(monkeypatch):
    monkeypatch.setattr(part_intervals, "RESAMPLES", 90)
    parts = drawn("whole", (40, 300))
    expected = resampled_scores(TABLE, parts)
    held = []

    def noting(states, weights):
        held.append(weights.nbytes)
        draw_weights(states, weights)

    monkeypatch.setattr(part_intervals, "draw_weights", noting)
    for bound in (1, 1000, 10_000):
        held.clear()
        monkeypatch.setattr(part_intervals, "PIECE_BYTES", bound)
        assert all(map(np.array_equal, resampled_scores(TABLE, parts), expected))
        assert max(held) <= max(bound, 300 * 4)


@pytest.mark.parametrize("kind", ["whole", "real"])
def test_small_products_change_nothing(monkeypatch, kind):
    parts = drawn(kind, (40, 300))
    expected = resampled_scores(TABLE, parts)
    pieces = []

    def noting(states, weights):
        pieces.append(len(states))
        draw_weights(states, weights)

    monkeypatch.setattr(part_intervals, "draw_weights", noting)
    monkeypatch.setattr(part_intervals, "SMALL_PRODUCT", 30 * 300 * 3)
    assert all(map(np.array_equal, resampled_scores(TABLE, parts), expected))
    assert set(pieces) == {225, 200, 30, 20}


def test_scores_are_computed_once_for_each_part(monkeypatch):
    calls = []
    monkeypatch.setattr(ScoreTable, "of_columns", lambda self, totals: calls.append(1) or self._formulas.of(totals))
    parts = drawn("whole", (30,) * 5)
    pooled, _ = resampled_scores(TABLE, parts)
    assert len(calls) == 5 + 1
    calls.clear()
    assert np.array_equal(resampled_scores(TABLE, parts, macro=False)[0], pooled)
    assert len(calls) == 1


def test_equal_counts_are_summed_once():
    parts = drawn("whole", (20, 30))
    kept, place_of = distinct_columns(parts)
    assert kept.tolist() == [0, 1, 2]
    assert place_of.tolist() == [0, 1, 2, 2]
    parts[1][[3, 4], 3] = parts[1][[4, 3], 3] + [1, -1]
    parts[1][5, 3] += 0  # equal totals are not enough
    assert len(distinct_columns(parts)[0]) == 4
