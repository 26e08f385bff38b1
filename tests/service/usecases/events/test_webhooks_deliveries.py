"""The log of deliveries, and tests of webhooks; the log tells no more than its reader may see."""

from __future__ import annotations

import orjson
import pytest

from service.contract.access import EventsQuery, TokenRequest
from service.contract.common import PageQuery
from service.errors import Conflict, Forbidden, NotFound
from service.store import events as store
from service.usecases import events
from service.usecases.access import authenticate
from service.usecases.events import (
    DELIVERY_ATTEMPTS,
    DELIVERY_PAUSES,
    delete_webhook,
    list_deliveries,
    list_events,
    list_webhooks,
    send_test,
    signature,
)
from service.usecases.tokens import create_token
from tests.fixtures.contexts import ORGANISER, deliver_due, later
from tests.fixtures.tasks import OTHER_WORDS, WRONG
from tests.service.usecases.test_events_webhooks import Receiver, deliver_all, hook, organiser, receiver

__all__ = ("organiser", "receiver")


def log(context, caller, made, **more):
    return list_deliveries(context, caller, made["id"], PageQuery(**{"limit": 100, **more})).items


def states(context, caller, made):
    return [(each["type"], each["state"], each["attempts"], each["last_status"]) for each in log(context, caller, made)]


def test_a_test_goes_to_this_webhook_only_whatever_kinds_it_takes(context, organiser, receiver):
    made = hook(context, organiser, kinds=["submission.scored"])
    hook(context, organiser)
    deliver_all(context, Receiver())
    sent = send_test(context, organiser, made["id"])
    assert (sent["type"], sent["state"], sent["attempts"], sent["last_status"]) == ("webhook.test", "waiting", 0, None)
    assert deliver_due(context, receiver) == 1
    _, body, headers = receiver.got[0]
    document = orjson.loads(body)
    assert document["type"] == "webhook.test"
    assert document["data"] == {"event": sent["event"], "benchmark": None, "team": None, "subject": made["id"]}
    timestamp = int(headers["webhook-timestamp"])
    assert headers["webhook-signature"] == signature(made["secret"], sent["event"], timestamp, body)
    assert states(context, organiser, made) == [("webhook.test", "delivered", 1, 200)]
    assert list_events(context, ORGANISER, EventsQuery(limit=100)).items[-1]["id"] == sent["event"]


def test_teams_and_tokens_of_no_team_get_tests_of_their_own_webhooks(context, task, receiver):
    task.make(feedback="none")
    lonely = authenticate(context, create_token(context, ORGANISER, TokenRequest(scopes=["submit"]))["token"])
    for owner in (task.team(), lonely):
        made = hook(context, owner, kinds=["submission.scored"])
        for tester in (owner, ORGANISER):
            send_test(context, tester, made["id"])
        deliver_all(context, receiver)
        assert states(context, owner, made) == [("webhook.test", "delivered", 1, 200)] * 2
    assert receiver.types == ["webhook.test"] * 4


def test_the_log_tells_how_each_attempt_ended(context, organiser, task):
    made = hook(context, organiser, kinds=["submission.created"])
    task.submit(task.team())
    assert states(context, organiser, made) == [("submission.created", "waiting", 0, None)]
    deliver_due(context, Receiver(503))
    waiting = log(context, organiser, made)[0]
    assert (waiting["state"], waiting["attempts"], waiting["last_status"]) == ("waiting", 1, 503)
    assert waiting["attempted_at"] < waiting["next_at"]
    deliver_due(later(context, seconds=DELIVERY_PAUSES[0].total_seconds() + 1), Receiver(None))
    assert states(context, organiser, made) == [("submission.created", "waiting", 2, None)]
    deliver_due(later(context, days=1), Receiver(204))
    ended = log(context, organiser, made)[0]
    assert (ended["state"], ended["attempts"], ended["last_status"], ended["next_at"]) == ("delivered", 3, 204, None)
    assert ended["at"] == waiting["at"]


