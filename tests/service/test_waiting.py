"""A wait for store or Redis: pauses that grow, one line a minute, heartbeats, and an end at once on SIGTERM."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import redis

from service import waiting
from service.config import Config, load_config
from service.waiting import wait_for
from tests.fixtures.processes import log_lines

WORDS = "no route"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """A configuration with a heartbeat."""
    return load_config(
        {
            "TREESCORE_DATABASE_URL": "postgresql+psycopg://me:hidden@store.example:5433/scores",
            "TREESCORE_REDIS_URL": "redis://:hidden@queue.example:6380/0",
            "TREESCORE_HEARTBEAT_FILE": str(tmp_path / "alive"),
        }
    )


def failing(times: int) -> list[Exception]:
    return [redis.ConnectionError(WORDS)] * times


def look_through(errors: list[Exception]) -> str:
    if errors:
        raise errors.pop()
    return "found"


def test_pauses_grow_to_two_seconds_and_each_is_a_heartbeat(config: Config, pauses: list[float]) -> None:
    errors = failing(7)
    assert wait_for("queue", config, lambda: look_through(errors), (redis.ConnectionError,)) == "found"
    assert pauses == [0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0]
    assert Path(config.heartbeat_file).exists()


@pytest.mark.parametrize(("part", "host"), [("store", "store.example:5433"), ("queue", "queue.example:6380")])
def test_one_line_a_minute_has_host_and_reason_and_no_password(
    config: Config, pauses: list[float], monkeypatch: pytest.MonkeyPatch, part: str, host: str
) -> None:
    errors, clock = failing(9), iter(range(100, 10_000, 10))
    monkeypatch.setattr(waiting, "monotonic", lambda: next(clock))
    with log_lines() as lines:
        wait_for(part, config, lambda: look_through(errors), (redis.ConnectionError,))
    assert len(pauses) == 9
    assert len(lines) == 2
    assert {(line["event"], line["host"], line["reason"]) for line in lines} == {("waiting", host, WORDS)}


def test_another_error_ends_the_wait(config: Config, pauses: list[float]) -> None:
    errors = [ValueError(WORDS), *failing(1)]
    with pytest.raises(ValueError, match=WORDS):
        wait_for("queue", config, lambda: look_through(errors), (redis.ConnectionError,))
    assert len(pauses) == 1


def test_sigterm_ends_the_process_in_the_middle_of_a_wait(
    config: Config, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    monkeypatch.setattr("redis.retry.sleep", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        wait_for("store", config, lambda: look_through(failing(1)), (redis.ConnectionError,))
    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before
    assert pauses == []
