"""The main score beside each submission of a list: what the submission itself shows."""

from __future__ import annotations

import pytest

from service.contract.submissions import SubmissionsQuery
from service.usecases.submissions.submissions import list_submissions
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import LONG, SLUG, spoilt


def listed(task, caller, **asked):
    return list_submissions(task.context, caller, SLUG, SubmissionsQuery(include="main", **asked)).items


def agree(task, caller):
    """The items, after a comparison with the documents."""
    items = listed(task, caller)
    for each in items:
        scores = task.shown(caller, each["id"])["scores"]
        assert each["main"] == (None if scores is None else scores["main"])
        if scores is not None:
            scored = sum(part["state"] == "scored" for part in scores["parts"].values())
            assert each["scored_parts"] == f"{scored}/{len(scores['parts'])}"
    return items


@pytest.mark.parametrize("feedback", ["none", "status", "rounded", "scores", "items"])
def test_each_level_shows_what_the_submission_shows(board, feedback):
    board.patch(feedback=feedback)
    lyon = board.team()
    sent = [board.scored(lyon, spoilt(wrong)) for wrong in (5, 1)]
    values = [None if each["main"] is None else each["main"]["value"] for each in agree(board, lyon)]
    assert (None in values) == (feedback in ("none", "status"))
    assert [each["main"]["value"] for each in agree(board, ORGANISER)] == [71 / 72, 67 / 72]
    assert [each["id"] for each in listed(board, lyon, limit=1)] == sent[1:]
    plain = list_submissions(board.context, lyon, SLUG, SubmissionsQuery()).items
    assert not {"main", "scored_parts"} & {name for each in plain for name in each}


@pytest.mark.parametrize("leaderboard", [{"ladder": True}, {"split": {"private": 0.5}}])
def test_what_a_ladder_holds_and_the_private_share_are_not_listed(task, leaderboard):
    task.make(parts={"en": {"gold": LONG}}, leaderboard=leaderboard, closes_at="2099-01-01T00:00:00Z")
    lyon = task.team()
    for wrong in (6, 7, 2):
        task.scored(lyon, spoilt(wrong))
    held = [each["main"] is None for each in agree(task, lyon)]
    assert held == ([False, True, False] if "ladder" in leaderboard else [False] * 3)
    assert None not in [each["main"] for each in agree(task, ORGANISER)]


def test_a_part_that_is_missing_is_counted_and_an_older_revision_is_read(task):
    task.make(parts={"en": {"gold": LONG}, "de": {"gold": LONG}})
    lyon = task.team()
    old = task.scored(lyon, {"en": spoilt(1)})
    assert [each["scored_parts"] for each in agree(task, lyon)] == ["1/2"]
    task.revise(spoilt(12))
    task.scored(lyon, {"en": spoilt(1), "de": spoilt(2)})
    items = agree(task, lyon)
    assert (items[0]["scored_parts"], items[1]["id"]) == ("2/2", old)
