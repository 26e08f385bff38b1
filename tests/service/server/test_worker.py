"""What the worker's loop does at its limits; connections are socket pairs, and no thread runs."""

from __future__ import annotations

import errno
import logging
import os
import selectors
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]

from service.server import worker as module
from service.server.connection import Connection, Stage
from service.server.worker import BufferingWorker, Lane

HEAD = b"GET / HTTP/1.1\r\n"
BODY = b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1"
Connect = Callable[..., tuple[Connection, socket.socket]]


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[BufferingWorker]:
    """A worker with four places, two for each address."""
    monkeypatch.setenv("TREESCORE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TREESCORE_MAX_UNFINISHED", "4")
    monkeypatch.setenv("TREESCORE_MAX_UNFINISHED_EACH", "2")
    made = BufferingWorker(1, os.getpid(), [], None, 30, Config(), logging.getLogger("test"))
    made.poller = selectors.DefaultSelector()
    yield made
    made.poller.close()
    made.tmp.close()


@pytest.fixture
def connect(worker: BufferingWorker) -> Iterator[Connect]:
    """Opens a connection from an address, which sends some bytes; gives the server's end and the client's.

    At the end nothing may be counted that is not there.
    """
    with ExitStack() as opened:

        def make(sent: bytes = b"", address: str = "10.0.0.1") -> tuple[Connection, socket.socket]:
            ours, theirs = (opened.enter_context(end) for end in socket.socketpair())
            theirs.sendall(sent)
            theirs.settimeout(10)
            conn = Connection(ours, (address, 1), ("127.0.0.1", 8000))
            worker.nr_conns += 1
            worker._begin(conn)
            return conn, theirs

        yield make
        for conn in [*worker.unfinished, *worker.closing]:
            worker._drop(conn)
        assert (worker.nr_conns, worker.spooled, worker.unsent) == (0, 0, 0)


def status(client: socket.socket) -> tuple[int, str]:
    """Status and type of the problem that the client got."""
    head, _, body = client.recv(10_000).partition(b"\r\n\r\n")
    return int(head[9:12]), orjson.loads(body)["type"]


def test_at_the_limit_the_header_that_takes_longest_gives_way(worker: BufferingWorker, connect: Connect) -> None:
    body, _ = connect(BODY)
    oldest, client = connect(HEAD)
    others = [connect(HEAD)[0] for _ in range(3)]
    assert status(client) == (503, "/problems/unavailable")
    assert oldest.stage is Stage.CLOSING
    assert list(worker.unfinished) == [body, *others]


def test_bodies_leave_a_quarter_of_the_places_to_headers(worker: BufferingWorker, connect: Connect) -> None:
    bodies = [connect(BODY)[0] for _ in range(3)]
    _, refused = connect(BODY)
    head, _ = connect(HEAD)
    assert status(refused) == (503, "/problems/unavailable")
    assert list(worker.unfinished) == [*bodies, head]


SIX = ("2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8:0:1::1")


@pytest.mark.parametrize("addresses", [("10.0.0.1",) * 3 + ("10.0.0.2",), SIX])
@pytest.mark.parametrize(("age", "proxies", "kept"), [(2, 0, 3), (0, 0, 4), (2, 1, 4)])
def test_an_address_has_two_requests_that_take_longer_than_a_moment(
    worker: BufferingWorker, connect: Connect, addresses: Any, age: float, proxies: int, kept: int
) -> None:
    worker.config = replace(worker.config, trusted_proxies=proxies)
    ends = [connect(HEAD, address) for address in addresses]
    for conn, _ in ends:
        conn.since -= age
    worker.murder_pending()
    assert len(worker.unfinished) == kept
    if kept == 3:
        assert status(ends[2][1]) == (429, "/problems/too-many-unfinished")


