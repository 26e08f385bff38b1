"""Prefer: wait: only some hold threads, the others are answered at once; boards answer when they have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from service.api.middleware import EXTENSION, Load
from service.config import load_config
from service.context import Waits
from service.queue import Queue
from tests.contract.shared_task import SharedTask
from tests.contract.stage import JOB, Stage
from tests.fixtures.contexts import work_of


@pytest.fixture
def waits(stage: Stage) -> Waits:
    found: Load = stage.app.extensions[EXTENSION]
    return found.waits


def test_a_caller_has_so_many_long_polls_and_all_together_a_quarter_of_the_threads() -> None:
    waits = Waits(4, 8)
    assert [waits.take("a") for _ in range(5)] == [True] * 4 + [False]
    assert [waits.take(name) for name in "bbcccd"] == [True] * 4 + [False] * 2
    waits.give("a")
    assert waits.total == 7
    assert waits.take("d")


def test_a_quarter_of_few_threads_is_one() -> None:
    waits = Load(load_config({"TREESCORE_THREADS": "2"})).waits
    assert waits.take("a")
    assert not waits.take("b")


@pytest.mark.parametrize("again", [False, True])
def test_a_wait_beyond_the_limit_is_answered_at_once_as_if_its_time_were_over(
    stage: Stage, waits: Waits, again: Any
) -> None:
    stage.queue.asleep = True
    client = stage.client(None)
    at = client.post("/v1/jobs", json=JOB).headers["Location"]
    assert all(waits.take("anonymous:127.0.0.1") for _ in range(4))
    prefer = {"Prefer": "wait=60"}
    answer = client.get(at, headers=prefer) if again else client.post("/v1/jobs", json=JOB, headers=prefer)
    assert answer.status_code == (200 if again else 202)
    assert answer.headers["Retry-After"] == "5"
    assert "Preference-Applied" not in answer.headers
    assert answer.json["state"] == "queued"


def test_a_caller_with_a_token_waits_beside_a_crowd_at_another_address(stage: Stage, waits: Waits) -> None:
    assert all(waits.take("anonymous:127.0.0.1") for _ in range(4))
    answer = stage.client().post("/v1/jobs", json=JOB, headers={"Prefer": "wait=9"})
    assert answer.headers["Preference-Applied"] == "wait=9"
    assert waits.total == 4


def test_the_place_is_given_back_by_a_request_that_fails(stage: Stage, waits: Waits) -> None:
    stage.client().post("/v1/jobs", json=JOB, headers={"Prefer": "wait=9"})
    stage.client().get("/v1/jobs/unknown", headers={"Prefer": "wait=9"})
    assert waits.total == 0


WAIT = {"Prefer": "wait=20"}


class Listening:
    """Wake-ups that come when somebody waits for one, after something has happened."""

    def __init__(self, happening: Callable[[], object]) -> None:
        self.happening = happening
        self.names: list[str] = []
        self.waits = 0

    @contextmanager
    def listen(self, name: str) -> Iterator[Listening]:
        self.names.append(name)
        yield self

    def wait(self, _seconds: float) -> bool:
        self.waits += 1
        self.happening()
        return True


@pytest.fixture
def task(stage: Stage) -> SharedTask:
    made = SharedTask(stage, feedback="scores")
    made.two()
    return made


def listening(stage: Stage, monkeypatch: pytest.MonkeyPatch, happening: Callable[[], object]) -> Listening:
    heard = Listening(happening)
    monkeypatch.setattr(type(stage.queue), "listen", lambda _queue, name: heard.listen(name))
    return heard


@pytest.mark.parametrize("below", ["leaderboard", "matrix", "leaderboard?format=csv"])
def test_it_answers_when_the_board_has_changed(stage, task, monkeypatch, below):
    client, at = stage.client(None), f"{task.address}/{below}"
    seen = client.get(at)
    new = task.team("metz")
    heard = listening(stage, monkeypatch, lambda: task.submit(new) if heard.waits == 2 else None)
    answer = client.get(at, headers={**WAIT, "If-None-Match": seen.headers["ETag"]})
    assert (answer.status_code, answer.headers["Preference-Applied"]) == (200, "wait=20")
    assert answer.headers["ETag"] != seen.headers["ETag"]
    assert "metz" in answer.text
    assert heard.waits == 2
    assert heard.names == [f"board {task.slug}"]
    waits: Load = stage.app.extensions[EXTENSION]
    assert waits.waits.total == 0


def test_an_old_validator_or_none_of_a_settled_board_is_answered_at_once(stage, task, monkeypatch):
    heard = listening(stage, monkeypatch, lambda: None)
    for headers in (WAIT, {**WAIT, "If-None-Match": '"old"'}):
        assert stage.client(None).get(f"{task.address}/leaderboard", headers=headers).status_code == 200
    assert heard.waits == 0


def test_without_a_validator_it_waits_for_significance(stage, task, monkeypatch):
    client = stage.client(None)
    with stage.asleep():
        task.organiser.patch(task.address, json={"leaderboard": {"margin": 0.1}}, headers={"If-Match": "*"})

    heard = listening(stage, monkeypatch, work_of(stage.context))
    answer = client.get(f"{task.address}/leaderboard", headers=WAIT)
    assert heard.waits == 1
    assert answer.json["significance"]["pending"] is False


def test_it_answers_304_when_the_time_is_over_or_too_many_wait(stage, task, monkeypatch):
    client, at = stage.client(None), f"{task.address}/leaderboard"
    tag = client.get(at).headers["ETag"]
    moments = iter([0.0, 0.0, 10.0, 30.0, 60.0])
    monkeypatch.setattr("service.usecases.runs.monotonic", lambda: next(moments))
    heard = listening(stage, monkeypatch, lambda: None)
    answer = client.get(at, headers={**WAIT, "If-None-Match": tag})
    assert (answer.status_code, heard.waits) == (304, 2)
    state: Load = stage.app.extensions[EXTENSION]
    assert all(state.waits.take("anonymous:127.0.0.1") for _ in range(4))
    late = client.get(at, headers={**WAIT, "If-None-Match": tag})
    assert late.status_code == 304
    assert "Preference-Applied" not in late.headers
    assert heard.waits == 2


def test_each_change_of_a_board_wakes_those_who_wait(stage, task, monkeypatch):
    woken: list[str] = []
    monkeypatch.setattr(Queue, "wake", lambda _queue, name: woken.append(name))
    name = f"board {task.slug}"

    def wakes(change: Callable[[], object]) -> bool:
        woken.clear()
        change()
        return name in woken

    client = task.team("metz")
    at = task.submit(client)
    assert wakes(lambda: task.submit(client))
    assert wakes(lambda: client.patch(at, json={"withdrawn": True}))
    assert wakes(lambda: task.organiser.patch(task.address, json={"title": "x"}, headers={"If-Match": "*"}))
    assert wakes(lambda: task.organiser.delete(f"{task.address}/teams/metz"))
    assert wakes(lambda: task.organiser.delete(at))
