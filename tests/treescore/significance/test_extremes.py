"""Comparisons at the edges of what counts can be: outputs of very different size, few units, very many pairs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import Ratio, Score, harmonic, ratio_score
from treescore.significance import Candidate, Settings, compare, montecarlo, pair_figures
from treescore.significance.bootstrap import affordable_resamples
from treescore.significance.permutation import observed_alternatives
from treescore.significance.units import sample_of

NAMES = ("matched", "gold", "system")
PRECISION = ratio_score("precision", "precision", "matched", "system")
HARMONIC = Score(
    "joined",
    "F1 of two ratios",
    (Ratio({"matched": 1}, {"system": 1}), Ratio({"matched": 1}, {"gold": 1})),
    join=harmonic,
)


def asked(score: Score, *counts: np.ndarray, parts: Any = None, **given: Any) -> dict[str, Any]:
    candidates = [Candidate(chr(65 + place), (each,)) for place, each in enumerate(counts)]
    return compare("metric.score", score, NAMES, candidates, Settings(**{"interval": "none", **given}), parts=parts)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("units", [30, pytest.param(120, marks=pytest.mark.slow)])
def test_a_mean_over_parts_of_outputs_of_very_different_size_has_a_p(alternative: str, units: int) -> None:
    for seed in range(3):
        generator = np.random.default_rng(seed)
        few = generator.integers(1, 4, units)
        many = few * generator.integers(2, 20, units)
        a = np.array([few - (generator.random(units) < 0.3), few, few]).T
        b = np.array([generator.binomial(many, 0.35), few, many]).T
        document = asked(PRECISION, a, b, parts=np.zeros(units, np.int64), alternative=alternative)
        pair = document["pairs"][0]
        assert pair["smallest_p"] <= pair["p"] <= 1.0
        assert pair["p"] > 0.9 if alternative == "less" else pair["p"] < 0.01


def test_shuffles_of_few_units_give_no_p_below_the_smallest() -> None:
    gold = np.full(5, 3)
    a = np.array([gold, gold, gold]).T * 0.3
    b = np.array([gold * 0, gold, gold]).T * 0.3
    for seed in range(10):
        pair = asked(PRECISION, a, b, shuffles=200, seed=seed)["pairs"][0]
        assert pair["p"] >= pair["smallest_p"]


def test_margins_of_many_pairs_are_inverted_within_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    gold = generator.integers(3, 9, 30)
    rows = [np.array([generator.binomial(gold, 0.8), gold, gold + 1]).T for _ in range(4)]
    drawn = asked(PRECISION, *rows, margin=0.03)["pairs"]
    monkeypatch.setattr(pair_figures, "SIDES_WORK", 1.0)
    inverted = asked(PRECISION, *rows, margin=0.03)["pairs"]
    for one, other in zip(drawn, inverted, strict=True):
        for name in (one["a"], one["b"]):
            p = one["noninferiority"][name]["p"], other["noninferiority"][name]["p"]
            assert p[0] != p[1]
            assert p[0] == pytest.approx(p[1], rel=0.1)


def test_shuffles_beyond_the_budget_are_lowered_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    gold = generator.integers(3, 9, 30)
    rows = [np.array([generator.binomial(gold, 0.8), gold, gold + generator.integers(0, 2, 30)]).T for _ in range(3)]
    parts = np.repeat(np.arange(3), 10)
    document = asked(HARMONIC, *rows, parts=parts, shuffles=1_500)
    assert {pair["shuffles"] for pair in document["pairs"]} == {1_500}
    assert not any("lowered" in note for note in document["notes"])
    monkeypatch.setattr(montecarlo, "ASKED_WORK", 1.0)
    monkeypatch.setattr(montecarlo, "MOST_WORK", 1.0)
    document = asked(HARMONIC, *rows, parts=parts, shuffles=1_500)
    assert {pair["shuffles"] for pair in document["pairs"]} == {montecarlo.FEWEST_SHUFFLES}
    assert any(note.startswith("Shuffles lowered from 1500 to 1000") for note in document["notes"])


def test_resamples_of_many_systems_on_many_sentences_are_lowered() -> None:
    of_pairs = 200 * 199 // 2
    assert affordable_resamples(10_000, 100_000, 400 + of_pairs, 400) == 2_500
    assert affordable_resamples(200_000, 100_000_000, 4, 4) == 1_000
    # 26 systems on 78 parts of 120,000 sentences, and 50 on 2,000 sentences, have what they ask for
    assert affordable_resamples(10_000, 120_000, 52 * 78 + 325, 52) == 10_000
    assert affordable_resamples(200_000, 2_000, 100 + 1_225, 100) == 200_000


def test_directions_of_all_pairs_are_read_from_the_scores_once(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    gold = generator.integers(3, 9, 30)
    rows = [np.array([generator.binomial(gold, 0.8), gold]).T for _ in range(6)]
    sample = sample_of(ratio_score("recall", "recall", "matched", "gold"), NAMES[:2], rows, None, None)
    reckoned = []
    values = type(sample).values
    monkeypatch.setattr(type(sample), "values", lambda self: reckoned.append(1) or values(self))
    pairs = list(combinations(range(6), 2))
    shown = observed_alternatives(sample, pairs)
    assert len(reckoned) == 1
    scores = values(sample)
    assert shown == ["less" if scores[first] < scores[second] else "greater" for first, second in pairs]
