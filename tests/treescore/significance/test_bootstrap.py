"""Resamples: reduced to scores some at a time, within a fixed room, and the same however many at a time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from treescore.core.scores import Score, f1_score, harmonic, ratio_score
from treescore.significance import bootstrap
from treescore.significance.bootstrap import resampled
from treescore.significance.units import Sample, sample_of

NAMES = ("matched", "gold", "system")
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")
PRECISION, RECALL = ratio_score("p", "", "matched", "system"), ratio_score("r", "", "matched", "gold")
JOINED = Score("f", "", PRECISION.ratios + RECALL.ratios, harmonic)


def sample(systems: int, parts: int, units: int, score: Score = F1, *, real: bool = False) -> Sample:
    generator = np.random.default_rng(11)
    gold = generator.integers(0, 9, parts * units)
    rows = []
    for _ in range(systems):
        counts = np.stack([generator.binomial(gold, 0.8), gold, gold + generator.integers(0, 2, len(gold))], axis=1)
        rows.append(counts * 0.1 if real else counts)
    return sample_of(score, NAMES, rows, None, np.repeat(np.arange(parts), units) if parts > 1 else None)


@pytest.mark.parametrize("score", [F1, JOINED])
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("parts", [1, 5])
def test_results_do_not_depend_on_how_many_resamples_are_held(
    monkeypatch: pytest.MonkeyPatch, *, parts: int, real: bool, score: Score
) -> None:
    asked = sample(3, parts, 4, score, real=real)
    at_once = resampled(asked, 500, 1)
    monkeypatch.setattr(bootstrap, "BATCH_SUMS", 999)
    assert np.array_equal(resampled(asked, 500, 1), at_once, equal_nan=True)


def test_resamples_redraw_units_within_their_part() -> None:
    """Parts in which every unit is alike have the same score in every resample."""
    counts = np.array([[1, 2, 2]] * 3 + [[3, 4, 4]] * 5)
    of_parts = sample_of(F1, NAMES, [counts], None, np.repeat([0, 1], [3, 5]))
    assert (resampled(of_parts, 200, 7) == (0.5 + 0.75) / 2).all()


def test_a_hundred_systems_on_82_parts_stay_within_the_room() -> None:
    asked = sample(100, 82, 2)
    resampled(asked, 10, 1)
    tracemalloc.start()
    scores = resampled(asked, 1_000, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - scores.nbytes < 100e6  # 64 MB of sums, and their copies
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("units", [0, 1, 2])
def test_hardly_any_units(units: int) -> None:
    scores = resampled(sample(2, 1, units), 20, 1)
    assert scores.shape == (2, 20)
    assert units or np.isnan(scores).all()
