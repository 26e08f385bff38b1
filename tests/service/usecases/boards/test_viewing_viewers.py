"""What a leaderboard shows to whom: names, levels, frozen and private boards, what has left it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from service.caller import Caller
from service.contract.leaderboards import MatrixQuery
from service.errors import NotFound
from service.policy.figures import rounded_score
from service.usecases.benchmarks.teams import erase_team
from service.usecases.boards.viewing import matrix
from service.usecases.runs import Shown
from service.usecases.submissions.submissions import delete_submission
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, SLUG, column, spoilt


def test_withdrawn_and_deleted_submissions_leave_the_board(board):
    lyon = board.team()
    good, bad = board.scored(lyon, spoilt(1)), board.scored(lyon, spoilt(5))
    board.change(lyon, good, withdrawn=True)
    assert column(board.leaderboard(), "submission") == [bad]
    delete_submission(board.context, lyon, bad)
    assert board.leaderboard()["rows"] == []


@pytest.mark.parametrize("pick", ["best", "last", "chosen"])
def test_who_withdraws_the_pick_after_closing_has_no_row(board, pick):
    board.patch(leaderboard={"pick": pick}, closes_at="2026-11-03T00:00:00Z")
    lyon, oslo = board.team(), board.team("oslo")
    seconds = count()
    board.context = replace(board.context, now=lambda: datetime(2026, 11, 2, tzinfo=UTC) + timedelta(0, next(seconds)))
    sent = [board.scored(lyon, spoilt(wrong)) for wrong in (9, 1, 3, 5)]
    other = board.scored(oslo, spoilt(2))
    if pick == "chosen":
        board.change(lyon, sent[0], chosen=True)
    picked = {"best": sent[1], "last": sent[3], "chosen": sent[0]}[pick]
    assert set(column(board.leaderboard(), "submission")) == {picked, other}
    board.context = replace(board.context, now=lambda: datetime(2026, 11, 4, tzinfo=UTC))
    for each in sent:
        if each != picked:
            board.change(lyon, each, withdrawn=True)
    assert set(column(board.leaderboard(), "submission")) == {picked, other}
    board.change(lyon, picked, withdrawn=True)
    assert column(board.leaderboard(), "submission") == [other]


def test_what_was_withdrawn_before_a_closing_was_set_into_the_past_is_not_late(board):
    lyon = board.team()
    sent = [board.scored(lyon, spoilt(wrong)) for wrong in (1, 5, 9)]
    board.change(lyon, sent[0], withdrawn=True)
    board.patch(closes_at=(board.context.now() - timedelta(days=1)).isoformat())
    assert column(board.leaderboard(), "submission") == [sent[1]]
    # nor does another time in the past pardon what was withdrawn late
    start, hours = board.context.now(), count(1)
    board.context = replace(board.context, now=lambda: start + timedelta(hours=next(hours)))
    board.change(lyon, sent[1], withdrawn=True)
    for closes_at in (start - timedelta(days=2), start + timedelta(hours=2)):
        board.patch(closes_at=closes_at.isoformat())
        assert board.leaderboard()["rows"] == []
    assert [each["code"] for each in board.benchmark()["warnings"]] == ["closed-in-the-past"]
    # whoever opens it again and then closes it in the past closes it anew
    board.patch(closes_at=None)
    board.patch(closes_at=(start - timedelta(days=2)).isoformat())
    assert column(board.leaderboard(), "submission") == [sent[2]]


def test_an_erased_team_keeps_an_anonymous_row(two_teams):
    task = two_teams[0]
    erase_team(task.context, ORGANISER, SLUG, "prague")
    row = task.leaderboard()["rows"][0]
    assert (row["rank"], row["team"], row["team_name"], row["name"]) == (1, None, None, None)
    assert b"prague" not in task.board().body


def test_an_anonymous_board_names_nobody_but_to_organisers(two_teams):
    task = two_teams[0]
    task.patch(leaderboard={"anonymous": True})
    for form in ("json", "csv", "markdown", "latex", "svg"):
        body = task.board(format=form).body
        assert not [name for name in (b"lyon", b"prague", b"biaffine") if name in body]
    assert task.leaderboard(ORGANISER)["rows"][0]["team_name"] == "prague Parsing Group"


def test_a_frozen_board_stands_still_for_everybody_but_organisers(two_teams):
    task, lyon, _ = two_teams
    moment = task.context.now().isoformat()
    task.patch(leaderboard={"frozen_at": moment})
    task.settle()
    forms = ("json", "csv", "svg")
    before, live = [task.board(format=form) for form in forms], task.board(ORGANISER)
    task.scored(lyon, spoilt(0))
    task.settle()
    # neither bytes nor validators tell of what is scored later
    assert [task.board(format=form) for form in forms] == before
    assert task.board(ORGANISER).etag != live.etag
    document = task.leaderboard()
    assert document["frozen"] is True
    assert document["rows"][0]["score"] == rounded_score(71 / 72)
    assert (document["significance"]["pending"], document["significance"]["pairs"]) == (False, 1)
    assert datetime.fromisoformat(document["as_of"]) <= datetime.fromisoformat(moment)
    live = task.leaderboard(ORGANISER)
    assert (live["frozen"], live["rows"][0]["score"], live["significance"]["pairs"]) == (False, 1.0, 1)


def test_attempts_that_are_not_picked_change_nothing_of_a_board_below_scores(board):
    board.patch(feedback="rounded", rounding=0.5)
    lyon, oslo = board.team(), board.team("oslo")
    for team, wrong in ((oslo, 1), (lyon, 6)):
        board.scored(team, spoilt(wrong))
    board.settle()

    def seen() -> list[Shown[object]]:
        views = []
        for level in ("none", "status", "rounded"):
            board.patch(feedback=level)
            views += [board.board(format=form) for form in ("json", "csv", "svg")]
            views.append(matrix(board.context, ANYONE, SLUG, MatrixQuery()))
        return views

    before, live = seen(), board.leaderboard(ORGANISER)
    # to others, the better one of two that are shown equal is none
    for wrong, better in ((7, False), (5, True)):
        board.scored(lyon, spoilt(wrong))
        assert seen() == before
        board.settle()
        assert seen() == before
        picked = [column(document, "submission") for document in (board.leaderboard(ORGANISER), live)]
        assert (picked[0] != picked[1]) == better


def test_rounded_boards_rank_by_rounded_scores_and_show_neither_p_nor_interval(two_teams):
    task = two_teams[0]
    task.patch(feedback="rounded", rounding=0.05)
    document = task.leaderboard()
    assert column(document, "score") == [1.0, 0.95]
    assert column(document, "team") == ["prague", "lyon"]
    assert column(document, "ci95") == column(document, "p_next") == column(document, "cluster") == [None, None]
    assert document["significance"]["test"] is None
    exact = {row["score"] for row in task.leaderboard(ORGANISER)["rows"]}
    assert not any(repr(value) in task.board().body.decode() for value in exact)
    # equal ones are ordered by submission only
    task.patch(rounding=0.5)
    document = task.leaderboard()
    assert column(document, "team") == ["lyon", "prague"]
    assert column(document, "rank") == [1, 1]


@pytest.mark.parametrize("level", ["none", "status"])
def test_below_rounded_no_row_is_shown(board, level):
    board.scored(board.team(), spoilt(1))
    board.patch(feedback=level)
    document = board.leaderboard()
    assert document["rows"] == document["scores"] == []
    assert (document["as_of"], document["total_rows"]) == (None, 0)
    before = board.board().etag
    board.scored(board.team("prague"), spoilt(1))
    assert board.board().etag == before


def test_a_board_that_is_not_public_is_for_its_own_teams(board):
    lyon = board.team()
    board.patch(leaderboard={"public": False})
    outsiders = (ANYONE, replace(lyon, benchmark="other"), Caller("tok_x", frozenset({"score", "submit"})))
    for outsider in outsiders:
        with pytest.raises(NotFound, match=f"^Unknown benchmark '{SLUG}'.$"):
            board.leaderboard(outsider)
    assert board.leaderboard(lyon)["rows"] == []
    assert board.leaderboard(Caller("tok_y", frozenset({"read"})))["rows"] == []


def test_old_boards_stay_readable(board):
    board.scored(board.team(), LONG)
    fixed = {"reason": "fix", "parts": {"en": {"gold": spoilt(10)}}}
    board.revise(**fixed)
    board.scored(board.team("late"), spoilt(10))
    assert board.leaderboard()["revision"] == 2
    assert column(board.leaderboard(), "score") == [1.0, rounded_score(62 / 72)]
    old = board.leaderboard(revision=1)
    assert (old["revision"], old["active"], column(old, "score")) == (1, False, [1.0])
