"""Comparisons of rows that their teams picked from several submissions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treescore.core.scores import Score, ratio_score
from treescore.significance import Candidate, Settings, compare
from treescore.significance.question import SeedOf

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "inference.json").read_text())
ACCURACY: Score = ratio_score("accuracy", "The share that is right.", "right", "all")
ERRORS: Score = ratio_score("error", "The share that is wrong.", "wrong", "all", higher_is_better=False)


def rows(right: list[int], of: list[int]) -> Any:
    return np.array([right, of], np.int64).T


def mean(right: list[int]) -> float:
    return sum(right) / len(right)


def team(case: dict[str, Any], **more: Any) -> Candidate:
    """The best submission of a team, picked among all of them."""
    every = [rows(right, case["total"]) for right in case["submissions"]]
    best = max(range(len(every)), key=lambda at: mean(case["submissions"][at]))
    return Candidate("best", (every[best],), considered=tuple(every), **more)


def pair(
    *candidates: Candidate, seed_of: SeedOf | None = None, names: tuple[str, str] = ("right", "all"), **settings: Any
) -> Any:
    score = ACCURACY if names[0] == "right" else ERRORS
    return compare(score.name, score, names, candidates, Settings(**settings), seed_of=seed_of)["pairs"][0]


@pytest.mark.parametrize("seed_of", [None, lambda _: 7])
@pytest.mark.parametrize("case", GOLDEN["selection"]["cases"])
def test_p_of_the_best_of_several_is_the_listed_one(case: dict[str, Any], seed_of: SeedOf | None) -> None:
    opponent = Candidate("opponent", (rows(case["opponent"], case["total"]),))
    for both in ((team(case), opponent), (opponent, team(case))):
        found = pair(*both, seed_of=seed_of)
        assert found["p"] == pytest.approx(case["expected"]["p"], rel=1e-12)
        assert found["p_unselected"] == pytest.approx(case["expected"]["p_unselected"], rel=1e-12)
        assert found["p_kind"] == "exact"


def test_only_the_picking_of_the_row_ahead_counts() -> None:
    case = GOLDEN["selection"]["cases"][0]
    every = [rows(right, case["total"]) for right in case["submissions"]]
    worst = min(range(len(every)), key=lambda at: mean(case["submissions"][at]))
    behind = Candidate("behind", (every[worst],), considered=tuple(every))
    ahead = Candidate("ahead", (rows(case["total"], case["total"]),))
    found = pair(behind, ahead)
    assert found["better"] == "b"
    assert found["p_unselected"] is None
    assert found["p"] == pair(Candidate("behind", (every[worst],)), ahead)["p"]


def test_a_submission_without_counts_has_the_tail_of_the_row_ahead() -> None:
    case = GOLDEN["selection"]["cases"][1]
    opponent = Candidate("opponent", (rows(case["opponent"], case["total"]),))
    known, unknown = pair(team(case), opponent), pair(team(case, unknown=2), opponent)
    assert unknown["p"] == pytest.approx(known["p"] + 2 * known["p_unselected"], rel=1e-12)
    alone = pair(Candidate("best", team(case).runs, considered=team(case).runs, unknown=1), opponent)
    assert alone["p"] == pytest.approx(2 * alone["p_unselected"], rel=1e-12)


def test_one_submission_is_not_picked() -> None:
    case = GOLDEN["selection"]["cases"][0]
    best = Candidate("best", team(case).runs, considered=team(case).runs)
    opponent = Candidate("opponent", (rows(case["opponent"], case["total"]),))
    found = pair(best, opponent)
    assert (found["p"], found["p_unselected"]) == (pair(Candidate("best", best.runs), opponent)["p"], None)


@pytest.mark.parametrize("settings", [{"alternative": "greater"}, {"test": "mcnemar"}, {"test": "compare_pl"}])
def test_only_the_two_sided_permutation_test_allows_for_picking(settings: dict[str, Any]) -> None:
    case = GOLDEN["selection"]["cases"][0]
    opponent = Candidate("opponent", (rows(case["opponent"], case["total"]),))
    assert pair(team(case), opponent, **settings)["p_unselected"] is None


def test_whole_parts_as_units_have_k_times_p() -> None:
    case = GOLDEN["selection"]["cases"][0]
    parts = np.arange(len(case["total"]))
    opponent = Candidate("opponent", (rows(case["opponent"], case["total"]),))
    settings = Settings(unit="part")
    document = compare("accuracy", ACCURACY, ("right", "all"), (team(case), opponent), settings, parts=parts)
    found = document["pairs"][0]
    assert found["p"] == pytest.approx(min(1.0, 5 * found["p_unselected"]), rel=1e-12)
    assert "p allows for the picking" in document["assumed"]


def test_an_answer_of_before_is_taken_with_both_of_its_p() -> None:
    case = GOLDEN["selection"]["cases"][0]
    opponent = Candidate("opponent", (rows(case["opponent"], case["total"]),))
    question = ("accuracy", ACCURACY, ("right", "all"), (team(case), opponent), Settings())
    first = compare(*question, seed_of=lambda _: 7)
    first["pairs"][0]["p"] = 0.25
    again = compare(*question, seed_of=lambda _: 7, earlier=[first])
    assert (again["pairs"][0]["p"], again["pairs"][0]["p_unselected"]) == (0.25, case["expected"]["p_unselected"])
