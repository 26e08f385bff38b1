"""What a comparison says beside its tests: detectable differences, intervals together, margins, few units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import stdtr

from treescore.core.scores import Score, f1_score, harmonic, ratio_score
from treescore.significance import Candidate, Settings, bootstrap, compare
from treescore.significance.contributions import linear_contributions
from treescore.significance.pair_figures import FEW_UNITS_NOTE, MARGIN_NOTE
from treescore.significance.units import sample_of

NAMES = ("matched", "gold", "system")
F1 = f1_score("f1", "F1", "matched", "gold", "system", "nothing")
RECALL = ratio_score("recall", "recall", "matched", "gold")
ERRORS = ratio_score("errors", "errors", "matched", "gold", higher_is_better=False)
JOINED = Score("joined", "F1 of ratios", (*RECALL.ratios, *F1.ratios), harmonic)


def rows(seed: int, units: int = 60, share: float = 0.8) -> np.ndarray:
    gold = np.random.default_rng(1).integers(3, 15, units)
    matched = np.random.default_rng(seed).binomial(gold, share)
    return np.stack([matched, gold, gold + seed % 2], axis=1)


def asked(score: Score, *counts: np.ndarray, parts: Any = None, seed_of: Any = None, **settings: Any) -> dict[str, Any]:
    candidates = [Candidate(f"s{at}", (each,)) for at, each in enumerate(counts)]
    chosen = Settings(**{"resamples": 400, **settings})
    return compare("m.score", score, NAMES, candidates, chosen, parts=parts, seed_of=seed_of)


def of_names(names: Any) -> int:
    return sum(map(ord, "".join(names)))


def test_detectable_differences_are_at_alpha_over_pairs(golden: Any) -> None:
    case = golden("inference")["few_units"]["cases"][0]
    a, b = (np.array([case[side], case["total"], case["total"]]).T for side in "ab")
    pair = asked(RECALL, a, b)["pairs"][0]
    assert pair["detectable"] == {"difference": pytest.approx(case["detectable"]), "power": 0.8, "alpha": 0.05}
    assert pair["ci"]["method"] == "Student's t"
    assert (pair["ci"]["resamples"], pair["ci"]["seed"]) == (None, None)
    family = asked(RECALL, a, b, a[::-1], alpha=0.03)
    assert all(pair["detectable"]["alpha"] == pytest.approx(0.01) for pair in family["pairs"])
    alone = asked(RECALL, a, b, alpha=0.01)["pairs"][0]["detectable"]["difference"]
    assert alone == pytest.approx(case["detectable_alpha_01"])
    assert family["pairs"][0]["detectable"]["difference"] == pytest.approx(alone)


def test_one_sided_tests_detect_less_and_other_tests_say_nothing() -> None:
    two, one = (asked(F1, rows(1), rows(2), alternative=each)["pairs"][0] for each in ("two-sided", "greater"))
    assert one["detectable"]["difference"] < two["detectable"]["difference"]
    for test in ("mcnemar", "bootstrap", "compare_pl"):
        assert asked(F1, rows(1), rows(2), test=test)["pairs"][0]["detectable"] is None


@pytest.mark.parametrize("parts", [None, np.repeat([0, 1, 2], 20)], ids=["one", "parts"])
def test_a_composite_score_of_equal_ratios_has_the_figures_of_its_ratio(parts: Any) -> None:
    twice = Score("twice", "the same twice", RECALL.ratios * 2, harmonic)
    pair = asked(RECALL, rows(2), rows(4), parts=parts, margin=0.05)["pairs"][0]
    other = asked(twice, rows(2), rows(4), parts=parts, margin=0.05)["pairs"][0]
    assert other["detectable"]["difference"] == pytest.approx(pair["detectable"]["difference"], rel=1e-6)
    assert other["noninferiority"]["s0"]["p"] == pytest.approx(
        pair["noninferiority"]["s0"]["p"], rel=0.03
    )  # both are sampled


@pytest.mark.parametrize("score", [F1, JOINED])
def test_linear_contributions_sum_to_the_difference(score: Score) -> None:
    parts = np.repeat([0, 1, 2], 20)
    for strata in (None, parts):
        c = linear_contributions(sample_of(score, NAMES, [rows(1), rows(2)], None, strata), 0, 1)
        assert c.e.sum() == pytest.approx(c.difference, abs=1e-9)
        assert c.w.sum() == pytest.approx(1.0)


def test_intervals_together_are_wider_and_hold_their_pairs_differences() -> None:
    document = asked(F1, rows(1), rows(2), rows(3), rows(4), resamples=2_000)
    for pair in document["pairs"]:
        together = pair["ci_simultaneous"]
        assert together["method"] == "paired simultaneous bootstrap"
        assert together["low"] < pair["difference"] < together["high"]
        assert together["high"] - together["low"] > pair["ci"]["high"] - pair["ci"]["low"]
    assert "Each interval holds by itself at 95 %; Holm's p decides." in document["assumed"]


def test_no_intervals_together_where_none_are_asked_for() -> None:
    document = asked(F1, rows(1), rows(2), rows(3), interval="none")
    assert [pair["ci_simultaneous"] for pair in document["pairs"]] == [None] * 3
    assert "hold together at 95 %; Holm" not in document["assumed"]


def test_a_margin_is_tested_both_ways_and_corrected_over_ordered_pairs() -> None:
    document = asked(F1, rows(1), rows(2), margin=0.05)
    found = document["pairs"][0]["noninferiority"]
    assert found["margin"] == 0.05
    assert found["s0"]["p_adjusted"] == found["s0"]["p"]
    assert MARGIN_NOTE in document["assumed"]
    three = asked(F1, rows(1), rows(2), rows(3), margin=0.05, correction="bonferroni")
    for pair in three["pairs"]:
        for name in (pair["a"], pair["b"]):
            side = pair["noninferiority"][name]
            assert side["p_adjusted"] == pytest.approx(min(1.0, 6 * side["p"]))
            assert side["established"] is (side["p_adjusted"] <= 0.05)
    assert asked(F1, rows(1), rows(2))["pairs"][0]["noninferiority"] is None


def test_a_margin_of_an_error_rate_favours_fewer_errors() -> None:
    fewer, more = rows(2, share=0.2), rows(4, share=0.4)
    found = asked(ERRORS, fewer, more, margin=0.02)["pairs"][0]["noninferiority"]
    assert found["s0"]["established"]
    assert not found["s1"]["established"]


def test_nothing_is_established_below_twenty_units() -> None:
    document = asked(RECALL, rows(2, 12, 0.95), rows(4, 12, 0.3), margin=0.1)
    found = document["pairs"][0]["noninferiority"]["s0"]
    assert found["p"] < 0.01
    assert not found["established"]
    assert FEW_UNITS_NOTE in document["notes"]
    assert asked(RECALL, rows(2), rows(4), test="bootstrap", margin=0.1)["pairs"][0]["noninferiority"] is not None


def test_few_units_draw_nothing_and_many_draw() -> None:
    few, many = (asked(F1, rows(1, units), rows(2, units)) for units in (20, 60))
    assert [each["ci"]["method"] for each in few["systems"]] == ["logit t"] * 2
    assert [each["ci"]["method"] for each in many["systems"]] == ["percentile bootstrap"] * 2
    assert many["pairs"][0]["ci"]["method"] == "paired percentile bootstrap"
    assert asked(F1, rows(1, 20), rows(2, 20), interval="percentile")["systems"][0]["ci"]["resamples"] == 400
    assert many["pairs"][0] == asked(F1, rows(1), rows(2), interval="percentile")["pairs"][0]


def test_figures_of_a_pair_alone_are_taken_from_an_earlier_document() -> None:
    """Closed intervals have no seed: what is known of a pair is known all the same."""
    counts = [rows(seed, 20) for seed in range(1, 5)]
    names = [f"s{at}" for at in range(4)]
    candidates = [Candidate(name, (each,)) for name, each in zip(names, counts, strict=True)]
    settings = Settings(resamples=200, shuffles=500)
    earlier = compare("m.f1", F1, NAMES, candidates[:3], settings, seed_of=of_names)
    fresh = compare("m.f1", F1, NAMES, candidates, settings, seed_of=of_names)
    assert compare("m.f1", F1, NAMES, candidates, settings, seed_of=of_names, earlier=[earlier]) == fresh


@pytest.mark.parametrize("units", [0, 1, 2])
@pytest.mark.parametrize("parts", [False, True])
def test_hardly_any_units(units: int, *, parts: bool) -> None:
    strata = np.arange(units) if parts else None
    document = asked(F1, rows(1, units), rows(2, units), rows(2, units), parts=strata, margin=0.1)
    for pair in document["pairs"]:
        found = pair["noninferiority"]
        assert found is None or not (found[pair["a"]]["established"] or found[pair["b"]]["established"])
        assert pair["detectable"] is None


def test_all_ties_and_all_undefined() -> None:
    document = asked(F1, rows(2), rows(2), margin=0.1)
    pair = document["pairs"][0]
    assert pair["detectable"] is None
    assert pair["noninferiority"]["s0"]["established"]
    assert (pair["ci_simultaneous"]["low"], pair["ci_simultaneous"]["high"]) == (0.0, 0.0)
    nothing = np.zeros((30, 3), np.int64)
    assert asked(F1, nothing, nothing, margin=0.1)["pairs"][0]["noninferiority"] is None


def test_a_margin_over_training_runs_is_tested_by_t() -> None:
    runs = [tuple(rows(seed) for seed in (2 + shift, 4 + shift, 6 + shift)) for shift in (0, 20)]
    candidates = [Candidate(name, each) for name, each in zip("ab", runs, strict=True)]
    document = compare("m.recall", RECALL, NAMES, candidates, Settings(resamples=50, margin=0.03))
    pair = document["pairs"][0]
    v, df = pair["runs_test"]["v_units"] + pair["runs_test"]["v_runs"], pair["runs_test"]["df"]
    gain = pair["difference_tested"]
    for name, sign in (("a", 1.0), ("b", -1.0)):
        expected = stdtr(df, -(sign * gain + 0.03) / np.sqrt(v))
        assert pair["noninferiority"][name]["p"] == pytest.approx(expected)
    same = [Candidate(name, (rows(2), rows(2))) for name in "ab"]
    equal = compare("m.recall", RECALL, NAMES, same, Settings(resamples=50, margin=0.03))
    assert equal["pairs"][0]["noninferiority"]["a"]["established"]
    assert equal["pairs"][0]["detectable"] is None


def test_resamples_are_lowered_where_all_pairs_need_too_many_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "FEWEST_RESAMPLES", 10)
    monkeypatch.setattr(bootstrap, "MOST_SUMS", 2_000)
    document = asked(F1, rows(1), rows(2), rows(3))
    # two terms of each of three systems, and three pairs
    assert document["pairs"][0]["ci_simultaneous"]["resamples"] == 2_000 // (2 * 3 + 3)
    assert any("Resamples lowered from 400 to 222" in note for note in document["notes"])
    pair = asked(F1, rows(1), rows(2), seed_of=of_names)["pairs"][0]
    among = asked(F1, rows(1), rows(2), rows(3), seed_of=of_names)["pairs"][0]
    assert pair["ci"] == among["ci"]