def test_a_body_that_cannot_be_stored_is_refused(
    worker: BufferingWorker, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("service.server.connection.SpooledTemporaryFile", full)
    assert status(connect(BODY)[1]) == (507, "/problems/insufficient-storage")


def test_bodies_above_the_space_for_all_refuse_the_oldest(
    worker: BufferingWorker, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SPOOLED_MOST", 1)
    _, oldest = connect(BODY)
    newest, _ = connect(BODY)
    assert status(oldest) == (507, "/problems/insufficient-storage")
    assert list(worker.unfinished) == [newest]


def test_time_is_given_for_bytes_but_cannot_be_saved_up(connect: Connect) -> None:
    conn, _ = connect(BODY)
    begun = conn.since
    assert conn.due == begun + 20
    conn.extend(1_000, begun + 5, 20)
    assert conn.due == begun + 21
    conn.extend(10_000_000, begun + 5, 20)
    assert conn.due == begun + 25


def test_without_files_for_a_new_connection_an_old_one_is_closed(worker: BufferingWorker, connect: Connect) -> None:
    class Listener:
        def accept(self) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

    conn, client = connect(HEAD)
    worker.accept(Listener())  # type: ignore[arg-type]
    assert conn.sock.fileno() < 0
    assert client.recv(1) == b""


def test_a_worker_that_stops_does_not_wait_for_silent_connections(worker: BufferingWorker, connect: Connect) -> None:
    _, silent = connect()
    speaking, _ = connect(HEAD)
    worker.alive = False
    worker.murder_pending()
    assert silent.recv(1) == b""
    assert list(worker.unfinished) == [speaking]


class Held(Executor):
    """Threads that work when they are told to."""

    def __init__(self) -> None:
        self.tasks: list[Callable[[], None]] = []

    def submit(self, work: Callable[..., Any], *given: Any, **_: Any) -> Future[Any]:
        """Keep a task."""
        future: Future[Any] = Future()
        self.tasks.append(lambda: future.set_result(work(*given)))
        return future


class Calls(selectors.DefaultSelector):
    """Notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []

    def register(self, *given: Any) -> Any:
        """Watch a socket."""
        self.made.append("register")
        return super().register(*given)

    def unregister(self, *given: Any) -> Any:
        """Watch a socket no more."""
        self.made.append("unregister")
        return super().unregister(*given)


class Loop:
    """The loop of a worker whose application answers with the path, turn by turn."""

    def __init__(self, worker: BufferingWorker) -> None:
        self.worker = worker
        self.threads = Held()
        self.poller = worker.poller = Calls()
        worker.method_queue.init()
        lane = Lane(self.threads, 1, 9)  # type: ignore[arg-type]
        worker.lanes = SimpleNamespace(general=lane, of=lambda _request: lane)  # type: ignore[assignment]
        worker.wsgi = self.answer

    def answer(self, environ: dict[str, Any], start_response: Callable[..., object]) -> list[bytes]:
        """Answer one request."""
        start_response("200 OK", [("Content-Length", str(len(environ["PATH_INFO"])))])
        return [environ["PATH_INFO"].encode()]

    def turn(self) -> int:
        """Take what has happened to the connections; return how many had an event."""
        events = self.poller.select(0)
        for key, _ in events:
            key.data(key.fileobj)
        return len(events)

    def work(self) -> None:
        """Let the threads do what waits, and take what they did."""
        tasks, self.threads.tasks = self.threads.tasks, []
        for task in tasks:
            task()
        self.worker.method_queue.run_callbacks(None)


@pytest.fixture
def loop(worker: BufferingWorker) -> Iterator[Loop]:
    """The loop of the worker."""
    made = Loop(worker)
    yield made
    worker.method_queue.close()


def request_of(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def test_the_system_is_told_of_a_kept_connection_once_for_all_its_requests(loop: Loop, connect: Connect) -> None:
    conn, client = connect()
    for path in ("/a", "/b", "/c"):
        client.sendall(request_of(path))
        assert loop.turn() == 1
        loop.work()
        assert client.recv(1000).endswith(path.encode())
    assert loop.poller.made == ["register"]
    loop.worker._drop(conn)


def test_what_comes_before_the_answer_waits_for_it_and_wakes_nobody(loop: Loop, connect: Connect) -> None:
    conn, client = connect(request_of("/a"))
    client.sendall(request_of("/b"))
    assert (loop.turn(), loop.turn()) == (1, 0)  # seen, and watched no more
    assert len(loop.threads.tasks) == 1
    loop.work()
    assert client.recv(1000).endswith(b"/a")
    assert loop.turn() == 1
    loop.work()
    assert client.recv(1000).endswith(b"/b")
    loop.worker._drop(conn)


def test_an_event_of_a_connection_that_has_just_ended_is_nobodys(loop: Loop, connect: Connect) -> None:
    conn, client = connect(request_of("/a"))
    loop.work()
    assert conn.stage is Stage.IDLE
    client.sendall(request_of("/b"))
    [(key, _)] = loop.poller.select(0)
    loop.worker._drop(conn)
    key.data(key.fileobj)
    assert not loop.worker.unfinished
