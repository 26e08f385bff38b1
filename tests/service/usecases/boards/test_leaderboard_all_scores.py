"""All scores of a board, line by line, as far as each level shows them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from service.caller import Caller
from service.errors import Forbidden
from service.requests import ScoresQuery
from service.usecases.boards.leaderboard import list_scores
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, LONG, SECOND_PART, SLUG, Task, column, spoilt

THREE = {"en": {"gold": LONG}, "de": {"gold": LONG}, "fr": {"gold": LONG}}
LINES = {"en", "de", "fr", "pud", "macro", "pooled"}


def lines(task: Task, caller: Caller = ANYONE, **asked: Any) -> list[Any]:
    found, cursor = [], None
    while True:
        page = list_scores(task.context, caller, SLUG, ScoresQuery(cursor=cursor, **asked))
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


def parts_in(found: list[Any]) -> set[str]:
    return {line["part"] for line in found}


@pytest.fixture
def three(task: Task) -> Task:
    """Three parts, two of them a track, and three submissions of two teams, one of which lacks a part."""
    task.make(parts=THREE, tracks={"pud": ["en", "de"]}, feedback="scores")
    lyon = task.team("lyon")
    task.submit(lyon, {"en": spoilt(2), "de": spoilt(4), "fr": LONG})
    task.submit(lyon, {"en": spoilt(9), "de": spoilt(4), "fr": LONG}, name="worse")
    task.submit(task.team("oslo"), {"en": spoilt(1), "de": LONG})
    task.settle()
    return task


@pytest.mark.parametrize("caller", [ANYONE, ORGANISER])
def test_every_line_is_what_the_board_of_its_part_shows(three, caller):
    found = lines(three, caller)
    assert parts_in(found) == LINES
    for part in LINES:
        rows = {row["submission"]: row for row in three.leaderboard(caller, part=part)["rows"]}
        mine = [line for line in found if line["part"] == part]
        assert {line["score"] for line in mine} == set(next(iter(rows.values()))["scores"])
        for line in mine:
            assert line["value"] == rows[line["submission"]]["scores"][line["score"]]
            assert line["team"] == rows[line["submission"]]["team"]


def test_organisers_get_all_submissions_and_others_may_not(three):
    assert len({line["submission"] for line in lines(three)}) == 2
    assert len({line["submission"] for line in lines(three, ORGANISER, pick="all")}) == 3
    with pytest.raises(Forbidden):
        lines(three, pick="all")


@pytest.mark.parametrize(("part", "shown"), [("pud", {"en", "de", "pud"}), ("fr", {"fr"}), ("macro", LINES)])
def test_a_part_or_a_track_has_its_lines_alone(three, part, shown):
    assert parts_in(lines(three, part=part)) == shown


def test_pages_have_whole_rows(three, monkeypatch):
    whole = lines(three)
    monkeypatch.setattr("service.usecases.boards.leaderboard.MOST_SCORE_LINES", 1)
    page = list_scores(three.context, ANYONE, SLUG, ScoresQuery())
    assert page.next == "1"
    assert lines(three) == whole
    assert [name for name, _ in groupby(line["submission"] for line in whole)] == column(
        three.leaderboard(), "submission"
    )


@pytest.mark.parametrize("level", ["none", "status"])
def test_below_rounded_there_are_no_lines(three, level):
    three.patch(feedback=level)
    assert lines(three) == []


def test_at_rounded_only_listed_scores_in_steps(three):
    three.patch(feedback="rounded", rounding=0.1)
    found = lines(three)
    assert {line["score"] for line in found} == {"attachment.las"}
    assert {line["value"] for line in found} <= {None, 0.6, 0.7, 0.9, 1.0}


def test_anonymous_boards_name_no_team(three):
    three.patch(leaderboard={"anonymous": True})
    assert {(line["team"], line["team_name"]) for line in lines(three)} == {(None, None)}


def test_hidden_parts_and_tracks_have_no_lines(task):
    small = {name: {"gold": SECOND_PART} for name in ("s1", "s2", "s3", "s4", "s5")}
    task.make(parts={"en": {"gold": LONG}, **small}, feedback="scores", tracks={"some": ["en", "s1"]})
    task.submit(task.team(), {"en": LONG, **dict.fromkeys(small, SECOND_PART)})
    task.settle()
    assert parts_in(lines(task)) == {"en", "macro", "pooled"}
    assert parts_in(lines(task, ORGANISER)) == {"en", *small, "some", "macro", "pooled"}


def test_one_part_has_lines_of_its_own_alone(board):
    board.scored(board.team(), spoilt(2))
    assert parts_in(lines(board)) == {"en"}
