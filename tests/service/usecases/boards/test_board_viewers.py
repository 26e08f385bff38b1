"""What a leaderboard shows to whom: names, levels, frozen and private boards, what has left it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from service.caller import Caller
from service.errors import NotFound
from service.policy.figures import rounded_score
from service.requests import LeaderboardQuery, SubmissionChanges
from service.schemas.benchmarks import RevisionRequest
from service.usecases.benchmarks.revisions import create_revision
from service.usecases.benchmarks.teams import erase_team
from service.usecases.boards.leaderboard import leaderboard
from service.usecases.runs import moment
from service.usecases.submissions.submissions import delete_submission, patch_submission
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ANYONE, LONG, SLUG, column, spoilt


def test_withdrawn_and_deleted_submissions_leave_the_board(board):
    lyon = board.team()
    good, bad = board.scored(lyon, spoilt(1)), board.scored(lyon, spoilt(5))
    patch_submission(board.context, lyon, good, SubmissionChanges(withdrawn=True))
    assert column(board.leaderboard(), "submission") == [bad]
    delete_submission(board.context, lyon, bad)
    assert board.leaderboard()["rows"] == []


def test_an_erased_team_keeps_an_anonymous_row(board):
    board.scored(board.team(), spoilt(1))
    erase_team(board.context, ORGANISER, SLUG, "lyon")
    row = board.leaderboard()["rows"][0]
    assert (row["rank"], row["team"], row["team_name"], row["name"]) == (1, None, None, None)
    assert b"lyon" not in leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery()).body


def test_an_anonymous_board_names_nobody_but_to_organisers(board):
    board.scored(board.team(), spoilt(1))
    board.patch(leaderboard={"anonymous": True})
    for form in ("json", "csv", "markdown", "latex", "svg"):
        body = leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery(format=form)).body
        assert b"lyon" not in body
        assert b"biaffine" not in body
    assert board.leaderboard(ORGANISER)["rows"][0]["team_name"] == "lyon Parsing Group"


def test_a_frozen_board_stands_still_for_everybody_but_organisers(board):
    lyon = board.team()
    board.submit(lyon, spoilt(5))
    board.submit(board.team("prague"), spoilt(9))
    board.settle()
    moment = board.context.now().isoformat()
    board.patch(leaderboard={"frozen_at": moment})
    board.settle()
    board.submit(lyon, spoilt(0))
    board.settle()
    document = board.leaderboard()
    assert document["frozen"] is True
    assert document["rows"][0]["score"] == rounded_score(67 / 72)
    assert document["significance"]["pending"] is False
    assert document["significance"]["pairs"] == 1
    assert datetime.fromisoformat(document["as_of"]) <= datetime.fromisoformat(moment)
    live = board.leaderboard(ORGANISER)
    assert live["frozen"] is False
    assert live["rows"][0]["score"] == 1.0
    assert live["significance"]["pairs"] == 1


def test_the_validator_of_a_frozen_board_does_not_count_what_is_scored_later(board):
    lyon, oslo = board.team(), board.team("oslo")
    for team, wrong in ((lyon, 6), (oslo, 5)):
        board.scored(team, spoilt(wrong))
    board.settle()
    board.patch(leaderboard={"frozen_at": moment(board.context.now())})
    board.settle()
    forms = ("json", "csv", "svg")
    before = [leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery(format=form)) for form in forms]
    live = leaderboard(board.context, ORGANISER, SLUG, LeaderboardQuery())
    board.scored(oslo, spoilt(4))
    board.settle()
    after = [leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery(format=form)) for form in forms]
    assert [(view.etag, view.body) for view in before] == [(view.etag, view.body) for view in after]
    assert leaderboard(board.context, ORGANISER, SLUG, LeaderboardQuery()).etag != live.etag


def test_the_validator_of_a_rounded_board_does_not_tell_which_of_two_attempts_is_the_better(board):
    board.patch(feedback="rounded", rounding=0.5)
    lyon, oslo = board.team(), board.team("oslo")
    for team, wrong in ((oslo, 1), (lyon, 6)):
        board.scored(team, spoilt(wrong))
    board.settle()
    for wrong, better in ((7, False), (5, True)):
        board.scored(lyon, spoilt(wrong))
        scored = [leaderboard(board.context, who, SLUG, LeaderboardQuery()) for who in (ANYONE, ORGANISER)]
        board.settle()
        compared = [leaderboard(board.context, who, SLUG, LeaderboardQuery()) for who in (ANYONE, ORGANISER)]
        assert compared[0] == scored[0]
        assert (compared[1].etag != scored[1].etag) == better


def test_rounded_boards_rank_by_rounded_scores_and_show_neither_p_nor_interval(board):
    board.submit(board.team("lyon"), spoilt(2))
    board.submit(board.team("prague"), spoilt(1))
    board.settle()
    board.patch(feedback="rounded", rounding=0.05)
    document = board.leaderboard()
    assert column(document, "score") == [1.0, 0.95]
    assert column(document, "team") == ["prague", "lyon"]
    assert column(document, "ci95") == column(document, "p_next") == column(document, "cluster") == [None, None]
    assert document["significance"]["test"] is None
    exact = {row["score"] for row in board.leaderboard(ORGANISER)["rows"]}
    body = leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery()).body.decode()
    assert not any(repr(value) in body for value in exact)


def test_equal_rounded_scores_are_ordered_by_submission_only(board):
    first = board.scored(board.team("lyon"), spoilt(2))
    second = board.scored(board.team("prague"), spoilt(1))
    board.patch(feedback="rounded", rounding=0.5)
    document = board.leaderboard()
    assert column(document, "submission") == [first, second]
    assert column(document, "rank") == [1, 1]


@pytest.mark.parametrize("level", ["none", "status"])
def test_below_rounded_no_row_is_shown(board, level):
    board.scored(board.team(), spoilt(1))
    board.patch(feedback=level)
    document = board.leaderboard()
    assert document["rows"] == document["scores"] == []
    assert (document["as_of"], document["total_rows"]) == (None, 0)
    before = leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery()).etag
    board.scored(board.team("prague"), spoilt(1))
    assert leaderboard(board.context, ANYONE, SLUG, LeaderboardQuery()).etag == before


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
    create_revision(board.context, ORGANISER, SLUG, loaded(RevisionRequest, fixed))
    board.settle()
    board.scored(board.team("late"), spoilt(10))
    assert board.leaderboard()["revision"] == 2
    assert column(board.leaderboard(), "score") == [1.0, rounded_score(62 / 72)]
    old = board.leaderboard(revision=1)
    assert (old["revision"], old["active"], column(old, "score")) == (1, False, [1.0])
