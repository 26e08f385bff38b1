"""Clients that are slow, or wait, or send nothing, do not keep others from being served."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import orjson
import pytest

from tests.fixtures.api_process import ApiProcess, api
from tests.fixtures.contexts import work_of
from tests.fixtures.requests import DEPENDENCIES
from tests.fixtures.servers import Valkey
from tests.fixtures.service_process import until
from tests.fixtures.slow_clients import (
    DRIPS_BODY,
    DRIPS_CHUNKS,
    DRIPS_HEAD,
    MANNERS,
    READS_SLOWLY,
    Manner,
    SlowClients,
    head,
    waits,
)

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

CONNECTIONS = 500
READS = 50
WAITING = 2 * 8
"""A quarter of the threads of two processes."""
ORGANISER = "ts_organiser-of-the-starvation-tests"
PROBES = ("/livez", "/readyz")


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[ApiProcess]:
    """The API in its default configuration."""
    with api(tmp_path_factory.mktemp("usual"), valkey.url) as process:
        yield process


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, valkey: Valkey) -> Iterator[ApiProcess]:
    """The API in one process with two threads and short deadlines."""
    short = {"TREESCORE_HEADER_SECONDS": "1", "TREESCORE_BODY_SECONDS": "1", "TREESCORE_THREADS": "2"}
    more = {"TREESCORE_API_PROCESSES": "1", "TREESCORE_ADMIN_TOKEN": ORGANISER, "TREESCORE_MAX_BODY_BYTES": "100000"}
    with api(tmp_path_factory.mktemp("strict"), valkey.url, **short, **more) as process:
        yield process


def load(process: ApiProcess) -> dict[str, int]:
    found: dict[str, int] = httpx.get(f"{process.address}/readyz").json()["server"]
    return found


def test_plain_reads_and_work_go_on_while_a_thousand_connections_drip_and_wait(usual: ApiProcess) -> None:
    with usual.client() as client:
        at = client.post("/v1/jobs", json=DEPENDENCIES).headers["Location"]
        with (
            SlowClients(usual.port, CONNECTIONS, *MANNERS) as slow,
            SlowClients(usual.port, CONNECTIONS, waits(at)) as waiting,
        ):
            until(lambda: usual.connections() > CONNECTIONS, "the slow clients are connected")
            until(lambda: waiting.statuses["200"] >= CONNECTIONS - WAITING, "waiting clients are answered at once")
            assert all(client.get("/v1/scorers").is_success for _ in range(READS))
            assert all(httpx.get(usual.address + path).is_success for path in PROBES * 5)
            jobs = [client.post("/v1/jobs", json=DEPENDENCIES) for _ in range(10)]
            assert load(usual)["waiting"] <= WAITING // 2
            assert not slow.statuses["503"]
            work_of(usual.context)()
        assert {client.get(job.headers["Location"]).json()["state"] for job in jobs} == {"succeeded"}
        until(lambda: usual.connections() <= 1, "the connections of the slow clients are closed")


def test_one_address_holds_sixteen_requests_in_each_process_and_the_others_are_refused(usual: ApiProcess) -> None:
    with SlowClients(usual.port, 150, DRIPS_HEAD, each=150) as slow:
        until(lambda: slow.statuses["429"] >= 150 - 2 * 16, "all requests but two times 16 are refused")
        assert httpx.get(f"{usual.address}/v1/scorers").is_success
    document = orjson.loads(slow.last["429"].partition(b"\r\n\r\n")[2])
    assert (document["status"], document["type"]) == (429, "/problems/too-many-unfinished")


def test_a_hundred_bodies_in_chunks_of_one_byte_are_refused_and_keep_nobody_waiting(usual: ApiProcess) -> None:
    tiny = Manner(DRIPS_CHUNKS.first, b"1\r\n \r\n" * 10_000)
    with SlowClients(usual.port, 100, tiny) as slow:
        until(lambda: slow.statuses["400"] >= 100, "the bodies are refused")
        assert all(httpx.get(usual.address + path, timeout=2).is_success for path in PROBES * 5)
    assert b"chunks of a few bytes" in slow.last["400"]


BY_HEAD = (
    ("/v1/nothing", "POST", "application/json", "", 404),
    ("/v1/jobs", "PUT", "application/json", "", 405),
    ("/v1/benchmarks", "POST", "application/json", "", 401),
    ("/v1/benchmarks", "POST", "application/json", "Authorization: Bearer wrong", 401),
    ("/v1/jobs", "POST", "text/plain", "", 415),
    ("/v1/join", "POST", "application/json", "", 413),
    ("/sign-in", "POST", "application/x-www-form-urlencoded", "", 413),
)


@pytest.mark.parametrize("length", ["Content-Length: 50000000", "Transfer-Encoding: chunked"])
def test_a_large_body_is_refused_by_its_head(usual: ApiProcess, length: str) -> None:
    for path, method, media, token, status in BY_HEAD:
        if length.startswith("Transfer") and status == 413:
            continue  # how long it is shows while it comes
        lines = [f"Content-Type: {media}", length, *([token] if token else [])]
        with socket.create_connection(("127.0.0.1", usual.port), timeout=20) as connection:
            connection.sendall(head(path, *lines, method=method))
            got = connection.recv(65_536)
        assert got.startswith(f"HTTP/1.1 {status} ".encode()), (path, got[:40])
        assert b"Connection: close" in got


def test_requests_in_hand_are_answered_before_the_end(tmp_path: Path, valkey: Valkey) -> None:
    one = {"TREESCORE_API_PROCESSES": "1"}
    with api(tmp_path, valkey.url, **one) as process, ThreadPoolExecutor(1) as pool, process.client() as client:
        long_poll = pool.submit(client.post, "/v1/jobs", json=DEPENDENCIES, headers={"Prefer": "wait=2"})
        until(lambda: load(process)["waiting"], "a long poll waits")
        assert process.stop() == 0
        assert long_poll.result().status_code == 202
        assert long_poll.result().headers["Connection"] == "close"


@pytest.mark.parametrize("manner", [DRIPS_HEAD, DRIPS_BODY, DRIPS_CHUNKS, Manner(b"", b"")])
def test_a_request_has_one_deadline_however_often_a_byte_comes(strict: ApiProcess, manner: Manner) -> None:
    with socket.create_connection(("127.0.0.1", strict.port)) as connection:
        connection.sendall(manner.first)
        connection.settimeout(0.05)

        def answered() -> bytes:
            try:
                return connection.recv(65_536)
            except TimeoutError:
                connection.send(manner.drip)
                return b""

        got = until(answered, "the deadline of the request has passed")
    assert got.startswith(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n")
    document = orjson.loads(got.partition(b"\r\n\r\n")[2])
    assert (document["status"], document["type"]) == (408, "/problems/request-timeout")


def test_a_client_that_reads_its_answers_by_the_byte_holds_no_thread_and_is_cut_off(strict: ApiProcess) -> None:
    with SlowClients(strict.port, 8, READS_SLOWLY):
        assert httpx.get(f"{strict.address}/v1/scorers").is_success
        until(lambda: load(strict)["unfinished"] >= 2, "two answers are unfinished")
        assert load(strict)["busy"] <= 2
        until(lambda: not load(strict)["unfinished"], "the slow readers are cut off")


def test_a_large_answer_reaches_a_client_that_reads_at_its_own_pace(strict: ApiProcess) -> None:
    with strict.client() as client:
        whole = client.get("/openapi.yaml").content
    times = 40
    asked = head("/openapi.yaml") * (times - 1) + head("/openapi.yaml", "Connection: close")
    assert strict.exchange(asked).count(whole) == times


def test_probes_and_organisers_are_answered_while_all_threads_are_taken(strict: ApiProcess) -> None:
    database = str(strict.context.config.data_dir / "treescore.db")
    with closing(sqlite3.connect(database)) as blocker, ThreadPoolExecutor(4) as pool, strict.client() as client:
        client.post("/v1/jobs", json=DEPENDENCIES)
        blocker.execute("BEGIN IMMEDIATE")
        posts = [pool.submit(httpx.post, f"{strict.address}/v1/jobs", json=DEPENDENCIES, timeout=60) for _ in range(3)]
        until(lambda: load(strict)["queued"] == 1, "a request waits for a thread")
        assert client.get("/livez").is_success
        organiser = {"Authorization": f"Bearer {ORGANISER}"}
        assert client.get("/v1/scorers", headers=organiser).is_success
        assert not any(post.done() for post in posts)
        blocker.rollback()
        assert [post.result().status_code for post in posts] == [202] * 3


def test_what_is_pipelined_is_answered_in_order_after_bodies_of_both_kinds(strict: ApiProcess) -> None:
    body = orjson.dumps(DEPENDENCIES)
    json = ("Content-Type: application/json",)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:100], body[100:])) + b"0\r\n\r\n"
    got = strict.exchange(
        head("/v1/jobs", *json, f"Content-Length: {len(body)}", method="POST")
        + body
        + head("/v1/jobs", *json, "Transfer-Encoding: chunked", method="POST")
        + chunks
        + head("/livez", "Connection: close")
    )
    assert [part[:4] for part in got.split(b"HTTP/1.1 ")[1:]] == [b"202 ", b"202 ", b"200 "]


def test_a_body_is_asked_for_and_a_large_one_refused_before_it_is_sent(strict: ApiProcess) -> None:
    lines = ("Content-Type: application/json", "Expect: 100-continue", "Connection: close")
    small = head("/v1/jobs", *lines, "Content-Length: 2", method="POST")
    with socket.create_connection(("127.0.0.1", strict.port)) as connection, connection.makefile("rb") as stream:
        connection.sendall(small)
        assert stream.readline() + stream.readline() == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert stream.readline().startswith(b"HTTP/1.1 422 ")
    large = strict.exchange(head("/v1/jobs", *lines, "Content-Length: 100001", method="POST"))
    assert large.startswith(b"HTTP/1.1 413 ")
    assert orjson.loads(large.partition(b"\r\n\r\n")[2])["type"] == "/problems/payload-too-large"


SMUGGLED = {
    "both lengths": head("/v1/jobs", "Content-Length: 4", "Transfer-Encoding: chunked", method="POST"),
    "a bad chunk": head("/v1/jobs", "Transfer-Encoding: chunked", method="POST") + b"z\r\n",
    "a body cut short": head("/v1/jobs", "Content-Length: 4", method="POST") + b"abc",
}


@pytest.mark.parametrize("what", SMUGGLED)
def test_a_request_with_another_hidden_in_it_is_refused_and_the_other_not_answered(
    strict: ApiProcess, what: str
) -> None:
    with socket.create_connection(("127.0.0.1", strict.port)) as connection, connection.makefile("rb") as stream:
        connection.sendall(SMUGGLED[what] + (b"" if what == "a body cut short" else head("/livez")))
        connection.shutdown(socket.SHUT_WR)
        got = stream.read()
    assert got.startswith(b"HTTP/1.1 400 ")
    assert got.count(b"HTTP/1.1") == 1
    assert orjson.loads(got.partition(b"\r\n\r\n")[2])["status"] == 400