def test_what_is_given_up_stays_in_the_log_of_a_disabled_webhook(context, organiser, task):
    made = hook(context, organiser, kinds=["submission.created"])
    lyon = task.team()
    task.submit(lyon)
    for attempt in range(DELIVERY_ATTEMPTS):
        deliver_due(later(context, days=2 * attempt), Receiver(500))
    assert list_webhooks(context, organiser, PageQuery(limit=10)).items[0]["disabled_at"] is not None
    assert states(context, organiser, made) == [("submission.created", "given_up", DELIVERY_ATTEMPTS, 500)]
    with pytest.raises(Conflict) as error:
        send_test(context, organiser, made["id"])
    assert error.value.type_slug == "webhook-disabled"


def test_the_log_is_bounded_and_paged(context, organiser, monkeypatch):
    monkeypatch.setattr(events, "LOGGED", 5)
    made = hook(context, organiser, kinds=["webhook.test"])
    sent = []
    for _ in range(8):
        sent.append(send_test(context, organiser, made["id"])["id"])
        deliver_all(context, Receiver())
    waiting = send_test(context, organiser, made["id"])["id"]
    assert [each["id"] for each in log(context, organiser, made)] == sorted([*sent, waiting], reverse=True)[:6]
    first = list_deliveries(context, organiser, made["id"], PageQuery(limit=4))
    rest = list_deliveries(context, organiser, made["id"], PageQuery(limit=4, cursor=first.next))
    assert [*first.items, *rest.items] == log(context, organiser, made)
    assert rest.next is None


def test_the_log_shows_no_event_that_its_reader_may_not_know_of(context, task):
    task.make(feedback="none")
    lyon = task.team()
    made = hook(context, lyon)
    task.scored(lyon)
    task.scored(lyon, OTHER_WORDS)
    outcomes = {"submission.scored", "submission.failed"}

    def known():
        return {each["type"]: each for each in log(context, lyon, made) if each["type"] in outcomes}

    assert not known()
    deliver_all(context, Receiver())
    assert {each["state"] for each in log(context, lyon, made)} == {"delivered"}
    assert not known()
    task.patch(feedback="status")
    task.scored(lyon, WRONG)
    assert "submission.scored" in known()
    deliver_all(context, Receiver())
    task.patch(feedback="none")
    assert not known()


def test_others_do_not_see_or_test_it(context, organiser, task):
    lyon, oslo = task.team(), task.team("oslo")
    made = hook(context, lyon)
    send_test(context, lyon, made["id"])
    deliver_all(context, Receiver())
    for caller, webhook in ((oslo, made), (oslo, {"id": "whk_0"}), (oslo, {"id": "\x00"})):
        for ask in (lambda *of: list_deliveries(*of, PageQuery(limit=1)), send_test):
            with pytest.raises(NotFound):
                ask(context, caller, webhook["id"])
    reader = authenticate(context, create_token(context, ORGANISER, TokenRequest(scopes=["read"]))["token"])
    with pytest.raises(Forbidden):
        send_test(context, reader, made["id"])
    assert log(context, ORGANISER, made)


def test_waiting_deliveries_bound_what_is_added_by_hand(context, organiser, monkeypatch):
    monkeypatch.setattr("service.usecases.events.MOST_WAITING", 2)
    made = hook(context, organiser, kinds=["webhook.test"])
    for _ in range(2):
        send_test(context, organiser, made["id"])
    with pytest.raises(Conflict) as error:
        send_test(context, organiser, made["id"])
    assert error.value.type_slug == "too-many-deliveries"
    deliver_all(context, Receiver())
    assert send_test(context, organiser, made["id"])


def test_secrets_are_in_no_list_log_or_event(context, organiser):
    made = hook(context, organiser)
    shown = orjson.dumps(
        [
            list_webhooks(context, organiser, PageQuery(limit=10)).items,
            log(context, organiser, made),
            list_events(context, ORGANISER, EventsQuery(limit=100)).items,
        ]
    ).decode()
    assert "whsec_" not in shown
    assert "webhook.created" in shown
    delete_webhook(context, organiser, made["id"])
    with context.store.read() as db:
        assert store.get_webhook(db, made["id"]) is None
