"""The process of views makes what is asked, within bounds, and keeps no more than it may."""

from __future__ import annotations

import signal
from dataclasses import replace
from functools import partial

import pytest

from service.errors import ServiceError, Unavailable
from service.process import Stop
from service.queue import Queue
from service.store import texts, views
from service.store.database import Disk, DiskState
from service.usecases.views.asking import VIEWS, Question, ask
from tests.fixtures.contexts import SCORER, later, making_views, with_config
from tests.fixtures.processes import log_lines
from tests.fixtures.service_process import free_port
from workers.views import Views, limited, run


class Maker:
    """Answers with as many letters as are asked for, after `first`; ends the process at its end, or when it rests."""

    def __init__(self, first=lambda: None) -> None:
        self.first = first
        self.stop = Stop()
        self.forgot: list[object] = []

    def make(self, question):
        self.stop.set()
        self.first()
        return "x" * question.asked["letters"]

    def forget(self, owners):
        self.forgot.append(owners)
        if owners is None:
            self.stop.set()


@pytest.fixture
def asked(context, monkeypatch):
    """A context with an output, of which something was asked that nobody has made."""
    with context.store.write() as db:
        texts.put(db, "sub_1", {"output": b"text"})
    with monkeypatch.context() as nobody:
        nobody.setattr(context.queue.views, "make_next", lambda: False)
        with pytest.raises(Unavailable):
            ask(with_config(context, max_view_seconds=0), SCORER, question())
    return context


def question(letters=3):
    return Question("items", ("sub_1",), {"letters": letters})


def kept(context, letters=3):
    found = views.kept(context.store, question(letters).key)
    return found and found.state


def test_what_is_asked_is_made_until_the_process_is_stopped(asked):
    maker = Maker()
    run(asked, Views(asked, maker), maker.stop)
    assert kept(asked) == views.MADE
    assert asked.queue.alive(VIEWS)
    assert ask(asked, SCORER, question()) == "xxx"


def test_a_wake_up_is_heard(asked):
    process = Views(asked, Maker())
    with asked.queue.listen(VIEWS) as wakes:
        Queue.wake(asked.queue, VIEWS)
        assert wakes.wait(600)
    assert process.make_next()
    assert not process.make_next()


@pytest.mark.usefixtures("pauses")
def test_what_is_asked_is_made_while_redis_is_away(asked):
    away = replace(asked, queue=Queue(f"redis://127.0.0.1:{free_port()}/0"))
    maker = Maker()
    with log_lines() as lines:
        run(away, Views(away, maker), maker.stop)
    assert kept(asked) == views.MADE
    assert [line["part"] for line in lines if line["event"] == "waiting"] == ["queue"]


def test_an_idle_process_keeps_nothing_in_memory(context, monkeypatch):
    monkeypatch.setattr("workers.views.IDLE_SECONDS", -1)
    maker = Maker()
    run(context, Views(context, maker), maker.stop)
    assert maker.forgot == [None]


def test_machine_code_is_loaded_once_a_view_was_made_and_some_is_kept(asked, monkeypatch):
    loaded, state = [], "partly"
    monkeypatch.setattr("treescore.warm.warm", lambda: loaded.append(state))
    monkeypatch.setattr("workers.views.gc.freeze", lambda: None)
    monkeypatch.setattr("workers.views.jit.compiler_loaded", lambda: bool(loaded))
    monkeypatch.setattr("workers.views.jit.state", lambda: state)
    process = Views(asked, Maker())
    process.prepare()
    state = "compiled"
    process.prepare()
    process.make_next()
    state = "partly"
    process.prepare()
    state = "compiled"
    assert loaded == []
    for _ in range(2):
        process.prepare()
    assert loaded == ["compiled"]


def ring() -> None:
    """The alarm of the limit, at once."""
    signal.raise_signal(signal.SIGALRM)


@pytest.mark.parametrize(("first", "fault"), [(ring, "JobTimeoutException"), (lambda: bytearray(10**9), "MemoryError")])
def test_a_view_that_takes_too_much_fails_and_the_process_goes_on(context, first, fault):
    with context.store.write() as db:
        texts.put(db, "sub_1", {"output": b"text"})
    maker = Maker(first)
    context.queue.views = Views(context, maker, partial(limited, with_config(context, max_run_bytes=10**8).config))
    with log_lines() as lines, pytest.raises(ServiceError, match="failed 2 times"):
        ask(context, SCORER, question())
    assert [line["kind"] for line in lines if line["event"] == "fault"] == [fault] * 2
    maker.first = lambda: None
    assert ask(context, SCORER, question(4)) == "xxxx"


def test_a_view_that_ends_the_process_twice_is_not_begun_a_third_time(asked):
    def end() -> None:
        raise SystemExit

    with pytest.raises(SystemExit):  # what was asked when this process began may have ended another one
        Views(asked, Maker(end)).make_next()
    assert kept(asked) == views.ASKED
    with pytest.raises(ServiceError, match="failed 2 times"):
        ask(making_views(asked), SCORER, question())


def test_those_that_were_not_used_for_longest_go_where_there_are_too_many(asked, monkeypatch):
    monkeypatch.setattr("workers.views.disk_of", lambda _: Disk(DiskState.OK))
    monkeypatch.setattr("workers.views.pack_json", lambda value: b"x" * len(value))
    monkeypatch.setattr("service.usecases.views.asking.unpack_json", lambda body: body)
    for number, letters in enumerate((300, 301, 302, 303)):
        now = with_config(later(asked, hours=2 * number), views_bytes=1000)
        now.queue.views = Views(now, Maker())
        ask(now, SCORER, question(letters))
        ask(now, SCORER, question(300))  # is used each time
    assert [kept(asked, letters) for letters in (300, 301, 302, 303)] == [views.MADE, None, views.MADE, views.MADE]


@pytest.mark.parametrize("bound", ["none are kept", "space is short"])
def test_none_stays_that_is_not_waited_for(asked, monkeypatch, bound):
    if bound == "space is short":
        monkeypatch.setattr("workers.views.disk_of", lambda _: Disk(DiskState.LOW))
    config = {"views_bytes": 0} if bound == "none are kept" else {}
    context = with_config(asked, **config)
    Views(context, Maker()).make_next()
    assert kept(asked) == views.MADE
    Views(later(context, minutes=2), Maker()).rest()
    assert kept(asked) is None
