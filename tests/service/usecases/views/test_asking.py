"""What is asked of outputs is made once, in turns and within bounds, and told as it was made."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from service.caller import Caller
from service.errors import Conflict, Gone, ServiceError, Unavailable, invalid
from service.queue import Listener
from service.store import texts, views
from service.store.tables import views as table
from service.usecases.views.asking import MOST, Question, ask
from tests.fixtures.contexts import SCORER, later, with_config
from workers.views import Views

OTHER = Caller("tok_other", frozenset({"score"}))
OWNERS = ("sub_1", "sub_2")


class Maker:
    """Answers with the question and how often it was asked; raises what `raises` holds, one after the other."""

    def __init__(self) -> None:
        self.made: list[Question] = []
        self.forgot: list[object] = []
        self.raises: list[Exception] = []
        self.meanwhile = lambda: None

    def make(self, question):
        self.made.append(question)
        self.meanwhile()
        if self.raises:
            raise self.raises.pop(0)
        return {"asked": question.asked, "times": len(self.made)}

    def forget(self, owners):
        self.forgot.append(owners if owners is None else set(owners))


@pytest.fixture
def maker(context):
    """What makes views, of outputs that are stored."""
    with context.store.write() as db:
        for owner in OWNERS:
            texts.put(db, owner, {"output": owner.encode()})
    maker = Maker()
    context.queue.views = Views(context, maker)
    return maker


def question(number=0, owners=("sub_1",), kind="items"):
    return Question(kind, owners, {"number": number})


def stored(context):
    with context.store.read() as db:
        return db.scalar(select(func.count()).select_from(table))


def test_an_answer_is_made_once_for_all_who_ask(context, maker):
    assert ask(context, SCORER, question()) == {"asked": {"number": 0}, "times": 1}
    assert ask(context, OTHER, question()) == {"asked": {"number": 0}, "times": 1}
    assert ask(context, OTHER, question(1))["times"] == 2
    assert maker.made == [question(), question(1)]


def test_a_question_is_told_from_others_by_all_that_it_has(context):
    asked = [question(), question(1), question(kind="slices"), question(owners=OWNERS), question(owners=OWNERS[::-1])]
    assert len({each.key for each in asked}) == len(asked)
    assert Question.of(question(owners=OWNERS).text) == question(owners=OWNERS)


@pytest.mark.parametrize(
    "error", [Conflict("not now", slug="has-submissions"), Gone("deleted"), invalid("unknown", "/part", "no such part")]
)
def test_a_refusal_is_told_as_it_was_made_and_made_again_when_asked_again(context, maker, error):
    maker.raises = [error]
    with pytest.raises(type(error)) as raised:
        ask(context, SCORER, question())
    told = raised.value
    assert (told.detail, told.type_slug, told.problems) == (error.detail, error.type_slug, error.problems)
    assert (told.total, told.headers) == (error.total, error.headers)
    assert ask(context, SCORER, question())["times"] == 2


def test_what_fails_is_tried_twice_and_then_not_for_an_hour(context, maker):
    maker.raises = [ValueError("a text"), MemoryError()]
    for _ in range(2):
        with pytest.raises(ServiceError, match="failed 2 times") as raised:
            ask(context, SCORER, question())
        assert raised.value.type_slug == "view-failed"
    assert len(maker.made) == 2
    assert None in maker.forgot
    assert ask(later(context, hours=2), SCORER, question())["times"] == 3


def test_a_second_attempt_may_do(context, maker):
    maker.raises = [ValueError("a text")]
    assert ask(context, SCORER, question())["times"] == 2


@pytest.fixture
def nobody(context, maker, monkeypatch):
    """Nobody makes views, and nobody waits long."""
    monkeypatch.setattr(context.queue.views, "make_next", lambda: False)
    return with_config(context, max_view_seconds=0)


def refused(context, caller, asked):
    with pytest.raises(Unavailable) as raised:
        ask(context, caller, asked)
    assert raised.value.headers["Retry-After"]
    return raised.value.detail


def test_who_asks_waits_no_longer_than_the_limit_and_asks_again_without_another_row(nobody):
    for _ in range(2):
        assert "not made yet" in refused(nobody, SCORER, question())
    assert stored(nobody) == 1


@pytest.fixture
def patient(context, maker, monkeypatch):
    """A context whose views are made one by one, whenever who asks waits; who is not woken waits for long."""
    makes, waits = context.queue.views.make_next, Listener.wait

    def wait(listener, seconds):
        makes()
        return waits(listener, seconds)

    monkeypatch.setattr(context.queue.views, "make_next", lambda: False)
    monkeypatch.setattr(Listener, "wait", wait)
    monkeypatch.setattr("service.usecases.runs.LOOK_AGAIN", 600)
    return with_config(context, max_view_seconds=600, max_wait_seconds=600)


def test_who_waits_hears_of_the_answer(patient):
    assert ask(patient, SCORER, question())["times"] == 1


def test_who_has_asked_for_much_waits_for_room(patient):
    for number in range(2):
        refused(with_config(patient, max_view_seconds=0), SCORER, question(number))
    assert ask(patient, SCORER, question(2))["times"] == 3


def test_no_more_threads_wait_than_may(context, maker, monkeypatch):
    def wait(*_):  # while one waits, another asks the same
        waited.append(refused(context, SCORER, question()))

    waited: list[str] = []
    context = with_config(context, max_view_seconds=600, max_waits_each=1)
    monkeypatch.setattr(context.queue.views, "make_next", lambda: False)
    monkeypatch.setattr("service.usecases.views.asking.wait_for", wait)
    for _ in range(2):  # a place is given back
        assert "not made yet" in refused(context, SCORER, question())
    assert len(waited) == 2


def test_few_are_unfinished_of_one_caller_and_of_all(nobody):
    for number in range(2):
        assert "not made yet" in refused(nobody, SCORER, question(number))
    assert "Too much" in refused(nobody, SCORER, question(2))
    assert "not made yet" in refused(nobody, SCORER, question(1))  # it is among the two
    for number in range(2, MOST):
        assert "not made yet" in refused(nobody, Caller(f"tok_{number}", frozenset({"score"})), question(number))
    assert "Too much" in refused(nobody, OTHER, question(MOST))


def test_callers_take_turns(nobody, maker):
    view = Views(nobody, maker)
    third = Caller("tok_third", frozenset({"score"}))
    for caller, number in ((SCORER, 0), (SCORER, 1), (OTHER, 2), (OTHER, 3), (third, 4)):
        refused(nobody, caller, question(number))
    while view.make_next():
        pass
    assert [each.asked["number"] for each in maker.made] == [0, 2, 4, 1, 3]


def drop(context, *owners):
    with context.store.write() as db:
        texts.drop(db, owners)


def test_what_is_derived_from_a_text_goes_with_it(context, maker):
    ask(context, SCORER, question(owners=("sub_1", "sub_2")))
    ask(context, SCORER, question(owners=("sub_2", "sub_1")))
    ask(context, SCORER, question())
    drop(context, "sub_2")
    assert stored(context) == 1
    assert maker.forgot == [set()] * 3
    ask(context, SCORER, question(owners=("sub_1", "sub_2")))
    assert maker.forgot[3:] == [{"sub_2"}]  # before it was made again


def test_what_is_deleted_while_it_is_made_is_not_stored(context, maker):
    maker.meanwhile = lambda: drop(context, "sub_1")
    assert "not made yet" in refused(context, SCORER, question())
    assert stored(context) == 0
    assert maker.forgot[-1] == {"sub_1"}


def test_its_use_is_noted_once_an_hour(context, maker):
    def used():
        return views.kept(context.store, question().key).used_at

    ask(context, SCORER, question())
    begin = used()
    ask(later(context, minutes=30), SCORER, question())
    assert used() == begin
    ask(later(context, minutes=90), SCORER, question())
    assert used() - begin > timedelta(hours=1)
