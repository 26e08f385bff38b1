"""Clients that are slow, or wait, or send nothing, do not keep others from being served, behind each shipped proxy."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import httpx
import orjson
import pytest

from tests.fixtures.api_process import ApiProcess, api
from tests.fixtures.contexts import work_of
from tests.fixtures.proxies import COMMANDS, proxy
from tests.fixtures.requests import DEPENDENCIES
from tests.fixtures.servers import Valkey
from tests.fixtures.service_process import PATIENCE, free_port, until
from tests.fixtures.slow_clients import DRIPS_BODY, DRIPS_HEAD, READS_SLOWLY, SILENT, Manner, SlowClients, head, waits

pytestmark = [pytest.mark.e2e, pytest.mark.faults, pytest.mark.timeout(300)]

THREADS = 8
"""Of each of two API processes."""
WAITING = 2 * THREADS // 4
PROBES = ("/livez", "/readyz", "/metrics")
LARGE = 100_000_000


class Fronted(NamedTuple):
    """Two API processes of one store, and a proxy in front of them."""

    name: str
    port: int
    apis: list[ApiProcess]
    probes: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.address, timeout=PATIENCE)


@pytest.fixture(scope="module", params=COMMANDS)
def fronted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, valkey: Valkey
) -> Iterator[Fronted]:
    folder = tmp_path_factory.mktemp(request.param)
    probes = f"127.0.0.1:{free_port()}"
    one = {"TREESCORE_API_PROCESSES": "1", "TREESCORE_THREADS": str(THREADS), "TREESCORE_TRUSTED_PROXIES": "1"}
    one |= {"TREESCORE_ANONYMOUS_JOBS": "true", "TREESCORE_MAX_QUEUED": "0"}
    with ExitStack() as stack:
        first = stack.enter_context(api(folder, valkey.url, TREESCORE_PROBE_BIND=probes, **one))
        second = stack.enter_context(api(folder, valkey.url, **one))
        apis = [first, second]
        port = stack.enter_context(proxy(request.param, folder, [f"127.0.0.1:{each.port}" for each in apis]))
        yield Fronted(request.param, port, apis, f"http://{probes}")


@pytest.fixture
def alone(tmp_path: Path, valkey: Valkey) -> Iterator[ApiProcess]:
    """One API process with two threads and nothing in front."""
    short = {"TREESCORE_BODY_SECONDS": "1", "TREESCORE_THREADS": "2", "TREESCORE_API_PROCESSES": "1"}
    probes = f"127.0.0.1:{free_port()}"
    with api(tmp_path, valkey.url, TREESCORE_MAX_BODY_BYTES="100000", TREESCORE_PROBE_BIND=probes, **short) as process:
        yield process


def is_served(fronted: Fronted, times: int = 10) -> bool:
    """Whether plain reads, new jobs and probes are answered."""
    with fronted.client() as client:
        answers = [client.get("/v1/scorers") for _ in range(times)]
        answers += [client.post("/v1/jobs", json=DEPENDENCIES) for _ in range(times)]
        answers += [httpx.get(fronted.probes + path, timeout=PATIENCE) for path in PROBES]
        return all(answer.is_success for answer in answers)


@pytest.mark.parametrize("manner", [DRIPS_HEAD, DRIPS_BODY, READS_SLOWLY])
def test_seventy_clients_that_drip_keep_nobody_waiting(fronted: Fronted, manner: Manner) -> None:
    if fronted.name == "caddy" and manner is READS_SLOWLY:
        pytest.skip("Caddy does not store answers: docs/security.md says so.")
    with SlowClients(fronted.port, 70, manner):
        assert is_served(fronted)


def test_five_hundred_and_twelve_silent_connections_keep_nobody_waiting(fronted: Fronted) -> None:
    with SlowClients(fronted.port, 512, SILENT):
        assert is_served(fronted)


def test_a_hundred_megabytes_are_received_and_scored_work_goes_on(fronted: Fronted, tmp_path: Path) -> None:
    files = tmp_path / "large.conllu"
    files.write_bytes((DEPENDENCIES["gold"] * (LARGE // len(DEPENDENCIES["gold"]))).encode())
    with fronted.client() as client, files.open("rb") as file, ThreadPoolExecutor(1) as pool:
        meta = orjson.dumps({name: value for name, value in DEPENDENCIES.items() if name not in ("gold", "systems")})
        sent = pool.submit(client.post, "/v1/jobs", data={"meta": meta.decode()}, files={"gold": file, "output": file})
        assert is_served(fronted)
        answer = sent.result()
        assert answer.status_code in (202, 422), answer.text


def test_long_waits_hold_a_quarter_of_the_threads_and_wake(fronted: Fronted) -> None:
    with fronted.client() as client:
        at = client.post("/v1/jobs", json=DEPENDENCIES).headers["Location"]
        with SlowClients(fronted.port, 200, waits(at)) as waiting:
            until(lambda: waiting.statuses["200"] >= 100, "most are answered at once")
            assert client.get("/readyz").json()["server"]["waiting"] <= WAITING // 2
            assert is_served(fronted)
        work_of(fronted.apis[0].context)()
        assert client.get(at, headers={"Prefer": "wait=60"}).json()["state"] == "succeeded"


def problem(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return answer.status_code, answer.json()["type"]


def test_what_the_service_refuses_comes_through_as_it_is(fronted: Fronted) -> None:
    with fronted.client() as client:
        small = client.post("/v1/join", content=b" " * 100_000, headers={"Content-Type": "application/json"})
        assert problem(small) == (413, "/problems/payload-too-large")
        assert small.json()["instance"].startswith("urn:request:")
        wrong = {"Authorization": "Bearer wrong"}
        last = [client.get("/v1/jobs", headers=wrong) for _ in range(30)][-1]
        assert problem(last) == (429, "/problems/too-many-failures")


def test_what_is_too_large_for_the_proxy_is_explained(fronted: Fronted) -> None:
    asked = head("/v1/jobs", "Content-Type: application/json", "Content-Length: 2000000000", method="POST")
    for accept, kind in (("application/json", b"application/problem+json"), ("text/html", b"text/html")):
        if fronted.name == "caddy" and accept == "text/html":
            continue
        with socket.create_connection(("127.0.0.1", fronted.port), PATIENCE) as connection:
            connection.sendall(asked.replace(b"\r\n\r\n", b"\r\nAccept: %s\r\n\r\n" % accept.encode()))
            got = connection.recv(65_536)
        assert got.startswith(b"HTTP/1.1 413 ")
        assert kind in got
        assert b"Send fewer or packed texts" in got


def test_too_many_requests_of_one_address_are_refused_by_nginx_and_explained(fronted: Fronted) -> None:
    if fronted.name != "nginx":
        pytest.skip("Caddy has no limit by address.")
    with SlowClients(fronted.port, 100, DRIPS_BODY, each=100) as slow:
        until(lambda: slow.statuses["429"], "connections beyond 64 are refused")
    found = orjson.loads(slow.last["429"].partition(b"\r\n\r\n")[2])
    assert found["status"] == 429
    assert b"Retry-After: 2" in slow.last["429"]


def test_a_proxy_without_the_service_says_when_to_come_again(fronted: Fronted, tmp_path: Path) -> None:
    with proxy(fronted.name, tmp_path, [f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"]) as port:
        answer = httpx.get(f"http://127.0.0.1:{port}/v1/scorers", timeout=PATIENCE)
        assert problem(answer) == (503, "/problems/unavailable")
        assert answer.headers["Retry-After"] == "2"


def test_metrics_are_not_for_those_outside(fronted: Fronted) -> None:
    with fronted.client() as client:
        for path in ("/metrics", "/metrics/", "/%6detrics"):
            answer = client.get(path)
            assert problem(answer) == (403, "about:blank")
            assert "TREESCORE_PROBE_BIND" in answer.json()["detail"]


def test_probes_are_answered_on_their_port_while_all_threads_are_taken(alone: ApiProcess) -> None:
    probes = f"http://{alone.variables['TREESCORE_PROBE_BIND']}"
    database = str(alone.context.config.data_dir / "treescore.db")
    with closing(sqlite3.connect(database)) as blocker, ThreadPoolExecutor(4) as pool:
        httpx.post(f"{alone.address}/v1/jobs", json=DEPENDENCIES)
        blocker.execute("BEGIN IMMEDIATE")
        posts = [pool.submit(httpx.post, f"{alone.address}/v1/jobs", json=DEPENDENCIES, timeout=60) for _ in range(3)]
        until(lambda: httpx.get(f"{probes}/readyz").json()["server"]["busy"] >= 2, "both threads are taken")
        assert httpx.get(f"{probes}/livez").is_success
        assert b"treescore_" in httpx.get(f"{probes}/metrics").content
        assert httpx.get(f"{probes}/v1/scorers").status_code == 404
        blocker.rollback()
        assert [post.result().status_code for post in posts] == [202] * 3


BY_HEAD = (
    ("/v1/nothing", "POST", "application/json", "", 404),
    ("/v1/jobs", "PUT", "application/json", "", 405),
    ("/v1/benchmarks", "POST", "application/json", "", 401),
    ("/v1/jobs", "POST", "text/plain", "", 415),
)


@pytest.mark.parametrize("length", ["Content-Length: 50000000", "Transfer-Encoding: chunked"])
def test_a_large_body_is_refused_by_its_head(alone: ApiProcess, length: str) -> None:
    for path, method, media, token, status in BY_HEAD:
        lines = [f"Content-Type: {media}", length, *([token] if token else [])]
        with socket.create_connection(("127.0.0.1", alone.port), timeout=20) as connection:
            connection.sendall(head(path, *lines, method=method))
            got = connection.recv(65_536)
        assert got.startswith(f"HTTP/1.1 {status} ".encode()), (path, got[:40])


def test_a_sender_who_falls_silent_is_refused(alone: ApiProcess) -> None:
    got = alone.exchange(head("/v1/jobs", "Content-Type: application/json", "Content-Length: 90", method="POST") + b"{")
    assert got.startswith(b"HTTP/1.1 408 ")
    document = orjson.loads(got.partition(b"\r\n\r\n")[2])
    assert (document["status"], document["type"]) == (408, "/problems/request-timeout")


def test_requests_in_hand_are_answered_before_the_end(alone: ApiProcess) -> None:
    with ThreadPoolExecutor(1) as pool, alone.client() as client:
        posted = pool.submit(client.post, "/v1/jobs", json=DEPENDENCIES, headers={"Prefer": "wait=2"})
        until(alone.waiting, "a long poll waits")
        assert alone.stop() == 0
        assert posted.result().status_code == 202


SMUGGLED = {
    "both lengths": head("/v1/jobs", "Content-Length: 4", "Transfer-Encoding: chunked", method="POST"),
    "a bad chunk": head("/v1/jobs", "Transfer-Encoding: chunked", method="POST") + b"z\r\n",
}


@pytest.mark.parametrize("what", SMUGGLED)
def test_a_request_with_another_hidden_in_it_is_refused_and_the_other_not_answered(
    alone: ApiProcess, what: str
) -> None:
    with socket.create_connection(("127.0.0.1", alone.port)) as connection, connection.makefile("rb") as stream:
        connection.sendall(SMUGGLED[what] + head("/livez"))
        connection.shutdown(socket.SHUT_WR)
        got = stream.read()
    assert got.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 415 "))
    assert b" 200 OK" not in got
