"""Comparisons while gold is secret: what is shown equal is in no order that exact scores decide."""

from __future__ import annotations

from typing import Any

import pytest

from service.policy import gate
from service.policy.gate import Level


def document(*scores: float, names: str = "abc") -> dict[str, Any]:
    """A comparison of systems from best to worst, none of them significantly better."""
    size = len(scores)
    systems = [
        {"name": name, "score": score, "rank": rank, "cluster": 1, "rank_interval": [1, size], "ci": None}
        for rank, (name, score) in enumerate(zip(names, scores, strict=False), 1)
    ]
    first, second = sorted(systems[:2], key=lambda system: system["name"])
    difference = first["score"] - second["score"]
    better = "a" if difference > 0 else "b"
    pair = {"a": first["name"], "b": second["name"], "difference": difference, "better": better, "significant": False}
    pair |= dict.fromkeys(("ci_adjusted", "detectable", "noninferiority"))
    return {
        "score": "attachment.las", "higher_is_better": True, "test": "permutation", "alternative": "two-sided",
        "units": "sentence", "documents": 9, "alpha": 0.05, "correction": "holm", "signature": {},
        "systems": systems,
        "pairs": [pair],
        "clusters": {"kind": "separable", "cluster": [1] * size},
        "rank_ranges": [[1, size]] * size,
    }  # fmt: skip


@pytest.mark.parametrize("level", [Level.SCORES, Level.ITEMS])
def test_of_two_scores_that_are_shown_equal_nothing_tells_the_larger_one(level: Level):
    one = document(0.912_341, 0.912_339, 0.8, names="abc")
    other = document(0.912_341, 0.912_339, 0.8, names="bac")
    shown = gate.comparison_view(level, one)
    assert shown == gate.comparison_view(level, other)
    assert [system["rank"] for system in shown["systems"]] == [1, 1, 3]
    assert shown["pairs"][0]["better"] is None


def test_bounds_have_no_more_decimals_than_their_difference():
    whole = document(0.912_341, 0.912_322)
    bounds = {"low": -0.000_019_2, "high": 0.000_057_6}
    whole["pairs"][0] |= {"ci": bounds, "ci_adjusted": bounds}
    pair = gate.comparison_view(Level.SCORES, whole)["pairs"][0]
    shown = {"low": -0.0001, "high": 0.0001}
    assert (pair["difference"], pair["ci"], pair["ci_adjusted"]) == (0.0, shown, shown | {"level": None})


def test_clusters_and_rank_ranges_stay_with_their_systems():
    whole = document(0.912_341, 0.912_339, 0.8, names="bac")
    whole["clusters"]["cluster"], whole["rank_ranges"] = [1, 2, 3], [[1, 1], [2, 2], [3, 3]]
    shown = gate.comparison_view(Level.SCORES, whole)
    assert [system["name"] for system in shown["systems"]] == ["a", "b", "c"]
    assert (shown["clusters"]["cluster"], shown["rank_ranges"]) == ([2, 1, 3], [[2, 2], [1, 1], [3, 3]])


def test_a_lower_score_that_is_better_comes_first():
    whole = {**document(0.1, 0.2, 0.3), "higher_is_better": False}
    assert [system["rank"] for system in gate.comparison_view(Level.SCORES, whole)["systems"]] == [1, 2, 3]


def test_organisers_see_exact_ranks():
    whole = document(0.912_341, 0.912_339)
    assert gate.comparison_view(Level.GOLD, whole) == whole


TESTED: dict[str, Any] = {
    "a": "sub_1", "b": "sub_2", "difference": 0.0123456, "difference_tested": -0.0987654, "better": "a",
    "significant": True, "p": 0.0012345, "p_kind": "saddlepoint", "p_error": 0.0123,
    "se": 0.00412345, "df": 17.2, "divisor": 3, "differing_sentences": 41, "p_parts": 0.0312345,
    "p_unselected": 1.5e-9, "p_adjusted": 0.0037, "null_swaps_log2": 21, "smallest_p": 2**-20, "log10_p": -2.9,
    "detectable": {"difference": 0.0223456, "power": 0.8, "alpha": 0.05 / 3, "units": 57},
    "ci": None,
    "ci_adjusted": {"level": 0.95, "low": 0.0011234, "high": 0.0234567, "method": "t"},
    "noninferiority": {
        "margin": 0.015, "sub_1": {"p": 0.0001234, "p_adjusted": 0.0002468, "established": True, "units": 57},
        "sub_2": {"p": 0.98765, "p_adjusted": 1.0, "established": False, "units": 57}, "units": 57,
    },
}  # fmt: skip


def test_every_new_figure_of_a_pair_is_rounded_and_nothing_counts_units():
    """Levels of intervals are hidden: a pair's divisor, and with picking the digits of its p, follow from them."""
    whole = {**document(0.91, 0.88), "pairs": [TESTED], "selection": "none", "unit_count": 57}
    shown = gate.comparison_view(Level.SCORES, whole)
    assert shown["selection"] == "none"
    assert not [note for note in shown["notes"] if "57" in note or "41" in note]
    assert "these documents" in shown["notes"][0]
    assert "unit_count" not in shown
    assert shown["pairs"] == [
        {
            "a": "sub_1", "b": "sub_2", "difference": 0.0123, "difference_tested": -0.0988, "better": "a",
            "significant": True, "p": 0.0012, "p_parts": 0.031, "p_unselected": 1e-4, "p_adjusted": 0.0037, "ci": None,
            "detectable": {"difference": 0.0223, "power": 0.8, "alpha": None},
            "ci_adjusted": {"level": None, "low": 0.0011, "high": 0.0235, "method": "t"},
            "noninferiority": {
                "margin": 0.015, "sub_1": {"p": 1.2e-4, "p_adjusted": 2.5e-4, "established": True},
                "sub_2": {"p": 0.99, "p_adjusted": 1.0, "established": False},
            },
        }
    ]  # fmt: skip
    assert gate.comparison_view(Level.GOLD, whole) == whole


def test_where_parts_are_hidden_no_p_is_a_law_of_their_differences():
    pair = gate.comparison_view(Level.SCORES, {**document(0.91, 0.88), "pairs": [TESTED]}, by_part=False)["pairs"][0]
    assert (pair["p"], pair["p_parts"]) == (0.0012, None)


def test_what_was_not_computed_is_null():
    names = ("detectable", "ci_adjusted", "noninferiority", "p_parts", "p_unselected", "difference_tested")
    untested = {**TESTED, **dict.fromkeys(names)}
    view = gate.comparison_view(Level.SCORES, {**document(0.91, 0.88), "pairs": [untested]})["pairs"][0]
    assert [view[name] for name in names] == [None] * len(names)
