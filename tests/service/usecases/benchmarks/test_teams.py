"""Teams have tokens, shown once; an erased team leaves no name and no output."""

from __future__ import annotations

import orjson
import pytest

from service.errors import Conflict, Forbidden, Gone, NotFound, Unauthorized
from service.requests import PageQuery, TeamRequest
from service.store import score_records, texts
from service.usecases.access.authentication import authenticate
from service.usecases.benchmarks.teams import create_team, erase_team, list_teams, rotate_token
from service.usecases.submissions.changes import submission_output
from service.usecases.submissions.submissions import view_submission
from tests.fixtures.contexts import ORGANISER
from tests.fixtures.tasks import RIGHT, SLUG


@pytest.fixture
def made(task):
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


def test_an_id_is_taken_once(made, context):
    create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Lyon"))
    with pytest.raises(Conflict):
        create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Other"))


def test_teams_see_no_teams_and_make_none(made, context):
    lyon = made.team("lyon")
    with pytest.raises(Forbidden):
        list_teams(context, lyon, SLUG, PageQuery(limit=10))
    with pytest.raises(Forbidden):
        create_team(context, lyon, SLUG, TeamRequest("oslo", "Oslo"))
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
        assert texts.read(db, scored) == {}
        assert score_records.counts(db, scored, 1, [0], 0)[0] is not None
    with pytest.raises(NotFound):
        erase_team(context, ORGANISER, SLUG, "lyon")
    with pytest.raises(Conflict):
        create_team(context, ORGANISER, SLUG, TeamRequest("lyon", "Another Lyon"))
