"""Who stands where: picks, ties, baselines, what is tested, intervals and clusters."""

from __future__ import annotations

from typing import Any

import pytest

from service.policy.gate import rounded
from service.store.submissions import BASELINE, SYSTEM
from service.usecases.boards.rows import TESTED, Entrant, family, picked, ranked, with_significance


def entrant(name: str, value: float | None, team: str | None = None, *, chosen: bool = False) -> Entrant:
    """A submission of a team; a baseline where there is none."""
    return Entrant(name, team, BASELINE if team is None else SYSTEM, chosen, value)


def ids(entrants: Any) -> list[str]:
    return [each.id for each in entrants]


TEAMS = [
    entrant("s1", 0.5, "a"),
    entrant("s2", 0.7, "b"),
    entrant("s3", 0.9, "a", chosen=False),
    entrant("s4", 0.9, "a"),
    entrant("s5", 0.6, "b", chosen=True),
    entrant("s6", None, "b"),
    entrant("s7", 0.4),
]


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        ("best", ["s3", "s2", "s7"]),
        ("last", ["s4", "s6", "s7"]),
        ("chosen", ["s4", "s5", "s7"]),
        ("all", ["s1", "s2", "s3", "s4", "s5", "s6", "s7"]),
    ],
)
def test_each_pick_takes_the_named_submission_of_each_team_and_every_baseline(pick: str, expected: list[str]) -> None:
    assert ids(picked(TEAMS, pick, higher_is_better=True)) == expected


def test_best_is_lowest_where_lower_is_better() -> None:
    assert ids(picked(TEAMS, "best", higher_is_better=False)) == ["s1", "s5", "s7"]


def test_ties_share_a_rank_baselines_have_none_and_unscored_rows_stand_last() -> None:
    rows = [
        entrant("x", None, "x"), entrant("a", 0.8, "a"), entrant("base", 0.85), entrant("b", 0.9, "b"),
        entrant("c", 0.8, "c"), entrant("d", 0.7, "d"),
    ]  # fmt: skip
    places = ranked(rows, higher_is_better=True)
    assert [(place.entrant.id, place.rank) for place in places] == [
        ("b", 1), ("base", None), ("a", 2), ("c", 2), ("d", 4), ("x", None),
    ]  # fmt: skip
    assert ranked(rows, higher_is_better=False)[-1].entrant.id == "x"


def test_ranks_see_the_last_digit() -> None:
    low = 0.1 + 0.2
    places = ranked([entrant("a", 0.3, "a"), entrant("b", low, "b")], higher_is_better=True)
    assert [(place.entrant.id, place.rank) for place in places] == [("b", 1), ("a", 2)]


def test_rounded_scores_tie_and_their_order_is_that_of_the_submissions() -> None:
    rows = [entrant("a", rounded(0.8349, 0.01), "a"), entrant("b", rounded(0.8251, 0.01), "b")]
    places = ranked(rows, higher_is_better=True)
    assert [(place.entrant.id, place.rank, place.entrant.value) for place in places] == [("a", 1, 0.83), ("b", 1, 0.83)]


def test_the_first_rows_and_the_baselines_are_tested() -> None:
    many = [entrant(f"s{at:03d}", 1 - at / 1000, f"t{at}") for at in range(TESTED + 5)]
    found = family(ranked([*many, entrant("base", 0.01), entrant("none", None)], higher_is_better=True))
    assert len(found) == TESTED + 1
    assert found[-1] == "base"
    assert f"s{TESTED:03d}" not in found


def pair(a: str, b: str, p: float, better: str | None = "a") -> dict[str, Any]:
    return {"a": a, "b": b, "p_adjusted": p, "significant": p <= 0.05, "better": better}


def test_intervals_and_clusters_leave_baselines_out() -> None:
    rows = [entrant("a", 0.9, "a"), entrant("base", 0.8), entrant("b", 0.7, "b"), entrant("c", 0.6, "c")]
    comparison = {
        "systems": [{"name": name} for name in ("a", "base", "b", "c")],
        "pairs": [
            pair("a", "b", 0.01), pair("a", "c", 0.01), pair("c", "b", 0.5, "b"), pair("a", "base", 0.2),
            pair("base", "b", 0.03), pair("base", "c", 0.03),
        ],
        "rank_ranges": [],
        "clusters": {"kind": "separable"},
    }  # fmt: skip
    found = with_significance(ranked(rows, higher_is_better=True), comparison)
    assert [place.rank_interval for place in found] == [(1, 1), None, (2, 3), (2, 3)]
    assert [place.cluster for place in found] == [1, None, 2, 2]
    assert [place.p_next for place in found] == [0.01, 0.03, 0.5, None]


def test_rows_that_were_not_tested_show_nothing() -> None:
    rows = [entrant("a", 0.9, "a"), entrant("b", 0.7, "b"), entrant("c", 0.6, "c")]
    comparison = {
        "systems": [{"name": "a"}, {"name": "c"}], "pairs": [pair("a", "c", 0.01)], "rank_ranges": [],
        "clusters": {"kind": "separable"},
    }  # fmt: skip
    found = with_significance(ranked(rows, higher_is_better=True), comparison)
    assert (found[1].rank_interval, found[1].cluster, found[1].p_next, found[1].tested) == (None, None, None, False)
    assert found[0].p_next is None
    assert [found[0].cluster, found[2].cluster] == [1, 2]
