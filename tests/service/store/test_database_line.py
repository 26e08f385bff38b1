"""Writers on SQLite stand in one line across threads and processes, and a killed one leaves it."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from service.store import database as line
from service.store.database import RollbackStore, Store, file_of_url


def free(database: Path) -> bool:
    """Whether nobody is at the head of the line."""
    with database.with_name(database.name + line.LINE_ENDING).open() as place:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one row that counts."""
    opened = Store(f"sqlite:///{tmp_path}/x.db")
    with opened.write() as db:
        db.exec_driver_sql("CREATE TABLE counted (n INTEGER)")
        db.exec_driver_sql("INSERT INTO counted VALUES (0)")
    return opened


def count(store: Store) -> int:
    """Add one, in a transaction that reads first."""
    with store.write() as db:
        known = int(db.exec_driver_sql("SELECT n FROM counted").scalar_one())
        db.exec_driver_sql("UPDATE counted SET n = ?", (known + 1,))
    return known


def test_a_writer_holds_the_line_for_its_transaction_and_leaves_it_also_when_it_fails(
    store: Store, tmp_path: Path
) -> None:
    with store.write():
        assert not free(tmp_path / "x.db")
    assert free(tmp_path / "x.db")
    with pytest.raises(OperationalError), store.write() as db:
        db.exec_driver_sql("SELECT * FROM nothing")
    assert free(tmp_path / "x.db")


def test_readers_stand_in_no_line(store: Store, tmp_path: Path) -> None:
    with store.read() as db, store.snapshot():
        assert db.exec_driver_sql("SELECT n FROM counted").scalar_one() == 0
        assert free(tmp_path / "x.db")


def test_warming_up_holds_the_line_until_it_closes_its_transaction(store: Store, tmp_path: Path) -> None:
    warming = RollbackStore(store)
    with warming.write(), warming.read():
        assert not free(tmp_path / "x.db")
    assert not free(tmp_path / "x.db")
    warming.close()
    assert free(tmp_path / "x.db")


def test_threads_count_one_by_one_without_ever_finding_the_store_busy(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(lambda _: count(store), range(64))) == list(range(64))


def test_a_fork_shares_no_place_and_a_killed_writer_leaves_the_line(store: Store, tmp_path: Path) -> None:
    store.close()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with store.write():
            os.write(write, b"x")
            signal.pause()
        os._exit(1)
    os.read(read, 1)
    assert not free(tmp_path / "x.db")  # this process cannot pass its child, as it could with a lock they share
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert count(store) == 0


def test_a_child_forked_during_a_write_does_not_keep_the_line(store: Store, tmp_path: Path) -> None:
    with store.write():
        child = os.fork()
        if child == 0:
            signal.pause()
    assert free(tmp_path / "x.db")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_where_the_file_cannot_be_made_writers_write_without_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, "refused")

    monkeypatch.setattr(line.os, "open", refuse)
    assert [count(store), count(store)] == [0, 1]


def open_lines(folder: Path) -> int:
    """How many times this process has the line of a store in this folder open."""
    found = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return found.count(folder / f"x.db{line.LINE_ENDING}")


def test_where_files_cannot_be_locked_writers_write_without_and_leave_no_file_open(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "refused")

    monkeypatch.setattr(line.fcntl, "flock", refuse)
    count(store)
    opened = open_lines(tmp_path)
    assert [count(store), count(store)] == [1, 2]
    assert open_lines(tmp_path) == opened


def test_a_line_that_does_not_move_is_left_and_joined_by_no_writer_until_it_moves(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "LINE_PATIENCE", 0.0)
    opened = open_lines(tmp_path)
    with (tmp_path / f"x.db{line.LINE_ENDING}").open() as stopped:
        fcntl.flock(stopped, fcntl.LOCK_EX)
        assert [count(store), count(store), count(store)] == [0, 1, 2]
        [waiting] = [each for each in threading.enumerate() if each.name == "line"]
    waiting.join()
    assert not line._given_up
    assert free(tmp_path / "x.db")
    with store.write():
        assert not free(tmp_path / "x.db")
    assert open_lines(tmp_path) == opened


def test_a_stopped_process_at_the_head_of_the_line_stops_no_other(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "LINE_PATIENCE", 0.0)
    store.close()
    child = os.fork()
    if child == 0:
        with line.writing_turn(tmp_path / "x.db"):
            os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    assert count(store) == 0
    os.kill(child, signal.SIGCONT)
    assert os.waitpid(child, 0)[1] == 0


def test_a_store_that_is_no_file_has_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    def refuse(name: object, *_: object) -> int:
        opened.append(name)
        raise OSError(errno.EACCES, "refused")

    monkeypatch.setattr(line.os, "open", refuse)
    for url in ("postgresql+psycopg://db/treescore", "sqlite://", "sqlite:///:memory:"):
        with line.writing_turn(file_of_url(make_url(url))):
            assert opened == []
