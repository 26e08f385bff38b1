"""Systems of several training runs: one row with their mean, one candidate with their runs, and no way to pick runs."""

from __future__ import annotations

import json
from statistics import fmean, stdev
from typing import Any

import pytest

from service.caller import Caller
from service.contract.submissions import SubmissionsQuery
from service.errors import Unprocessable
from service.policy.figures import rounded_score
from service.store.boards import SystemMember
from service.store.submissions import SYSTEM, BoardEntry
from service.usecases.boards.ranking import systems_together
from service.usecases.submissions.submissions import delete_submission, list_submissions
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, SLUG, TWO_PARTS, Task, column, once, spoilt
from treescore.evaluation.benchmark import lacked_by_all_runs


def las(*wrong: int) -> float:
    return fmean((72 - each) / 72 for each in wrong)


def runs(task: Task, team: Caller, name: str, *wrong: int) -> list[str]:
    """The training runs of a system, with so many wrong words."""
    sent = [task.submit(team, spoilt(wrong[0]), name=name)]
    sent += [task.submit(team, spoilt(each), name=f"{name}-{each}", run_of=name) for each in wrong[1:]]
    task.settle()
    return sent


def behind(task: Task, caller: Caller = ORGANISER) -> dict[str, Any]:
    return task.comparison(caller=caller)


def entry(name: str, value: float | None, *, chosen: bool = False) -> BoardEntry:
    return BoardEntry(name, "t", SYSTEM, chosen, value, [10])


def member(name: str, system: str, value: float | None, **more: Any) -> SystemMember:
    return SystemMember(**{"id": name, "system": system, "deleted": False, "withdrawn": False, "value": value,
                     "covered": [10], "lacking": [], **more})  # fmt: skip


def test_a_row_has_the_mean_of_its_runs_and_their_spread(board: Task) -> None:
    lyon, prague = board.team("lyon"), board.team("prague")
    sent = runs(board, lyon, "biaffine", 6, 2, 4)
    runs(board, prague, "arc", 8)
    document = board.leaderboard()
    first, second = document["rows"]
    assert (first["submission"], first["name"]) == (sent[0], "biaffine")
    assert first["score"] == first["scores"]["attachment.las"] == rounded_score(las(6, 2, 4))
    assert first["runs"] == {"count": 3, "sd": rounded_score(stdev([las(6), las(2), las(4)]))}
    assert second["runs"] is None
    assert column(document, "considered") == [1, 1]
    assert first["ci95"]["low"] < first["score"] <= first["ci95"]["high"]
    system = next(each for each in behind(board)["systems"] if each["name"] == sent[0])
    assert system["runs"]["count"] == 3
    assert sorted(system["runs"]["scores"]) == sorted([las(6), las(2), las(4)])


def test_pick_is_among_systems_and_only_others_are_considered(board: Task) -> None:
    lyon = board.team("lyon")
    good = runs(board, lyon, "good", 5, 3)
    mixed = runs(board, lyon, "mixed", 0, 9)
    runs(board, board.team("prague"), "arc", 8)
    document = board.leaderboard()
    assert column(document, "submission")[0] == good[0]
    # the two runs of the other system count one by one: the team saw both scores
    assert column(document, "considered") == [3, 1]
    all_of_them = board.leaderboard(ORGANISER, pick="all")
    assert column(all_of_them, "submission")[:2] == [good[0], mixed[0]]


def test_withdrawing_bad_runs_does_not_lift_the_mean(board: Task) -> None:
    lyon = board.team("lyon")
    sent = runs(board, lyon, "biaffine", 9, 1, 2)
    runs(board, board.team("prague"), "arc", 8)
    board.change(lyon, sent[0], withdrawn=True)
    board.settle()
    row = board.leaderboard()["rows"][0]
    assert (row["submission"], row["score"], row["runs"]["count"]) == (sent[1], rounded_score(las(9, 1, 2)), 3)
    for each in sent[1:]:
        board.change(lyon, each, withdrawn=True)
    board.settle()
    assert column(board.leaderboard(), "team") == ["prague"]


