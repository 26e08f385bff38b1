"""Who is shown at which rank a team stands, and how it came there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.contract.leaderboards import BadgeQuery, HistoryQuery
from service.errors import Forbidden, NotFound, Unauthorized
from service.store import benchmarks, boards
from service.usecases.benchmarks.teams import erase_team
from service.usecases.boards.places import badge, history
from service.usecases.boards.ranking import board_of, rows_of, standings_of
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import ANYONE, SLUG, spoilt


def badge_of(task, team="lyon", caller=ANYONE):
    body = badge(task.context, caller, SLUG, BadgeQuery(team=team)).body.decode()
    assert "script" not in body
    words = body.partition("<title")[2].partition(">")[2].partition("<")[0]
    assert body.count(words) == 3
    return words


@pytest.mark.parametrize("feedback", ["none", "status", "rounded", "scores"])
def test_it_says_the_rank_among_the_teams_from_level_rounded_on(two_teams, feedback):
    task = two_teams[0]
    task.scored(ORGANISER, spoilt(0), role="baseline")
    task.patch(feedback=feedback)
    shown = feedback in ("rounded", "scores")
    found = {team: badge_of(task, team) for team in ("lyon", "prague", "unknown")}
    assert found["unknown"] == "not ranked"
    assert found["prague"] == ("rank 1 of 2" if shown else "not ranked")
    assert found["lyon"] == ("rank 2 of 2" if shown else "not ranked")
    assert badge_of(task, "lyon", ORGANISER) == "rank 2 of 2"


def test_an_anonymous_board_has_a_badge_of_the_own_team_only(two_teams):
    task, lyon, prague = two_teams
    task.patch(leaderboard={"anonymous": True})
    assert badge_of(task, "lyon", lyon) == badge_of(task, "lyon", ORGANISER) == "rank 2 of 2"
    for team, caller in (("lyon", ANYONE), ("lyon", prague), ("unknown", ANYONE)):
        with pytest.raises(Forbidden):
            badge_of(task, team, caller)


def test_a_frozen_board_has_a_badge_that_stands_still(two_teams):
    task, lyon, _ = two_teams
    task.patch(leaderboard={"frozen_at": task.context.now().isoformat()})
    task.scored(lyon, spoilt(0))
    assert badge_of(task) == badge_of(task, "lyon", lyon) == "rank 2 of 2"
    assert badge_of(task, "lyon", ORGANISER) == "rank 1 of 2"


def test_a_private_board_has_no_badge_for_others(two_teams):
    task, lyon, _ = two_teams
    task.patch(leaderboard={"public": False})
    assert badge_of(task, "lyon", lyon) == "rank 2 of 2"
    with pytest.raises((Forbidden, NotFound, Unauthorized)):
        badge_of(task)


def history_of(task, team="lyon", caller=ANYONE, **more):
    return history(task.context, caller, SLUG, HistoryQuery(team=team, **more)).items


def test_others_see_the_row_that_stands_and_the_team_all_that_it_sent(two_teams):
    task, lyon, prague = two_teams
    worse = task.scored(lyon, spoilt(9))
    best = task.scored(lyon, spoilt(0))
    task.scored(lyon, spoilt(5))
    [public] = history_of(task)
    assert (public["submission"], public["rank"]) == (best, 1)
    assert history_of(task, caller=prague) == [public]
    own = history_of(task, caller=lyon)
    assert len(own) == 4
    assert [each["rank"] for each in own] == [None, None, 1, None]
    assert own[1]["submission"] == worse
    assert own[2] == public
    ranks = [each["rank"] for each in history_of(task, caller=ORGANISER)]
    assert (ranks[0], ranks[2]) == (1, 1)
    assert (ranks[1], ranks[3]) == (None, None)
    assert history_of(task, caller=ORGANISER, limit=2) == history_of(task, caller=ORGANISER)[:2]


def test_a_board_is_read_once_for_the_ranks_of_all_entries(two_teams, monkeypatch):
    task, lyon, _ = two_teams
    for wrong, more in ((9, {"name": "a"}), (0, {"name": "b"}), (5, {"name": "c", "run_of": "a"})):
        task.scored(lyon, spoilt(wrong), **more)
    with task.context.store.read() as db:
        board = board_of(db, benchmarks.get(db, SLUG))
        read = standings_of(db, board)
        for moment in (each.finished_at for each in read.entries):
            assert read.rows(moment) == rows_of(db, replace(board, until=moment))
    known, standings = [], boards.standings
    monkeypatch.setattr(boards, "standings", lambda *args, **more: known.append(more) or standings(*args, **more))
    assert [each["rank"] for each in history_of(task, caller=ORGANISER)] == [1, None, 1]
    assert len(known) == 2  # the team's own, and the board


@pytest.mark.parametrize(("feedback", "digits"), [("none", None), ("status", None), ("rounded", 2), ("scores", 4)])
def test_scores_of_a_history_are_as_the_level_shows_them(two_teams, feedback, digits):
    task, lyon, _ = two_teams
    task.patch(feedback=feedback)
    for caller in (ANYONE, lyon):
        shown = history_of(task, caller=caller)
        assert len(shown) == (0 if digits is None else 1)
        assert all(each["score"] == round(each["score"], digits) for each in shown)


def test_an_anonymous_board_has_a_history_of_the_own_team_only(two_teams):
    task, lyon, prague = two_teams
    task.patch(leaderboard={"anonymous": True})
    assert len(history_of(task, "lyon", lyon)) == 1
    for team, caller in (("lyon", ANYONE), ("lyon", prague), ("unknown", ANYONE)):
        with pytest.raises(Forbidden):
            history_of(task, team, caller)


def test_for_others_a_history_ends_where_a_board_is_frozen(two_teams):
    task, lyon, _ = two_teams
    task.patch(leaderboard={"frozen_at": task.context.now().isoformat()})
    task.scored(lyon, spoilt(0))
    assert [len(history_of(task, caller=caller)) for caller in (ANYONE, lyon, ORGANISER)] == [1, 2, 2]
    before, after = history_of(task, caller=lyon)
    assert (before["rank"], after["rank"]) == (2, None)
    assert (before, after["score"]) == (history_of(task)[0], 1.0)


def test_an_erased_team_is_nowhere(two_teams):
    task = two_teams[0]
    assert [badge_of(task), len(history_of(task))] == ["rank 2 of 2", 1]
    erase_team(task.context, ORGANISER, SLUG, "lyon")
    assert [badge_of(task), history_of(task)] == ["not ranked", []]
    assert history_of(task, caller=ORGANISER) == []


def test_times_are_whole_seconds(two_teams):
    task, lyon, _ = two_teams
    assert {each["at"][-5:] for who in (ANYONE, lyon) for each in history_of(task, caller=who)} == {".000Z"}
