"""Teams have tokens, shown once; an erased team leaves no name and no output."""

from __future__ import annotations

import orjson
import pytest

from service.contract.access import EventsQuery, TeamRequest, TeamsRequest
from service.contract.common import PageQuery
from service.errors import Conflict, Forbidden, Gone, NotFound, Unauthorized, Unprocessable
from service.store import score_records, texts
from service.team_table import teams_csv
from service.usecases.access import authenticate
from service.usecases.benchmarks.teams import create_team, create_teams, erase_team, list_teams, rotate_token
from service.usecases.events import list_events
from service.usecases.submissions.submissions import submission_output, view_submission
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import RIGHT, SLUG, Task, once


@once
def made(task: Task):
    task.make()
    return task


def test_a_token_is_shown_once_and_speaks_for_its_team(made, context):
    team = create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Lyon Parsing Group"))
    caller = authenticate(context, team["token"])
    assert (caller.team, caller.benchmark, caller.scopes) == ("lyon", SLUG, {"submit", "read"})
    listed = list_teams(context, ORGANISER, SLUG, PageQuery(limit=10)).items
    assert [item["id"] for item in listed] == ["lyon"]
    assert "token" not in listed[0]


def test_rotating_ends_the_token_before(made, context):
    old = create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Lyon"))["token"]
    new = rotate_token(context, ORGANISER, SLUG, "lyon")["token"]
    with pytest.raises(Unauthorized):
        authenticate(context, old)
    assert authenticate(context, new).team == "lyon"


def test_an_id_is_taken_once_and_teams_see_no_teams_and_make_none(made, context):
    lyon = made.team("lyon")
    with pytest.raises(Conflict):
        create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Other"))
    for refused in (
        lambda: list_teams(context, lyon, SLUG, PageQuery(limit=10)),
        lambda: create_team(context, lyon, SLUG, TeamRequest("oslo", "Oslo")),
        lambda: create_teams(context, lyon, SLUG, several("oslo")),
    ):
        with pytest.raises(Forbidden):
            refused()
    with pytest.raises(NotFound):
        rotate_token(context, ORGANISER, SLUG, "oslo")


def test_erasing_leaves_scores_without_a_name_and_without_outputs(made, context):
    lyon = made.team("lyon")
    output = RIGHT.replace("_\n2\tsaw", "secret-misc\n2\tsaw")
    scored = made.scored(lyon, output, name="secret-name", notes="secret-notes")
    digest = made.shown(lyon, scored)["outputs"]["en"]["digest"]
    waiting = made.submit(lyon)
    erase_team(context, ORGANISER, SLUG, "lyon")
    assert list_teams(context, ORGANISER, SLUG, PageQuery(limit=10)).items == []
    body = view_submission(context, ORGANISER, scored).body
    assert b"secret" not in body
    assert digest.encode() not in body
    assert orjson.loads(body)["scores"] is not None
    assert orjson.loads(view_submission(context, ORGANISER, waiting).body)["state"] == "cancelled"
    with pytest.raises(Gone):
        submission_output(context, ORGANISER, scored, "en")
    with context.store.read() as db:
        assert texts.read_texts(db, scored) == {}
        assert score_records.counts(db, scored, 1, [0], 0)[0] is not None
    with pytest.raises(NotFound):
        erase_team(context, ORGANISER, SLUG, "lyon")
    with pytest.raises(Conflict):
        create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Another Lyon"))


def several(*ids, places=None):
    return TeamsRequest(teams=[TeamRequest(each, f"={each}", f"{each}@example.org") for each in ids], places=places)


def listed(context):
    return [team["id"] for team in list_teams(context, ORGANISER, SLUG, PageQuery(limit=2000)).items]


def test_teams_are_made_at_once_each_with_its_token_and_event(made, context):
    teams = create_teams(context, ORGANISER, SLUG, several("oslo", "lyon"))
    assert [team["id"] for team in teams] == ["oslo", "lyon"]
    assert [authenticate(context, team["token"]).team for team in teams] == ["oslo", "lyon"]
    events = list_events(context, ORGANISER, EventsQuery(limit=100)).items
    assert [event["subject"] for event in events if event["type"] == "team.created"] == ["oslo", "lyon"]


def test_all_are_made_or_none(made, context):
    create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Lyon"))
    create_team(context, ORGANISER, SLUG, TeamRequest("metz", "Metz"))
    erase_team(context, ORGANISER, SLUG, "metz")
    with pytest.raises(Conflict) as error:
        create_teams(context, ORGANISER, SLUG, several("oslo", "metz", "lyon"))
    assert [(each.code, each.pointer) for each in error.value.problems] == [
        ("taken-id", "/teams/1/id"),
        ("taken-id", "/teams/2/id"),
    ]
    assert "lyon, metz" in error.value.detail
    assert listed(context) == ["lyon"]


def test_an_id_that_stands_there_twice_is_named_with_its_place(made, context):
    with pytest.raises(Unprocessable) as error:
        create_teams(context, ORGANISER, SLUG, several("oslo", "lyon", "oslo"))
    assert [(each.code, each.pointer) for each in error.value.problems] == [("repeated-id", "/teams/2/id")]
    with pytest.raises(Unprocessable) as error:
        create_teams(context, ORGANISER, SLUG, several("oslo", "oslo", places=[(2, 1), (5, 1)]))
    assert [(each.line, each.column) for each in error.value.problems] == [(5, 1)]
    assert "line 2" in error.value.problems[0].detail
    assert listed(context) == []


@pytest.mark.slow
def test_a_thousand_teams_are_made_in_one_request(made, context):
    teams = create_teams(context, ORGANISER, SLUG, several(*(f"t{number:04}" for number in range(1000))))
    assert len({team["token"] for team in teams}) == len(listed(context)) == 1000


def test_organisers_alone_see_the_contact_and_erasing_takes_it_away(made, context):
    create_teams(context, ORGANISER, SLUG, several("lyon"))
    assert list_teams(context, ORGANISER, SLUG, PageQuery(limit=10)).items[0]["contact"] == "lyon@example.org"
    lyon = authenticate(context, rotate_token(context, ORGANISER, SLUG, "lyon")["token"])
    made.scored(lyon)
    shown = [made.leaderboard(lyon), made.benchmark(lyon), list_events(context, lyon, EventsQuery(limit=100)).items]
    assert b"example.org" not in orjson.dumps(shown)
    erase_team(context, ORGANISER, SLUG, "lyon")
    with context.store.read() as db:
        assert db.exec_driver_sql("SELECT contact FROM teams").scalars().all() == [None]


def test_no_spreadsheet_takes_a_field_of_the_tokens_for_a_formula(made, context):
    teams = create_teams(context, ORGANISER, SLUG, several("lyon"))
    table = teams_csv([{**teams[0], "contact": "+1 555"}]).decode()
    assert table == f"id,name,contact,token\r\nlyon,'=lyon,'+1 555,{teams[0]['token']}\r\n"
