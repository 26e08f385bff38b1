"""The short way and the framework's way give one answer and log one line; the short way refuses nothing itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from structlog.testing import capture_logs
from werkzeug.test import EnvironBuilder

from service.api.short_way import Finished
from service.usecases import access
from tests.contract.shared_task import SharedTask
from tests.contract.stage import ADMIN, JOB, Stage, close_stage, forget_failures, open_stage
from tests.fixtures.servers import Valkey

UNEQUAL = ("Request-Id", "Date")
OWN_LOG = ("milliseconds", "request_id")
WRONG = "ts_wrong"


@dataclass
class World:
    """A stage with everything that the short way answers, and what it refuses, by name."""

    stage: Stage
    places: dict[str, str]
    tokens: dict[str, str | None]

    def raw(self, path: str, *, method: str = "GET", token: str | None = None, **environ: str) -> Any:
        """What the application sends: status, headers, body."""
        given = {"HTTP_AUTHORIZATION": token if " " in token else f"Bearer {token}"} if token is not None else {}
        builder = EnvironBuilder(path, method=method, environ_overrides={**given, **environ})
        return FlaskClient(self.stage.app).open(builder)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[World]:
    """Jobs, submissions, boards and comparisons in every state, and callers of every kind."""
    folder: Path = tmp_path_factory.mktemp("world")
    stage = open_stage(folder, valkey.url, TREESCORE_PUBLIC_URL="https://scores.example.org")
    task, hidden = SharedTask(stage), SharedTask(stage, leaderboard={"public": False}, feedback="status")
    own, other = stage.token("score"), stage.token("score")
    comparison = task.comparison()
    team, foreign = (
        str(stage.client().post(f"{each.address}/teams", json={"id": "bonn", "name": "Bonn"}).json["token"])
        for each in (task, hidden)
    )
    client = stage.client(team)
    places = {
        "job": stage.client(own).post("/v1/jobs", json={**_job(), "significance": False}).headers["Location"],
        "anonymous job": stage.client(None).post("/v1/jobs", json=_job()).headers["Location"],
        "waiting job": stage.waiting_job(),
        "deleted job": stage.deleted_job(),
        "submission": task.submit(client),
        "waiting submission": task.waiting(client),
        "hidden submission": hidden.submit(stage.client(foreign)),
        "board": f"{task.address}/leaderboard",
        "hidden board": f"{hidden.address}/leaderboard",
        "comparison": comparison,
        "unknown job": "/v1/jobs/job_x",
        "unknown submission": "/v1/submissions/sub_x",
        "unknown comparison": "/v1/comparisons/cmp_x",
        "unknown board": "/v1/benchmarks/none/leaderboard",
    }
    tokens = {"nobody": None, "organiser": ADMIN, "owner": own, "other": other, "team": team, "foreign": foreign,
              "reader": stage.token("read"), "wrong": WRONG, "no token": "Basic x", "odd": "caf\u00e9"}  # fmt: skip
    yield World(stage, places, tokens)
    close_stage(stage)


def _job() -> dict[str, Any]:
    return {**JOB, "systems": [{**JOB["systems"][0], "name": f"system-{n}"} for n in range(8)]}


def both(world: World, monkeypatch: pytest.MonkeyPatch, path: str, **asked: Any) -> bool:
    """Send a request both ways and compare everything; return whether the short way answered it."""
    answered = []
    short = Finished._answer

    def spied(self: Finished, environ: Any) -> Any:
        answer = short(self, environ)
        answered.append(answer is not None)
        return answer

    seen = []
    for way in (spied, lambda _self, _environ: None):
        monkeypatch.setattr(Finished, "_answer", way)
        with capture_logs() as lines:
            answer = world.raw(path, **asked)
        passing = ("Retry-After",) if answer.status_code == 429 else ()  # what is left of a minute, at another moment
        headers = sorted((name, value) for name, value in answer.headers if name not in (*UNEQUAL, *passing))
        logged = [{name: value for name, value in line.items() if name not in OWN_LOG} for line in lines]
        body = answer.data.replace(answer.headers["Request-Id"].encode(), b"")
        seen.append((answer.status, headers, body, logged))
    monkeypatch.setattr(Finished, "_answer", short)
    assert seen[0] == seen[1], (path, asked)
    assert seen[0][0] < "500", (path, asked)
    assert not answered[0] or seen[0][0][:3] in ("200", "304"), "the short way refused something"
    return answered[0]


HEADERS: dict[str, dict[str, str]] = {
    "plain": {},
    "head": {"method": "HEAD"},
    "gzip": {"HTTP_ACCEPT_ENCODING": "gzip, deflate"},
    "zstd": {"HTTP_ACCEPT_ENCODING": "gzip;q=0.5, zstd"},
    "head zstd": {"method": "HEAD", "HTTP_ACCEPT_ENCODING": "zstd"},
    "no identity": {"HTTP_ACCEPT_ENCODING": "identity;q=0, *;q=0.1"},
    "csv": {"HTTP_ACCEPT": "text/csv"},
    "anything": {"HTTP_ACCEPT": "*/*"},
    "nothing there is": {"HTTP_ACCEPT": "image/png"},
    "any tag": {"HTTP_IF_NONE_MATCH": "*"},
    "other tag": {"HTTP_IF_NONE_MATCH": '"x", W/"y"'},
    "empty tag": {"HTTP_IF_NONE_MATCH": '""'},
    "empty weak tag": {"HTTP_IF_NONE_MATCH": 'W/""'},
    "upgrade": {"HTTP_UPGRADE": "websocket", "HTTP_CONNECTION": "Upgrade"},
    "wait": {"HTTP_PREFER": "wait=0"},
    "unknown host": {"HTTP_HOST": "evil.example"},
    "known host": {"HTTP_HOST": "scores.example.org"},
    "no host": {"HTTP_HOST": ""},
    "absolute": {"RAW_URI": "http://evil.example/v1/jobs"},
    "forwarded": {"HTTP_X_FORWARDED_FOR": "198.51.100.7"},
    "far": {"REMOTE_ADDR": "198.51.100.7"},
    "named": {"HTTP_REQUEST_ID": "r-1"},
    "post": {"method": "POST"},
    "delete": {"method": "OPTIONS"},
    "cross-site": {"HTTP_SEC_FETCH_SITE": "cross-site"},
}


def test_each_resource_is_answered_the_same_both_ways_to_each_caller(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {
        (place, name)
        for place, path in world.places.items()
        for name, token in world.tokens.items()
        if both(world, monkeypatch, path, token=token)
    }
    forget_failures(world.stage.queue)
    assert short >= {
        ("job", "owner"), ("job", "organiser"), ("anonymous job", "nobody"), ("waiting job", "organiser"),
        ("submission", "team"), ("submission", "organiser"), ("waiting submission", "team"),
        ("hidden submission", "foreign"), ("board", "nobody"), ("board", "team"), ("hidden board", "foreign"),
        ("comparison", "organiser"),
    }  # fmt: skip
    assert not {name for _, name in short} & {"wrong", "no token", "odd"}
    assert (
        not {("job", "other"), ("submission", "foreign"), ("hidden board", "nobody"), ("deleted job", "organiser")}
        & short
    )


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_each_kind_of_request_is_answered_the_same_both_ways(
    world: World, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    for place in ("job", "anonymous job", "submission", "waiting job", "board", "comparison", "hidden board"):
        for token in (None, ADMIN):
            both(world, monkeypatch, world.places[place], token=token, **headers)
    forget_failures(world.stage.queue)


@pytest.mark.parametrize("coding", ["", "gzip", "zstd", "identity;q=0, gzip"])
def test_a_client_that_has_the_body_is_told_so_both_ways_in_the_coding_that_it_has(
    world: World, monkeypatch: pytest.MonkeyPatch, coding: str
) -> None:
    for place in ("job", "submission", "board", "comparison"):
        path, headers = world.places[place], {"HTTP_ACCEPT_ENCODING": coding}
        tag = world.raw(path, token=ADMIN, **headers).headers["ETag"]
        for known in (tag, f"W/{tag}", f'"x", {tag}'):
            headers["HTTP_IF_NONE_MATCH"] = known
            assert both(world, monkeypatch, path, token=ADMIN, **headers)
            assert world.raw(path, token=ADMIN, **headers).status_code == 304
            # a copy in a coding that this request does not take is no copy
            refused = {"HTTP_IF_NONE_MATCH": f'{tag[:-1].partition("-")[0]}-br"', "HTTP_ACCEPT_ENCODING": coding}
            both(world, monkeypatch, path, token=ADMIN, **refused)
            assert world.raw(path, token=ADMIN, **refused).status_code == 200


ODD = ("{}/", "{}//", "/{}", "{}?", "{}?x=1", "{}?format=csv", "{}?format=svg", "{}?format=%63sv",
       "{}?format=csv&format=csv", "{}?format=xml", "{}?format=csv#x", "{}%00", "{}%2f", "{}/.", "{}/../x", "{}%",
       "{}\u00e9", "{}%c3%a9",
       "{}?pick=best", "{}?split=private", "{}?cursor=1", "{};x")  # fmt: skip


@pytest.mark.parametrize("shape", ODD)
def test_odd_addresses_are_answered_the_same_both_ways(
    world: World, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    for place in ("job", "submission", "board", "comparison"):
        for token in (None, ADMIN):
            both(world, monkeypatch, shape.format(world.places[place]), token=token)
    encoded = world.places["job"].replace("job_", "%6aob_")
    assert not both(world, monkeypatch, encoded, token=ADMIN)


def test_every_format_of_a_board_goes_the_short_way(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for form in ("json", "csv", "tsv", "markdown", "latex", "svg"):
        assert both(world, monkeypatch, f"{world.places['board']}?format={form}"), form


def test_a_wrong_token_is_counted_once_each_time_and_then_refused_both_ways(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    monkeypatch.setattr(access, "network_of", lambda address: counted.append(address) or address)
    forget_failures(world.stage.queue)
    statuses = [world.raw(world.places["job"], token=WRONG).status_code for _ in range(access.FAILURES_ALLOWED + 1)]
    assert statuses == [401] * access.FAILURES_ALLOWED + [429]
    assert len(counted) == access.FAILURES_ALLOWED + 1
    both(world, monkeypatch, world.places["job"], token=WRONG)
    forget_failures(world.stage.queue)


def test_a_fault_on_the_short_way_is_met_and_logged_by_the_framework(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("SECRET of the gold text")

    monkeypatch.setattr("service.usecases.jobs.view_job", fail)
    with capture_logs() as lines:
        answer = world.raw(world.places["job"], token=ADMIN)
    assert (answer.status_code, answer.mimetype) == (500, "application/problem+json")
    assert [line["event"] for line in lines] == ["fault", "request"]
    assert "SECRET" not in answer.text + str(lines)