def test_a_system_of_which_a_run_was_deleted_is_several_submissions(board: Task) -> None:
    lyon = board.team("lyon")
    sent = runs(board, lyon, "biaffine", 9, 1, 2)
    runs(board, board.team("prague"), "arc", 8)
    delete_submission(board.context, lyon, sent[0])
    board.settle()
    row = board.leaderboard()["rows"][0]
    assert (row["submission"], row["score"], row["runs"]) == (sent[1], rounded_score(las(1)), None)
    assert row["considered"] == 3
    assert behind(board)["pairs"][0]["p_unselected"] is not None
    assert board.shown(lyon, sent[1])["run_of"] == sent[0]


def test_tries_that_are_called_runs_of_one_system_are_considered_for_the_next(board: Task) -> None:
    lyon = board.team("lyon")
    runs(board, lyon, "tries", 9, 3, 8, 7)
    runs(board, lyon, "found", 2)
    runs(board, board.team("prague"), "arc", 8)
    document = board.leaderboard()
    assert (document["rows"][0]["name"], document["rows"][0]["considered"]) == ("found", 5)


def test_a_new_run_is_a_new_question(board: Task) -> None:
    lyon = board.team("lyon")
    runs(board, lyon, "biaffine", 4, 2)
    runs(board, board.team("prague"), "arc", 8)
    before = board.leaderboard()["significance"]["comparison"]
    board.submit(lyon, spoilt(5), run_of="biaffine")
    board.settle()
    after = board.leaderboard()
    assert after["significance"]["comparison"] != before
    assert after["rows"][0]["score"] == rounded_score(las(4, 2, 5))
    assert {each["name"]: each.get("runs", {}).get("count") for each in behind(board)["systems"]} == {
        after["rows"][0]["submission"]: 3, after["rows"][1]["submission"]: None,
    }  # fmt: skip


def test_a_submission_says_of_which_it_is_a_run_and_uses_quota(board: Task) -> None:
    board.patch(quota={"scored_per_day": 3})
    lyon = board.team("lyon")
    sent = runs(board, lyon, "biaffine", 4, 2)
    assert board.shown(lyon, sent[1])["quota"]["scored_per_day"]["left"] == 1
    board.submit(lyon, "no treebank\n", name="broken", run_of="biaffine")
    runs(board, ORGANISER, "udpipe", 7, 5)
    # one that failed is none, and baselines have them too
    assert column(board.leaderboard(), "role") == ["system", "baseline"]
    assert [row["runs"]["count"] for row in board.leaderboard()["rows"]] == [2, 2]
    assert column(board.leaderboard(), "score") == [rounded_score(las(4, 2)), rounded_score(las(7, 5))]
    board.change(lyon, sent[0], name="deep biaffine")
    assert [board.shown(lyon, each)["run_of"] for each in sent] == [None, "deep biaffine"]
    listed = list_submissions(board.context, lyon, SLUG, SubmissionsQuery()).items
    assert [each["run_of"] for each in listed] == ["deep biaffine", "deep biaffine", None]


def test_what_is_no_run_is_refused_and_costs_nothing(board: Task) -> None:
    lyon = board.team("lyon")
    sent = runs(board, lyon, "biaffine", 4, 2)
    for each in (7, 8):
        board.submit(lyon, spoilt(each), name="twice")
    board.submit(board.team("prague"), spoilt(6), name="rival")
    before = board.shown(lyon, sent[0])["quota"]["scored_total"]["used"]
    for name, wrong, code, pointer in (
        ("unknown", 1, "unknown-system", "/run_of"),
        ("rival", 1, "unknown-system", "/run_of"),
        ("biaffine-2", 1, "run-of-a-run", "/run_of"),
        ("twice", 1, "ambiguous-system", "/run_of"),
        ("biaffine", 2, "equal-run", "/outputs"),
        ("biaffine", 4, "equal-run", "/outputs"),
    ):
        with pytest.raises(Unprocessable) as refused:
            board.submit(lyon, spoilt(wrong), name="new", run_of=name)
        assert [(each.code, each.pointer) for each in refused.value.problems] == [(code, pointer)]
    assert board.shown(lyon, sent[0])["quota"]["scored_total"]["used"] == before


@once
def both(task: Task) -> tuple[Caller, list[str], list[str]]:
    """Two systems of two teams, of two training runs each."""
    task.make(parts={"en": {"gold": LONG}})
    lyon = task.team("lyon")
    return lyon, runs(task, lyon, "a", 3, 5), runs(task, task.team("prague"), "b", 9, 10)


