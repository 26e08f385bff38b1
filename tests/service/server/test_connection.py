"""A connection: whom it stands for, how a request arrives in any pieces, what is counted; ambiguity is refused."""

from __future__ import annotations

import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from gunicorn.config import Config  # type: ignore[import-untyped]
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]

from service.config import load_config
from service.errors import PayloadTooLarge
from service.server.connection import (
    HEAD_BYTES,
    MEMORY_BYTES,
    Arrival,
    Bounds,
    Connection,
    Organisers,
    ServerState,
    Waits,
)


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("192.0.2.7", 40_000), "192.0.2.7"),
        (("::ffff:192.0.2.7", 40_000, 0, 0), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 40_000, 0, 0), "2001:db8:1:2::"),
        (("fe80::1%eth0", 40_000, 0, 2), "fe80::"),
        ("", ""),
    ],
)
def test_all_addresses_of_a_client_are_one_and_those_of_others_are_not(client, address):
    with socket.socket() as sock:
        assert Connection(sock, client, None).address == address


CFG = Config()
GET = b"GET /v1/jobs?a=1 HTTP/1.1\r\nHost: a\r\n\r\n"
NEXT = b"GET /next HTTP/1.1\r\n"


@pytest.fixture
def arrival() -> Iterator[Callable[..., Arrival]]:
    """Makes an arrival; closes them all."""
    with ExitStack() as made:

        def make(folder: Path | None = None, limit: int = 1_000, upload: int = 2_000) -> Arrival:
            bounds = Bounds(limit, upload, None if folder is None else str(folder))
            found = Arrival(CFG, ("127.0.0.1", 1), 1, bounds)
            made.callback(found.close)
            return found

        yield make


