"""What the worker's loop does at its limits; connections are socket pairs, and no thread runs."""

from __future__ import annotations

import errno
import logging
import os
import selectors
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]

from service.server import worker as module
from service.server.connection import Connection, Stage
from service.server.worker import BufferingWorker

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

    monkeypatch.setattr("service.server.arrival.SpooledTemporaryFile", full)
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