def test_two_systems_of_several_runs_are_tested_with_both_on_the_board_and_where_they_are_listed(task, both) -> None:
    lyon, a, b = both
    for document in (behind(task), task.compared(submissions=[*a, *b], alpha=0.1)):
        assert {system["name"]: system["runs"]["count"] for system in document["systems"]} == {a[0]: 2, b[0]: 2}
        assert any("both vary" in note for note in document["notes"])
        assert (document["pairs"][0]["p_kind"], "runs_test" in document["pairs"][0]) == ("t", True)
    assert len(task.compared(submissions=[*a, *b], runs="fixed")["pairs"]) == 1
    # those of one system are compared one by one
    assert [each["name"] for each in task.compared(lyon, submissions=a)["systems"]] == a


def test_random_runs_where_nobody_has_two_are_refused(board: Task) -> None:
    for team, wrong in (("lyon", 3), ("prague", 5)):
        runs(board, board.team(team), "a", wrong)
    with pytest.raises(Unprocessable) as refused:
        board.compared(runs="random")
    assert [(each.code, each.pointer) for each in refused.value.problems] == [("no-training-runs", "/runs")]


def test_rivals_see_the_number_of_runs_and_their_spread_and_no_other_ids(board: Task) -> None:
    sent = runs(board, board.team("lyon"), "a", 3, 5, 4)
    rival = board.team("prague")
    runs(board, rival, "b", 9, 10)
    body = json.dumps([behind(board, rival), behind(board, ANYONE), board.leaderboard(rival)])
    assert sent[0] in body
    assert not [each for each in sent[1:] if each in body]
    system = next(each for each in behind(board, rival)["systems"] if each["name"] == sent[0])
    assert set(system["runs"]) == {"count", "mean", "sd"}
    board.patch(feedback="rounded", rounding=0.01)
    assert column(board.leaderboard(rival), "runs") == [None, None]


def test_a_ladder_releases_submission_by_submission(board: Task) -> None:
    board.patch(leaderboard={"ladder": True})
    lyon = board.team("lyon")
    runs(board, lyon, "a", 9, 1)
    assert column(board.leaderboard(), "runs") == [None]


def test_a_part_that_one_run_lacks_is_not_missing_for_the_system(task: Task) -> None:
    task.make({**TWO_PARTS, "parts": {"en": {"gold": LONG}, "de": {"gold": LONG}}})
    lyon = task.team("lyon")
    first = task.submit(lyon, {"en": spoilt(2)}, name="a")
    task.submit(lyon, {"en": spoilt(3), "de": spoilt(1)}, name="a2", run_of="a")
    task.submit(task.team("prague"), {"en": spoilt(4)}, name="b")
    task.settle()
    row = next(each for each in task.leaderboard()["rows"] if each["team"] == "lyon")
    assert (row["submission"], row["tested"]) == (first, True)
    assert row["score"] == rounded_score(fmean([las(2) / 2, (las(3) + las(1)) / 2]))
    assert lacked_by_all_runs({"a": frozenset({1})}, ["a"], {"a": ["a", "a2"]}) == {}
    both = {"a": frozenset({0, 1}), "a2": frozenset({1})}
    assert lacked_by_all_runs(both, ["a"], {"a": ["a", "a2"]}) == {"a": frozenset({1})}


def test_one_undefined_run_leaves_the_system_without_a_score() -> None:
    (found,) = systems_together([entry("a", 0.5), entry("b", None)], [member("a", "a", 0.5), member("b", "a", None)])
    assert (found.value, found.spread, found.runs) == (None, None, ("a", "b"))


def test_a_system_is_chosen_by_any_of_its_runs_and_stands_where_its_newest_does() -> None:
    members = [member("a", "a", 0.5, covered=[9]), member("c", "a", 0.7)]
    found = systems_together([entry("a", 0.5), entry("b", 0.6), entry("c", 0.7, chosen=True)], members)
    assert [each.id for each in found] == ["b", "a"]
    assert (found[1].chosen, found[1].covered, found[1].value) == (True, (9,), pytest.approx(0.6))


def test_what_is_not_scored_under_the_revision_is_no_run() -> None:
    members = [member("a", "a", 0.5), member("b", "a", None, covered=None)]
    (found,) = systems_together([entry("a", 0.5)], members)
    assert (found.value, found.runs) == (0.5, ())
