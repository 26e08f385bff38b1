"""Signals stop no wait, what is stored is closed to other users, and a process waits for store and Redis.

Pauses grow, with one line a minute, heartbeats, and an end at once on SIGTERM.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner

from service import process
from service.__main__ import main
from service.config import Config, load_config
from service.process import FilesError, Stop, close_files, wait_for
from service.store.database import Store
from tests.fixtures.processes import log_lines
from tests.fixtures.service_process import PATIENCE, ROOT, free_port

SIGNALLED_AT_EACH_LINE = """
import signal, sys
from service.process import stop_signal

stop = stop_signal()

def ask(*_):
    signal.raise_signal(signal.SIGTERM)
    return ask

sys.settrace(ask)
asked = stop.wait(0)
sys.settrace(None)
sys.exit(0 if asked else 1)
"""


def test_a_signal_may_come_at_any_line_of_the_wait() -> None:
    # a process of its own: where the wait does not end, nothing else here would
    command = [sys.executable, "-c", SIGNALLED_AT_EACH_LINE]
    assert subprocess.run(command, cwd=ROOT, timeout=PATIENCE, check=False).returncode == 0


def test_once_asked_every_wait_ends_however_often_it_is_asked() -> None:
    stop = Stop()
    assert not stop.wait(0)
    for _ in range(1000):
        stop.set()
    assert stop.wait(60)
    assert stop.wait(60)


pytestmark = pytest.mark.usefixtures("process_settings")

NAMES = ("treescore.db", "treescore.db-wal", "treescore.db-shm", "treescore.db-journal", "lock", "admin-token",
         "queue/server-version", "queue/appendonlydir/a.aof")  # fmt: skip


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """A data directory that every user of the machine may read and write."""
    folder = tmp_path / "data"
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    return folder


def test_open_modes_are_repaired_and_logged(loose: Path) -> None:
    bystander = loose / "notes.txt"
    bystander.touch()
    bystander.chmod(0o644)
    with socket.socket(socket.AF_UNIX) as listener, log_lines() as lines:
        listener.bind(str(loose / "redis.sock"))
        (loose / "redis.sock").chmod(0o777)
        config = load_config({"TREESCORE_DATA_DIR": str(loose)})
        close_files(config)
    assert mode_of(loose) == mode_of(loose / "queue") == 0o700
    assert {mode_of(loose / name) for name in NAMES} == {0o600}
    assert mode_of(loose / "redis.sock") == 0o700
    logged = {line["path"]: (line["event"], line["mode"], line["now"]) for line in lines}
    assert logged[str(loose)] == ("closed", "0777", "0700")
    assert logged[str(loose / "treescore.db-wal")] == ("closed", "0666", "0600")
    assert str(bystander) not in logged
    with log_lines() as lines:
        close_files(config)
    assert lines == []


def test_a_database_elsewhere_is_closed_and_its_folder_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "shared"
    place.mkdir()
    (place / "x.db").touch()
    place.chmod(0o755)
    (place / "x.db").chmod(0o644)
    url = f"sqlite:///{place}/x.db"
    close_files(load_config({"TREESCORE_DATA_DIR": str(tmp_path / "none"), "TREESCORE_DATABASE_URL": url}))
    assert (mode_of(place), mode_of(place / "x.db")) == (0o755, 0o600)
    assert not (tmp_path / "none").exists()


def test_side_files_have_the_mode_of_the_database(tmp_path: Path) -> None:
    database = tmp_path / "treescore.db"
    database.touch(mode=0o600)
    old = os.umask(0)
    try:
        store = Store(f"sqlite:///{database}")
        with store.write() as db:
            db.exec_driver_sql("CREATE TABLE runs (id TEXT)")
            assert {path.name: mode_of(path) for path in tmp_path.iterdir()} == {
                f"treescore.db{ending}": 0o600 for ending in ("", "-wal", "-shm", "-line")
            }
        store.close()
    finally:
        os.umask(old)


def refused(*arguments: str, **environment: str) -> str:
    printed = CliRunner().invoke(main, list(arguments), env=environment)
    assert (printed.exit_code, len(printed.output.splitlines())) == (1, 1), printed.output
    return printed.output


@pytest.mark.parametrize("command", ["serve", "migrate", "api", "worker", "views", "sweeper"])
def test_a_data_directory_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: tmp_path.stat().st_uid + 1)
    bind = f"127.0.0.1:{free_port()}"
    assert f"{tmp_path} belongs to another user" in refused(
        command, TREESCORE_DATA_DIR=str(tmp_path), TREESCORE_BIND=bind
    )
    assert not list(tmp_path.iterdir())


def test_a_shared_directory_is_refused_before_anything_there_is_changed(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    with pytest.raises(FilesError, match="share"):
        close_files(load_config({"TREESCORE_DATA_DIR": str(tmp_path)}))
    assert mode_of(tmp_path) == 0o1777
    assert refused("migrate", TREESCORE_DATA_DIR=str(tmp_path)).startswith("Error: ")


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
    monkeypatch.setattr(process, "monotonic", lambda: next(clock))
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
