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
    return {
        "higher_is_better": True,
        "systems": systems,
        "pairs": [pair],
        "clusters": {"kind": "separable", "cluster": [1] * size},
        "rank_ranges": [[1, size]] * size,
    }


@pytest.mark.parametrize("level", [Level.SCORES, Level.ITEMS])
def test_of_two_scores_that_are_shown_equal_nothing_tells_the_larger_one(level: Level):
    one = document(0.912_341, 0.912_339, 0.8, names="abc")
    other = document(0.912_341, 0.912_339, 0.8, names="bac")
    shown = gate.comparison_view(level, one)
    assert shown == gate.comparison_view(level, other)
    assert [system["rank"] for system in shown["systems"]] == [1, 1, 3]
    assert shown["pairs"][0]["better"] is None


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
