"""Submissions link to their paper, code and model; boards show that to those who see the submission's name."""

from __future__ import annotations

import orjson
import pytest

from service.contract.submissions import SubmissionChanges
from service.errors import Unprocessable
from service.usecases.benchmarks.teams import erase_team
from service.usecases.submissions.submissions import delete_submission, patch_submission
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.requests import loaded
from tests.fixtures.tasks import ANYONE, SLUG, Task, once

PAPER, CODE = "https://example.org/paper.pdf", "https://example.org/code"
NONE = {"paper": None, "code": None, "model": None}


@once
def made(task: Task):
    task.make()
    return task


def change(context, caller, submission, **changes):
    patch_submission(context, caller, submission, loaded(SubmissionChanges, changes))


def test_they_come_with_the_outputs_and_stand_on_the_board(made):
    lyon = made.team()
    assert made.shown(lyon, made.submit(lyon))["links"] == NONE
    assert made.shown(lyon, made.submit(lyon, links=None))["links"] == NONE
    submission = made.scored(lyon, links={"paper": PAPER, "model": None})
    assert made.shown(lyon, submission)["links"] == {**NONE, "paper": PAPER}
    made.patch(leaderboard={"pick": "last"})
    assert [row["links"] for row in made.leaderboard(ANYONE)["rows"]] == [{**NONE, "paper": PAPER}]


def test_its_team_changes_them_one_by_one_and_null_removes_them(made, context):
    lyon = made.team()
    submission = made.scored(lyon, links={"paper": PAPER})
    before = made.leaderboard()
    change(context, lyon, submission, links={"code": CODE})
    assert made.shown(lyon, submission)["links"] == {**NONE, "paper": PAPER, "code": CODE}
    assert made.leaderboard() != before
    change(context, lyon, submission, links={"paper": None})
    assert made.leaderboard()["rows"][0]["links"] == {**NONE, "code": CODE}
    change(context, lyon, submission, notes="none")
    assert made.shown(lyon, submission)["links"] == {**NONE, "code": CODE}
    change(context, lyon, submission, links=None)
    assert made.shown(lyon, submission)["links"] == NONE


def test_an_anonymous_board_shows_them_to_organisers_only(task):
    task.make(leaderboard={"anonymous": True})
    lyon = task.team()
    task.scored(lyon, links={"code": CODE})
    for caller in (ANYONE, lyon, task.team("oslo")):
        assert [row["links"] for row in task.leaderboard(caller)["rows"]] == [None]
    assert task.leaderboard(ORGANISER)["rows"][0]["links"]["code"] == CODE


def test_the_team_sees_its_own_at_every_level(made):
    lyon = made.team()
    submission = made.scored(lyon, links={"code": CODE})
    for level in ("none", "status", "rounded", "scores", "items", "gold"):
        made.patch(feedback=level)
        assert made.shown(lyon, submission)["links"] == {**NONE, "code": CODE}
        rows = made.leaderboard(ANYONE)["rows"]
        assert [row["links"]["code"] for row in rows] == ([] if level in ("none", "status") else [CODE])


def test_erasing_and_deleting_take_them_away(made, context):
    lyon = made.team()
    made.scored(lyon, links={"code": CODE})
    deleted = made.scored(lyon, links={"paper": PAPER})
    delete_submission(context, lyon, deleted)
    erase_team(context, ORGANISER, SLUG, "lyon")
    board = orjson.dumps(made.leaderboard(ORGANISER))
    assert CODE.encode() not in board
    assert made.leaderboard(ORGANISER)["rows"][0]["links"] is None
    with context.store.read() as db:
        assert [row.links for row in db.exec_driver_sql("SELECT links FROM submissions")] == [None, None]


def test_only_plain_https_addresses_are_taken(made):
    lyon = made.team()
    for address in (
        "javascript:alert(1)", "http://example.org", "https://a\u202eb.org", "https://u:x@example.org", "https://a b",
    ):  # fmt: skip
        with pytest.raises(Unprocessable) as error:
            made.submit(lyon, links={"code": address})
        assert [(each.code, each.pointer) for each in error.value.problems] == [("bad-address", "/links/code")]