def post(*lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join(["POST /v1/jobs HTTP/1.1", "Host: a", *lines, "", ""]).encode("latin-1") + body


LENGTH = post("Content-Length: 5", body=b"12345")
CHUNKS = post("Transfer-Encoding: chunked", body=b'3;a="b"\r\n123\r\n2\r\n45\r\n0\r\nX-Sum: 9\r\n\r\n')


@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
@pytest.mark.parametrize(("whole", "body"), [(GET, b""), (LENGTH, b"12345"), (CHUNKS, b"12345")])
def test_a_request_may_come_in_any_pieces(arrival: Any, whole: bytes, body: bytes, size: int) -> None:
    found = arrival()
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
    assert [found.feed(piece) for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    assert found.request.body.read() == body
    assert found.received == len(body)


@pytest.mark.parametrize("whole", [GET, LENGTH, CHUNKS])
def test_what_follows_a_request_is_kept_for_the_next(arrival: Any, whole: bytes) -> None:
    found = arrival()
    assert found.feed(whole + NEXT)
    assert found.rest == NEXT


AMBIGUOUS = {
    "both lengths": post("Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
    "two lengths": post("Content-Length: 5", "Content-Length: 5", body=b"12345"),
    "two different lengths": post("Content-Length: 5", "Content-Length: 6", body=b"12345"),
    "a list of lengths": post("Content-Length: 5, 5", body=b"12345"),
    "a signed length": post("Content-Length: +5", body=b"12345"),
    "a length of many digits": post("Content-Length: " + "9" * 5_000),
    "a length in other digits": post("Content-Length: \xb2"),
    "chunked twice": post("Transfer-Encoding: chunked, chunked"),
    "chunked not last": post("Transfer-Encoding: chunked, gzip"),
    "not chunked": post("Transfer-Encoding: gzip"),
    "an unknown coding": post("Transfer-Encoding: xchunked"),
    "chunked in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a folded line": b"GET / HTTP/1.1\r\nX-A: b\r\n c\r\n\r\n",
    "a bare LF": b"GET / HTTP/1.1\nHost: a\n\n",
    "a bare LF among lines": b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n",
    "NUL in the path": b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
    "no method": b" / HTTP/1.1\r\n\r\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01\x00\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 101 + b"\r\n",
    "a long header": b"GET / HTTP/1.1\r\nA: " + b"b" * 8_200 + b"\r\n\r\n",
    "a chunk size with a sign": post("Transfer-Encoding: chunked", body=b"+3\r\n123\r\n0\r\n\r\n"),
    "a chunk size with 0x": post("Transfer-Encoding: chunked", body=b"0x3\r\n123\r\n0\r\n\r\n"),
    "a chunk size with a bare LF": post("Transfer-Encoding: chunked", body=b"3\n123\r\n0\r\n\r\n"),
    "a long chunk size": post("Transfer-Encoding: chunked", body=b"0" * 9_000),
    "a chunk that is too long": post("Transfer-Encoding: chunked", body=b"3\r\n1234\r\n0\r\n\r\n"),
    "a bad chunk extension": post("Transfer-Encoding: chunked", body=b"3;a\rb\r\n123\r\n0\r\n\r\n"),
    "a length among trailers": post("Transfer-Encoding: chunked", body=b"0\r\nContent-Length: 5\r\n\r\n"),
    "endless trailers": post("Transfer-Encoding: chunked", body=b"0\r\n" + b"A: b\r\n" * 20_000),
}


@pytest.mark.parametrize("what", AMBIGUOUS)
def test_a_request_that_can_be_read_in_two_ways_is_refused(arrival: Any, what: str) -> None:
    with pytest.raises(ParseException):
        arrival().feed(AMBIGUOUS[what])


@pytest.mark.parametrize(
    "begin", [b"GET /" + b"a" * 8_300, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * (HEAD_BYTES // 6), b"GET / HTTP/1.1\nA"]
)
def test_a_head_that_cannot_become_valid_is_not_awaited(arrival: Any, begin: bytes) -> None:
    found = arrival()
    pieces = [begin[start : start + 997] for start in range(0, len(begin), 997)]
    with pytest.raises(ParseException):
        assert not any(map(found.feed, pieces))


def test_a_line_end_may_be_split_anywhere(arrival: Any) -> None:
    found = arrival()
    assert [found.feed(bytes([byte])) for byte in b"\r\n" + GET][-1]


def test_a_body_above_its_limit_is_refused_by_its_length_and_by_its_count(arrival: Any) -> None:
    with pytest.raises(PayloadTooLarge, match="1000 bytes"):
        arrival().feed(post("Content-Length: 1001"))
    found = arrival()
    assert not found.feed(post("Transfer-Encoding: chunked", body=b"3e8\r\n" + b"a" * 1_000 + b"\r\n"))
    with pytest.raises(PayloadTooLarge):
        found.feed(b"1\r\na")


def test_a_form_has_the_limit_of_forms(arrival: Any) -> None:
    lines = ("Content-Type: Multipart/Form-Data; boundary=x", "Content-Length: 2000")
    assert not arrival().feed(post(*lines))
    with pytest.raises(PayloadTooLarge):
        arrival(upload=1_999).feed(post(*lines))


def test_a_large_body_lies_in_a_file_that_only_its_owner_reads_and_that_has_no_name(
    arrival: Any, tmp_path: Path
) -> None:
    size = MEMORY_BYTES + 1
    found = arrival(tmp_path, limit=size)
    assert found.feed(post(f"Content-Length: {size}", body=b"x" * size))
    file = found.request.body.fileno()
    assert not list(tmp_path.iterdir())
    assert stat.S_IMODE(Path(f"/proc/self/fd/{file}").stat().st_mode) == 0o600
    assert found.request.body.read() == b"x" * size


def test_a_client_that_asks_before_it_sends_is_told_to_send(arrival: Any) -> None:
    found = arrival()
    assert not found.feed(post("Expect: 100-continue", "Content-Length: 5"))
    assert found.wants_continue
    assert found.feed(b"12345")
    assert not found.wants_continue


def test_a_caller_has_so_many_long_polls_and_all_together_a_quarter_of_the_threads() -> None:
    waits = Waits(4, 8)
    assert [waits.take("a") for _ in range(5)] == [True] * 4 + [False]
    assert [waits.take(name) for name in "bbcccd"] == [True] * 4 + [False] * 2
    waits.give("a")
    assert waits.total == 7
    assert waits.take("d")


def test_a_quarter_of_few_threads_is_one() -> None:
    state = ServerState(load_config({"TREESCORE_THREADS": "2"}))
    assert state.waits.take("a")
    assert not state.waits.take("b")


def test_an_organise_token_is_known_until_it_is_refused() -> None:
    organisers = Organisers()
    organisers.note("ts_one", organiser=True)
    assert organisers.knows("ts_one")
    organisers.note("ts_one", organiser=False)
    assert not organisers.knows("ts_one")
