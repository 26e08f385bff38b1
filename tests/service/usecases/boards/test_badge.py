"""Who is shown at which rank a team stands."""

from __future__ import annotations

import pytest

from service.contract.leaderboards import BadgeQuery
from service.errors import Forbidden, NotFound, Unauthorized
from service.usecases.boards.badges import badge
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
