"""Strangers make teams with an invite, as many as it allows, until it ends; without one nobody joins."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from service.caller import Caller
from service.contract.access import EventsQuery, InviteRequest, JoinRequest, TeamRequest
from service.contract.common import PageQuery
from service.errors import Conflict, Forbidden, Gone, NotFound, TooManyRequests, Unprocessable
from service.usecases.access import FAILURES_ALLOWED, authenticate
from service.usecases.benchmarks.benchmarks import delete_benchmark
from service.usecases.benchmarks.teams import (
    create_invite,
    create_team,
    delete_invite,
    join,
    list_invites,
    list_teams,
    view_invite,
)
from service.usecases.events import list_events
from tests.fixtures.contexts import ORGANISER, later, with_config, work_of
from tests.fixtures.tasks import ANYONE, SLUG, Task, once

PAGE = PageQuery(limit=100)
STRANGER = Caller(None, frozenset(), address="192.0.2.7")


@once
def made(task: Task):
    task.make()
    return task


def invite(context, teams=2, **more):
    expires_at = context.now() + timedelta(days=1)
    return create_invite(context, ORGANISER, SLUG, InviteRequest(expires_at=expires_at, teams_at_most=teams, **more))


def enter(context, secret, team="metz", caller=STRANGER):
    return join(context, caller, JoinRequest(invite=secret, id=team, name=team.title(), contact=f"{team}@example.org"))


def slug_of(error):
    return error.value.type_slug


def test_who_has_an_invite_makes_a_team_and_gets_its_token_once(made, context):
    secret = invite(context)["secret"]
    team = enter(context, secret)
    assert (team["benchmark"], team["id"], team["contact"]) == (SLUG, "metz", "metz@example.org")
    caller = authenticate(context, team["token"])
    assert (caller.team, caller.benchmark, caller.scopes) == ("metz", SLUG, {"submit", "read"})
    assert made.scored(caller)
    listed = list_teams(context, ORGANISER, SLUG, PAGE).items
    assert [(each["id"], each["contact"]) for each in listed] == [("metz", "metz@example.org")]


def test_the_secret_is_shown_once_and_stored_as_a_hash(made, context):
    new = invite(with_config(context, public_url="https://example.org/"))
    assert new["address"] == f"https://example.org/join/{new['secret']}"
    assert invite(context)["address"].startswith("/join/")
    listed = list_invites(context, ORGANISER, SLUG, PAGE).items
    assert [each["id"] for each in listed][-1] == new["id"]
    assert new["secret"] not in orjson.dumps(listed).decode()
    with context.store.read() as db:
        stored = db.exec_driver_sql("SELECT * FROM invites").all()
        events = db.exec_driver_sql("SELECT data, subject FROM events").all()
    assert new["secret"] not in str(stored) + str(events)


def test_names_and_ids_that_look_like_others_are_refused_to_all_but_organisers(made, context):
    for team, called in (("norway", "Oslo"), ("mit", "MIT")):
        create_team(context, ORGANISER, SLUG, TeamRequest(id=team, name=called))
    made.submit(ORGANISER, role="baseline", name="UDPipe")
    new = invite(context)
    for team, name, code, pointer in (
        ("metz", "0slo", "confusable-name", "/name"),
        ("metz", "UDPipe.", "confusable-name", "/name"),
        ("metz", "Norway", "confusable-name", "/name"),
        ("0slo", "Metz", "confusable-name", "/id"),
        ("metz", "Organiser", "reserved-name", "/name"),
        ("gold", "Metz", "reserved-name", "/id"),
    ):
        asked = JoinRequest(invite=new["secret"], id=team, name=name, contact="metz@example.org")
        with pytest.raises((Conflict, Unprocessable)) as error:
            join(context, STRANGER, asked)
        assert [(problem.code, problem.pointer) for problem in error.value.problems] == [(code, pointer)]
        assert slug_of(error) == ("name-taken" if code == "confusable-name" else "invalid-request")
    assert view_invite(context, STRANGER, new["secret"])["teams_left"] == 2
    create_team(context, ORGANISER, SLUG, TeamRequest(id="gold", name="Organiser"))
    enter(context, new["secret"], "metz")


def test_no_more_teams_are_made_than_it_allows(made, context):
    new = invite(context, teams=2)
    enter(context, new["secret"], "metz")
    with pytest.raises(Conflict) as error:  # which uses up nothing
        enter(context, new["secret"], "metz")
    assert slug_of(error) == "id-taken"
    assert view_invite(context, STRANGER, new["secret"])["teams_left"] == 1
    enter(context, new["secret"], "oslo")
    for look in (lambda: enter(context, new["secret"], "lyon"), lambda: view_invite(context, ANYONE, new["secret"])):
        with pytest.raises(Gone) as error:
            look()
        assert slug_of(error) == "invite-used-up"
    assert list_invites(context, ORGANISER, SLUG, PAGE).items[0]["teams"] == 2


def test_who_joins_at_the_same_time_does_not_pass_the_limit(either_context):
    Task(either_context, work_of(either_context)).make()
    secret = invite(either_context, teams=3)["secret"]

    def one(number):
        try:
            return enter(either_context, secret, f"team-{number}")["id"]
        except Gone:
            return None

    with ThreadPoolExecutor(8) as pool:
        joined = [team for team in pool.map(one, range(12)) if team is not None]
    assert len(joined) == 3
    assert len(list_teams(either_context, ORGANISER, SLUG, PAGE).items) == 3


def test_it_ends_with_its_time_or_when_it_is_withdrawn_and_its_teams_stay(made, context):
    new = invite(context)
    with pytest.raises(Gone) as error:
        enter(later(context, days=2), new["secret"])
    assert slug_of(error) == "invite-expired"
    enter(context, new["secret"], "metz")
    delete_invite(context, ORGANISER, SLUG, new["id"])
    with pytest.raises(Gone) as error:
        enter(context, new["secret"], "oslo")
    assert slug_of(error) == "invite-withdrawn"
    assert list_invites(context, ORGANISER, SLUG, PAGE).items == []
    assert len(list_teams(context, ORGANISER, SLUG, PAGE).items) == 1
    made.make(id="other")
    other = invite(context)
    with pytest.raises(NotFound):
        delete_invite(context, ORGANISER, "other", other["id"])
    assert enter(context, other["secret"], "oslo")["id"] == "oslo"
    for unknown in (new["id"], "inv_0", "\x00"):
        with pytest.raises(NotFound):
            delete_invite(context, ORGANISER, SLUG, unknown)


def test_nobody_joins_a_closed_or_deleted_benchmark(made, context):
    secret = invite(context)["secret"]
    made.patch(opens_at="2099-01-01T00:00:00Z")
    assert enter(context, secret, "early")["token"]
    made.patch(opens_at=None, closes_at="2020-01-01T00:00:00Z")
    with pytest.raises(Forbidden) as error:
        enter(context, secret)
    assert slug_of(error) == "joining-closed"
    delete_benchmark(context, ORGANISER, SLUG)
    with pytest.raises(Gone):
        enter(context, secret)


def test_unknown_invites_count_as_failed_authentications(made, context):
    secret = invite(context)["secret"]
    guesser = Caller(None, frozenset(), address="192.0.2.99")
    for look in [lambda: enter(context, "guess", caller=guesser), lambda: view_invite(context, guesser, "guess")] * 10:
        with pytest.raises(Forbidden) as error:
            look()
        assert slug_of(error) == "unknown-invite"
    assert FAILURES_ALLOWED == 20
    with pytest.raises(TooManyRequests):
        enter(context, "guess", caller=guesser)
    assert enter(context, secret, caller=guesser)["id"] == "metz"


def test_teams_make_see_and_withdraw_no_invites_and_none_begins_in_the_past(made, context):
    new, lyon = invite(context), made.team("lyon")
    past = InviteRequest(expires_at=datetime(2020, 1, 1, tzinfo=UTC), teams_at_most=1)
    for refused in (
        lambda: create_invite(context, lyon, SLUG, past),
        lambda: list_invites(context, lyon, SLUG, PAGE),
        lambda: delete_invite(context, lyon, SLUG, new["id"]),
    ):
        with pytest.raises(Forbidden):
            refused()
    with pytest.raises(Unprocessable) as error:
        create_invite(context, ORGANISER, SLUG, past)
    assert [each.pointer for each in error.value.problems] == ["/expires_at"]


def test_who_holds_the_invite_sees_what_it_is_for_also_where_the_board_is_private(task, context):
    task.make(leaderboard={"public": False}, title="Secret task")
    new = invite(context, teams=4)
    assert view_invite(context, STRANGER, new["secret"]) == {
        "benchmark": SLUG,
        "title": "Secret task",
        "expires_at": new["expires_at"],
        "teams_left": 4,
    }


def test_events_tell_organisers_which_invite_a_team_came_with_and_teams_nothing(made, context):
    new = invite(context)
    metz = authenticate(context, enter(context, new["secret"])["token"])
    delete_invite(context, ORGANISER, SLUG, new["id"])
    told = [(each["type"], each["subject"], each["data"]) for each in events_of(context, ORGANISER)][-3:]
    assert told == [
        ("invite.created", new["id"], {}),
        ("team.created", "metz", {"invite": new["id"]}),
        ("invite.deleted", new["id"], {}),
    ]
    own = events_of(context, metz)
    assert new["id"] not in orjson.dumps(own).decode()
    assert "team.created" in [each["type"] for each in own]


def events_of(context, caller):
    return list_events(context, caller, EventsQuery(limit=100)).items
