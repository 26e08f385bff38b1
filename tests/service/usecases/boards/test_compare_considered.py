"""Rows that teams picked from several submissions: what counts, what p says, and what nobody else learns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from service.caller import Caller
from service.policy.figures import rounded_p
from service.store import comparisons
from service.usecases.comparison_views import view_comparison
from service.usecases.submissions.submissions import delete_submission
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, Task, column, once, spoilt

CASE: dict[str, Any] = {
    "total": [12] * 11, "opponent": [6, 4, 8, 9, 3, 8, 2, 9, 5, 9, 9],
    "submissions": [
        [11, 5, 11, 3, 7, 9, 1, 6, 4, 10, 6], [11, 6, 10, 6, 9, 9, 6, 7, 5, 7, 10],
        [8, 6, 10, 9, 7, 8, 10, 9, 7, 10, 7], [9, 7, 7, 9, 2, 10, 1, 9, 6, 8, 8], [9, 7, 9, 9, 3, 12, 9, 6, 6, 8, 10],
    ],
}  # fmt: skip


def words(right: Sequence[int], of: Sequence[int]) -> str:
    """Sentences of so many words, so many of them with the right relation."""
    sentences = []
    for good, total in zip(right, of, strict=True):
        lines = [
            f"{at}\tw{at}\t_\tX\t_\t_\t{at - 1}\t{'root' if at == 1 else 'dep' if at <= good else 'obj'}\t_\t_"
            for at in range(1, total + 1)
        ]
        lines[0] = lines[0] if good else lines[0].replace("root", "root:none")
        sentences.append("\n".join(lines) + "\n\n")
    return "".join(sentences)


def gold(case: dict[str, Any]) -> str:
    return words(case["total"], case["total"])


class Case:
    """A board on which `ahead` has sent several submissions, `behind` one."""

    def __init__(self, task: Task) -> None:
        self.task, self.case = task, CASE
        task.make(parts={"en": {"gold": gold(self.case)}}, feedback="scores")
        self.ahead, self.behind = task.team("ahead"), task.team("behind")
        self.sent = [self.send(self.ahead, right) for right in self.case["submissions"]]
        self.opponent = self.send(self.behind, self.case["opponent"])
        task.settle()
        best = max(self.case["submissions"], key=sum)
        self.best = self.sent[self.case["submissions"].index(best)]

    def send(self, caller: Caller, right: Sequence[int]) -> str:
        return self.task.submit(caller, words(right, self.case["total"]))

    def compared(self, caller: Caller = ORGANISER) -> dict[str, Any]:
        """The comparison behind the board."""
        return self.task.comparison(caller=caller)

    def pair(self) -> dict[str, Any]:
        return self.compared()["pairs"][0]


@once
def case(task: Task) -> Case:
    return Case(task)


def test_p_of_a_board_allows_for_the_picking(case: Case) -> None:
    compared, pair = case.compared(), case.pair()
    assert pair["p"] == pytest.approx(len(case.sent) * pair["p_unselected"], rel=1e-12)
    board = case.task.leaderboard()
    assert board["significance"]["selection"] == compared["selection"] == "adjusted"
    assert column(board, "considered") == [len(case.sent), 1]
    assert board["rows"][0]["p_next"] == rounded_p(pair["p"])


def test_withdrawn_and_deleted_submissions_count_as_before(case: Case) -> None:
    before = case.pair()
    board = case.task.leaderboard()["significance"]["comparison"]
    unpicked = [each for each in case.sent if each != case.best]
    case.task.change(case.ahead, unpicked[0], withdrawn=True)
    case.task.settle()
    assert case.task.leaderboard()["significance"]["comparison"] == board
    delete_submission(case.task.context, case.ahead, unpicked[1])
    case.task.settle()
    assert case.task.leaderboard()["significance"]["comparison"] == board
    assert column(case.task.leaderboard(), "considered") == [5, 1]
    assert case.pair() == before


def test_deleting_what_was_not_picked_ends_no_comparison_of_others(case: Case) -> None:
    asked = case.task.compared(case.behind, submissions=[case.best, case.opponent])
    delete_submission(case.task.context, case.ahead, next(each for each in case.sent if each != case.best))
    case.task.settle()
    assert case.task.comparison(asked["id"], case.behind) == asked


def test_p_tells_nothing_of_what_a_ladder_holds(task: Task) -> None:
    task.make(parts={"en": {"gold": LONG}}, leaderboard={"ladder": True})
    lyon, oslo = task.team("lyon"), task.team("oslo")
    task.scored(lyon, spoilt(2))
    task.scored(oslo, spoilt(11))
    held = task.scored(lyon, spoilt(2))
    task.settle()
    assert task.shown(lyon, held)["released"] is False
    board = task.leaderboard()
    assert column(board, "considered") == [2, 1]
    pair = task.comparison()["pairs"][0]
    assert pair["p"] == pytest.approx(2 * pair["p_unselected"], rel=1e-12)


def test_a_new_submission_that_is_not_picked_is_a_new_question(case: Case) -> None:
    before, board = case.pair(), case.task.leaderboard()
    name = board["significance"]["comparison"]
    case.send(case.ahead, [10, 7, 9, 9, 5, 11, 8, 7, 6, 9, 6])
    case.task.work()
    early = case.task.leaderboard()
    assert early["significance"]["pending"] is True
    # until then the tests stay as they were, with the number that they allow for
    assert early["rows"][0]["p_next"] == board["rows"][0]["p_next"]
    assert column(early, "considered") == column(board, "considered")
    case.task.settle()
    assert column(case.task.leaderboard(), "submission") == [case.best, case.opponent]
    assert case.task.leaderboard()["significance"]["comparison"] != name
    assert case.pair()["p"] > before["p"]


def test_what_failed_and_what_the_row_behind_was_picked_from_change_no_p(case: Case) -> None:
    before = case.pair()
    case.task.submit(case.ahead, "not a treebank\n")
    case.send(case.behind, [1] * 11)
    case.task.settle()
    assert case.pair() == before
    assert column(case.task.leaderboard(), "considered") == [5, 2]


def test_all_and_the_last_with_nothing_taken_back_are_not_picked_by_scores(case: Case) -> None:
    for pick in ("last", "all"):
        document = case.task.compared(pick=pick)
        assert all(pair["p_unselected"] is None for pair in document["pairs"])
        assert document["selection"] == "none"
        assert case.task.leaderboard(ORGANISER, pick=pick)["significance"]["selection"] == "none"
    # the last of what is left, once something was taken back, was picked
    last = case.task.leaderboard(ORGANISER, pick="last")
    assert column(last, "considered") == [1, 1]
    case.task.change(case.ahead, case.sent[-1], withdrawn=True)
    document, last = case.task.compared(pick="last"), case.task.leaderboard(ORGANISER, pick="last")
    assert last["significance"]["selection"] == "adjusted"
    assert sorted(column(last, "considered")) == [1, 5]
    assert document["pairs"][0]["p"] > document["pairs"][0]["p_unselected"]
    case.task.patch(leaderboard={"pick": "chosen"})
    case.task.change(case.ahead, case.best, chosen=True)
    case.task.settle()
    assert case.task.leaderboard()["significance"]["selection"] == "adjusted"
    assert case.pair()["p"] == pytest.approx(5 * case.pair()["p_unselected"], rel=1e-12)


def test_two_of_a_teams_own_are_compared_as_they_are(case: Case) -> None:
    own = [case.best, next(each for each in case.sent if each != case.best)]
    document = case.task.compared(case.ahead, submissions=own)
    assert document["pairs"][0]["p_unselected"] is None
    assert document["selection"] == "none"


def test_rows_that_are_listed_are_tested_as_on_the_board_and_an_organisers_settings_as_they_are(case: Case) -> None:
    rows = [case.best, case.opponent]
    asked = case.task.compared(case.behind, submissions=rows)
    assert asked["id"] == case.task.leaderboard()["significance"]["comparison"]
    chosen, whole = case.task.compared(submissions=rows, alpha=0.1), case.task.compared(alpha=0.1)
    assert chosen["pairs"][0]["p"] == whole["pairs"][0]["p_unselected"] == case.pair()["p_unselected"]
    assert (chosen["selection"], whole["selection"]) == ("none", "adjusted")
    assert whole["pairs"][0]["p"] == case.pair()["p"]


def test_rivals_learn_how_many_were_considered_and_which_from_nothing(case: Case) -> None:
    context = case.task.context
    name = case.task.ask(case.behind, submissions=[case.best, case.opponent])
    case.task.settle()
    unpicked = [each for each in case.sent if each != case.best]
    for caller in (case.behind, ANYONE):
        bodies = [view_comparison(context, caller, name, form).body for form in ("json", "csv", "markdown", "latex")]
        shown = b"".join(bodies).decode() + json.dumps(case.task.leaderboard(caller))
        assert not [each for each in unpicked if each in shown]


def test_p_is_rounded_for_rivals_who_below_the_level_scores_do_not_learn_how_many_were_considered(case: Case) -> None:
    pair = case.compared(case.behind)["pairs"][0]
    exact = case.pair()
    assert [pair[name] for name in ("p", "p_unselected")] == [rounded_p(exact[name]) for name in ("p", "p_unselected")]
    assert "how" not in pair
    case.task.patch(feedback="rounded")
    board = case.task.leaderboard()
    assert column(board, "considered") == [None, None]
    assert board["significance"]["selection"] is None


def test_a_frozen_board_considers_what_was_scored_by_then(case: Case) -> None:
    case.task.patch(leaderboard={"frozen_at": case.task.context.now().isoformat()})
    case.task.settle()
    before = case.task.leaderboard()
    case.send(case.ahead, [3] * 11)
    case.task.settle()
    after = case.task.leaderboard()
    assert column(after, "considered") == [5, 1]
    assert after["significance"]["comparison"] == before["significance"]["comparison"]
    assert after["rows"][0]["p_next"] == before["rows"][0]["p_next"]
    assert column(case.task.leaderboard(ORGANISER), "considered") == [6, 1]


def test_the_stored_question_says_how_many_were_considered(case: Case) -> None:
    name = case.task.ask()
    with case.task.context.store.read() as db:
        assert comparisons.get(db, name).question["considered"] == {case.best: len(case.sent)}


def test_baselines_are_one_of_one(task: Task) -> None:
    case = Case(task)
    for right in case.case["submissions"][:2]:
        case.send(ORGANISER, right)
    task.settle()
    assert sorted(column(task.leaderboard(), "considered")) == [1, 1, 1, 5]
