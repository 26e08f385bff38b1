"""Who stands where: picks, ties, baselines, what is tested, intervals and clusters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.policy.figures import rounded_to_step
from service.store.submissions import BASELINE, SYSTEM, BoardEntry
from service.usecases.boards.ranking import TESTED, family, picked, ranked, with_significance


def entry(name: str, value: float | None, team: str | None = None, *, chosen: bool = False) -> BoardEntry:
    """A submission of a team; a baseline where there is none."""
    return BoardEntry(name, team, BASELINE if team is None else SYSTEM, chosen, value)


def ids(entries: Any) -> list[str]:
    return [each.id for each in entries]


TEAMS = [
    entry("s1", 0.5, "a"),
    entry("s2", 0.7, "b"),
    entry("s3", 0.9, "a", chosen=False),
    entry("s4", 0.9, "a"),
    entry("s5", 0.6, "b", chosen=True),
    entry("s6", None, "b"),
    entry("s7", 0.4),
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
        entry("x", None, "x"), entry("a", 0.8, "a"), entry("base", 0.85), entry("b", 0.9, "b"),
        entry("c", 0.8, "c"), entry("d", 0.7, "d"),
    ]  # fmt: skip
    ordered = ranked(rows, higher_is_better=True)
    assert [(row.entry.id, row.rank) for row in ordered] == [
        ("b", 1), ("base", None), ("a", 2), ("c", 2), ("d", 4), ("x", None),
    ]  # fmt: skip
    assert ranked(rows, higher_is_better=False)[-1].entry.id == "x"


def test_ranks_see_the_last_digit() -> None:
    low = 0.1 + 0.2
    ordered = ranked([entry("a", 0.3, "a"), entry("b", low, "b")], higher_is_better=True)
    assert [(row.entry.id, row.rank) for row in ordered] == [("b", 1), ("a", 2)]


def test_rounded_scores_tie_and_their_order_is_that_of_the_submissions() -> None:
    rows = [entry("a", rounded_to_step(0.8349, 0.01), "a"), entry("b", rounded_to_step(0.8251, 0.01), "b")]
    ordered = ranked(rows, higher_is_better=True)
    assert [(row.entry.id, row.rank, row.entry.value) for row in ordered] == [("a", 1, 0.83), ("b", 1, 0.83)]


def test_the_first_rows_and_the_baselines_are_tested() -> None:
    many = [entry(f"s{at:03d}", 1 - at / 1000, f"t{at}") for at in range(TESTED + 5)]
    found = family(ranked([*many, entry("base", 0.01), entry("none", None)], higher_is_better=True))
    assert len(found) == TESTED + 1
    assert found[-1] == "base"
    assert f"s{TESTED:03d}" not in found


def pair(a: str, b: str, p: float, better: str | None = "a") -> dict[str, Any]:
    return {"a": a, "b": b, "p_adjusted": p, "significant": p <= 0.05, "better": better}


def test_intervals_and_clusters_leave_baselines_out() -> None:
    rows = [entry("a", 0.9, "a"), entry("base", 0.8), entry("b", 0.7, "b"), entry("c", 0.6, "c")]
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
    assert [row.rank_interval for row in found] == [(1, 1), None, (2, 3), (2, 3)]
    assert [row.cluster for row in found] == [1, None, 2, 2]
    assert [row.p_next for row in found] == [0.01, 0.03, 0.5, None]


def test_rows_that_were_not_tested_show_nothing() -> None:
    rows = [entry("a", 0.9, "a"), entry("b", 0.7, "b"), entry("c", 0.6, "c")]
    comparison = {
        "systems": [{"name": "a"}, {"name": "c"}], "pairs": [pair("a", "c", 0.01)], "rank_ranges": [],
        "clusters": {"kind": "separable"},
    }  # fmt: skip
    found = with_significance(ranked(rows, higher_is_better=True), comparison)
    assert (found[1].rank_interval, found[1].cluster, found[1].p_next, found[1].tested) == (None, None, None, False)
    assert found[0].p_next is None
    assert [found[0].cluster, found[2].cluster] == [1, 2]
    assert [found[0].rank_interval, found[2].rank_interval] == [(1, 2), (2, 3)]


def test_rank_intervals_reach_over_rows_that_were_not_tested() -> None:
    # d and e stand below the tested rows; the baseline has no rank, and f no score
    rows = [
        entry("a", 0.9, "a"), entry("b", 0.8, "b"), entry("base", 0.75), entry("c", 0.7, "c"), entry("d", 0.6, "d"),
        entry("e", 0.5, "e"), entry("f", None, "f"),
    ]  # fmt: skip
    comparison = {
        "systems": [{"name": name} for name in ("a", "b", "base", "c")],
        "pairs": [
            pair("a", "b", 0.2), pair("a", "c", 0.01), pair("b", "c", 0.3), pair("a", "base", 0.01),
            pair("b", "base", 0.01), pair("base", "c", 0.01),
        ],
        "rank_ranges": [],
        "clusters": {"kind": "separable"},
    }  # fmt: skip
    found = with_significance(ranked(rows, higher_is_better=True), comparison)
    assert [row.rank_interval for row in found] == [(1, 4), (1, 5), None, (2, 5), None, None, None]
    assert [row.cluster for row in found] == [1, 1, None, 1, None, None, None]


def test_the_only_tested_row_may_have_any_rank() -> None:
    rows = [entry("a", 0.9, "a"), entry("b", 0.7, "b")]
    comparison = {"systems": [{"name": "a"}], "pairs": [], "rank_ranges": [], "clusters": None}
    found = with_significance(ranked(rows, higher_is_better=True), comparison)
    assert [row.rank_interval for row in found] == [(1, 2), None]


def test_one_sided_tests_give_no_rank_intervals() -> None:
    rows = [entry("a", 0.9, "a"), entry("b", 0.7, "b")]
    comparison = {
        "systems": [{"name": "a"}, {"name": "b"}], "pairs": [pair("a", "b", 0.01)], "rank_ranges": None,
        "clusters": None,
    }  # fmt: skip
    found = with_significance(ranked(rows, higher_is_better=True), comparison)
    assert [(row.rank_interval, row.cluster, row.tested) for row in found] == [(None, None, True)] * 2


@given(st.data())
def test_a_rank_interval_holds_the_rank_that_scores_give(data: st.DataObject) -> None:
    """It does whatever is significant, as long as no worse row is significantly better."""
    scores = data.draw(st.lists(st.sampled_from([0.2, 0.4, 0.5, 0.7, None]), min_size=1, max_size=7))
    rows = ranked([entry(f"s{at}", score, f"t{at}") for at, score in enumerate(scores)], higher_is_better=True)
    with_rank = [row for row in rows if row.rank is not None]
    tested = [row for row in with_rank if data.draw(st.booleans())]
    pairs = [
        pair(first.entry.id, second.entry.id, 0.01 if data.draw(st.booleans()) else 0.5)
        for at, first in enumerate(tested)
        for second in tested[at + 1 :]
        if first.entry.value != second.entry.value
    ]
    systems = [{"name": row.entry.id} for row in tested]
    comparison = {"systems": systems, "pairs": pairs, "rank_ranges": [], "clusters": {"kind": "separable"}}
    for row in with_significance(rows, comparison):
        assert (row.rank_interval is not None) == row.tested == (row.entry.id in {each["name"] for each in systems})
        if row.rank_interval is not None:
            low, high = row.rank_interval
            assert 1 <= low <= row.rank <= high <= len(with_rank)
            assert low == 1 + sum(each["significant"] and each["b"] == row.entry.id for each in pairs)
            assert high == len(with_rank) - sum(each["significant"] and each["a"] == row.entry.id for each in pairs)
