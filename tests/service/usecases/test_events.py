"""One list of what happened: everything for organisers, their own and what is public for teams."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import service
from service.caller import Caller
from service.contract.access import EventsQuery, TokenRequest
from service.errors import NotFound
from service.policy.release import ANYONE
from service.requests import EVENT_KINDS
from service.usecases.benchmarks import teams
from service.usecases.events import list_events, record_event
from service.usecases.submissions import submissions
from service.usecases.tokens import create_token, revoke_token
from tests.fixtures.contexts import ORGANISER, SCORER, give_up
from tests.fixtures.tasks import OTHER_WORDS, RIGHT, SLUG, WRONG


def listed(context, caller=ORGANISER, **more):
    return list_events(context, caller, EventsQuery(**{"limit": 100, **more})).items


def kinds(context, caller=ORGANISER, **more):
    return [event["type"] for event in listed(context, caller, **more)]


KIND = re.compile(r'"((?:benchmark|revision|team|invite|submission|comparison|webhook|token)\.(?!html")[a-z_]+)"')


def test_every_kind_that_is_noted_can_be_asked_for():
    sources = Path(service.__file__).parent.rglob("*.py")
    noted = {kind for source in sources for kind in KIND.findall(source.read_text(encoding="utf-8"))}
    assert noted == set(EVENT_KINDS)


def test_a_revision_that_is_only_tried_is_told_to_organisers_alone(task, context):
    task.make()
    lyon = task.team()
    before = kinds(context, lyon)
    for gold in (RIGHT, "no treebank\n"):
        task.revise(gold, dry_run=True)
    assert kinds(context, ORGANISER)[-4:] == [
        "revision.created", "revision.ready", "revision.created", "revision.failed",
    ]  # fmt: skip
    assert kinds(context, lyon) == before


def test_a_team_reads_its_own_and_what_is_public(task, context):
    task.make()
    lyon, oslo = task.team(), task.team("oslo")
    submission = task.scored(lyon)
    story = ["benchmark.created", "revision.active", "team.created", "submission.created", "submission.scored"]
    assert kinds(context, lyon) == story
    assert kinds(context) == [*story[:3], "team.created", *story[3:]]
    found = listed(context)
    assert (found[-1]["benchmark"], found[-1]["team"], found[-1]["subject"]) == (SLUG, "lyon", submission)
    # nobody else is named as who did it
    assert {event["actor"] for event in listed(context, lyon)} == {None, lyon.token_id}
    assert found[0]["actor"] == ORGANISER.owner
    assert kinds(context, oslo) == ["benchmark.created", "revision.active", "team.created"]
    assert all(event["team"] in (None, "oslo") for event in listed(context, oslo))
    stranger = Caller("tok_reader", frozenset({"read"}))
    assert kinds(context, stranger) == ["benchmark.created", "revision.active"]


def compared(context):
    """Kind and team of the events of comparisons."""
    events = listed(context)
    return [(event["type"], event["team"]) for event in events if event["type"].startswith("comparison.")]


def test_a_comparison_is_the_event_of_the_team_that_has_all_its_submissions(task, context):
    task.make()
    lyon, oslo = task.team(), task.team("oslo")
    own = [task.scored(lyon), task.scored(lyon, WRONG)]
    other = task.scored(oslo)
    task.settle()
    asked = task.ask(lyon, submissions=own)
    task.settle()
    story = ["comparison.created", "comparison.done"]
    assert compared(context) == [(kind, "lyon") for kind in story]
    events = listed(context, lyon)[-2:]
    assert [(event["type"], event["subject"], event["actor"]) for event in events] == [
        ("comparison.created", asked, lyon.token_id), ("comparison.done", asked, None),
    ]  # fmt: skip
    task.ask(lyon, submissions=[own[0], other])
    task.settle()
    assert compared(context)[2:] == [(kind, "lyon") for kind in story]
    task.ask(submissions=[own[0], other], level=0.9)
    task.settle()
    assert compared(context)[4:] == [(kind, None) for kind in story]
    for team in (lyon, oslo):
        assert kinds(context, team).count("comparison.done") == (2 if team is lyon else 0)
    task.patch(feedback="rounded")
    assert not [kind for kind in kinds(context, lyon) if kind.startswith("comparison.")]


def test_a_comparison_that_failed_says_so_and_one_that_is_asked_again_ends_again(task, context):
    task.make()
    lyon = task.team()
    pair = [task.scored(lyon), task.scored(lyon, WRONG)]
    task.settle()
    asked = task.ask(lyon, submissions=pair)
    give_up(context, asked)
    assert task.ask(lyon, submissions=pair) == asked
    task.settle()
    assert [kind for kind, _ in compared(context)] == ["comparison.created", "comparison.failed", "comparison.done"]
    no_tokens = {"score": "attachment.exact_match", "test": "mcnemar", "unit": "token"}
    task.ask(submissions=pair, **no_tokens)
    task.settle()
    assert [kind for kind, _ in compared(context)][3:] == ["comparison.created", "comparison.failed"]


def test_a_comparison_that_a_board_has_answered_already_is_done_at_once(task, context):
    task.make()
    for team, text in ((task.team(), RIGHT), (task.team("oslo"), WRONG)):
        task.scored(team, text)
    task.settle()
    task.ask()
    assert compared(context) == [("comparison.created", None), ("comparison.done", None)]
    task.ask()
    assert len(compared(context)) == 2


def test_who_has_no_team_sees_the_public_events_of_public_benchmarks(task, context):
    task.make()
    task.scored(task.team())
    task.revise(RIGHT, dry_run=True)
    task.make(id="hidden", leaderboard={"public": False})
    public = ["benchmark.created", "revision.active"]
    for caller in (ANYONE, SCORER):
        assert kinds(context, caller) == public
        assert listed(context, caller, benchmark="hidden") == []
    assert {(event["team"], event["actor"]) for event in listed(context, ANYONE)} == {(None, None)}


def test_an_unknown_place_is_refused(context):
    with pytest.raises(NotFound):
        listed(context, after="evt_unknown")


def test_pages_go_on_where_the_last_ended_and_the_feed_goes_on_after_its_end(task, context):
    task.make()
    lyon = task.team()
    task.scored(lyon)
    whole = [event["id"] for event in listed(context)]
    seen, after = [], None
    while True:
        page = list_events(context, ORGANISER, EventsQuery(after=after, limit=2))
        seen += [event["id"] for event in page.items]
        if page.next is None:
            break
        after = page.next
    assert seen == whole
    assert listed(context, after=whole[-1]) == []
    task.scored(lyon, OTHER_WORDS)
    assert kinds(context, after=whole[-1]) == ["submission.created", "submission.failed"]


def test_one_benchmark_can_be_picked(task, context):
    task.make()
    task.make(id="other")
    assert kinds(context, ORGANISER, benchmark="other") == ["benchmark.created", "revision.active"]


def test_a_level_that_opens_later_tells_then_what_happened_before(task, context, monkeypatch):
    monkeypatch.setattr("service.usecases.events.BATCH", 2)  # a long run of others' events hides nothing
    task.make(feedback="none")
    lyon = task.team()
    for _ in range(3):
        task.scored(lyon)
    assert kinds(context, lyon).count("submission.created") == 3
    assert "submission.scored" not in kinds(context, lyon)
    task.patch(feedback="status")
    assert "submission.scored" in kinds(context, lyon)


def test_what_is_erased_or_deleted_is_noted_too(task, context):
    task.make()
    lyon = task.team()
    submission = task.scored(lyon)
    submissions.delete_submission(context, lyon, submission)
    teams.erase_team(context, ORGANISER, SLUG, "lyon")
    assert kinds(context, ORGANISER)[-2:] == ["submission.deleted", "team.erased"]


def test_places_follow_the_order_of_commits_on_either_database(either_context):
    for number in range(3):
        with either_context.store.write() as db:
            record_event(db, either_context, "token.created", None, subject=f"tok_{number}")
    found = list_events(either_context, ORGANISER, EventsQuery(limit=10)).items
    assert [event["subject"] for event in found] == ["tok_0", "tok_1", "tok_2"]


def test_tokens_are_recorded_for_organisers_alone(task, context):
    task.make()
    readers = [task.team(), Caller("tok_reader", frozenset({"read"}))]
    before = [kinds(context, reader) for reader in readers]
    token = create_token(context, ORGANISER, TokenRequest(scopes=["read"], name="CI"))
    revoke_token(context, ORGANISER, token["id"])
    with pytest.raises(NotFound):
        revoke_token(context, ORGANISER, token["id"])
    made, revoked = list_events(context, ORGANISER, EventsQuery()).items[-2:]
    assert (made["type"], revoked["type"]) == ("token.created", "token.revoked")
    for event in (made, revoked):
        assert (event["subject"], event["actor"], event["benchmark"], event["team"], event["data"]) == (
            token["id"], ORGANISER.owner, None, None, {},
        )  # fmt: skip
    assert [kinds(context, reader) for reader in readers] == before
