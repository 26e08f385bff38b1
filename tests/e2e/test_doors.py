"""Doors of the real processes: files, sockets, the ready line, and requests that only raw sockets send."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import httpx
import psutil
import pytest

from tests.fixtures.service_process import PATIENCE, ROOT, ServiceProcess, until

pytestmark = pytest.mark.e2e

GIVEN = "given-token-0123456789-xyz"


def open_to_others(folder: Path) -> dict[str, str]:
    """Files and folders, this one with them, that other users of the machine can use."""
    modes = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}
    return {path: f"{mode:o}" for path, mode in modes.items() if mode & 0o077}


def umask_of(process: psutil.Process) -> str:
    """The umask of a process, as Linux tells it."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Umask:"))


def test_every_file_of_a_running_service_is_its_owners_alone(served: ServiceProcess) -> None:
    data = served.folder / "data"
    names = {path.name for path in data.iterdir()}
    assert {"treescore.db", "treescore.db-wal", "treescore.db-shm", "queue", "lock", "admin-token"} <= names
    assert open_to_others(data) == {}
    with served.client() as client:
        client.get("/v1/jobs")
    if sys.platform == "linux":
        assert {umask_of(process) for process in served.family()} == {"0077"}


@pytest.fixture
def loose() -> Iterator[Path]:
    """A folder with an open data directory, left by another program that ran with umask 0."""
    with tempfile.TemporaryDirectory(prefix="ts-") as folder:
        data = Path(folder) / "data"
        for name in ("queue", "x"):
            (data / name).mkdir(parents=True, exist_ok=True)
        (data / "x").rmdir()
        for name in ("treescore.db", "lock", "queue/server-version"):
            (data / name).touch()
        (data / "queue" / "server-version").write_text("7.0")
        for path in (data, *data.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        yield Path(folder)


@pytest.mark.slow
def test_a_given_token_opens_the_service_and_is_printed_nowhere(loose: Path) -> None:
    secret = loose / "secret"
    secret.write_text(GIVEN + "\n")
    old = os.umask(0)
    try:
        service = ServiceProcess(loose, workers=1, TREESCORE_ADMIN_TOKEN_FILE=str(secret), TREESCORE_BULK_WORKERS="0")
        service.start()
    finally:
        os.umask(old)
    try:
        assert open_to_others(loose / "data") == {}
        headers = {"Authorization": f"Bearer {GIVEN}"}
        assert httpx.get(f"{service.address}/v1/tokens", headers=headers, timeout=PATIENCE).status_code == 200
        assert service.token == "TREESCORE_ADMIN_TOKEN_FILE"  # noqa: S105 - the last word of the ready line
        log = service.log.read_text()
        assert GIVEN not in log
        assert '"closed"' in log
        assert not (loose / "data" / "admin-token").exists()
    finally:
        service.stop()
    assert not list((loose / "data").glob("*-wal"))  # all had closed the store


def test_a_misspelt_variable_stops_the_start_with_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "service", "serve", "--data-dir", str(tmp_path / "data")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TREESCORE_WORKRES": "3"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "Error: Unknown variable TREESCORE_WORKRES. The nearest known name is TREESCORE_WORKERS; unset or rename it."
    ]


def status_of(service: ServiceProcess, *lines: str) -> int:
    """The status of a request that is sent as it stands, whose words are its own."""
    with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as connection:
        connection.sendall("\r\n".join((*lines, "Connection: close", "", "")).encode("latin-1"))
        answer = b""
        while b"\r\n" not in answer:
            answer += connection.recv(1000)
    status, words = answer.split(b"\r\n", 1)[0].decode().split(" ", 2)[1:]
    assert words.lower() == HTTPStatus(int(status)).phrase.lower()
    return int(status)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (("GET /v1/scorers HTTP/1.1", "Host: localhost"), 200),
        (("GET /v1/scorers HTTP/1.1",), 400),
        (("GET /v1/scorers HTTP/1.1", "Host: localhost", "Host: localhost"), 400),
        (("GET /v1/scorers HTTP/1.0",), 400),
        (("GET http://localhost/v1/scorers HTTP/1.1", "Host: localhost"), 200),
        (("GET //v1/scorers HTTP/1.1", "Host: localhost"), 404),
        (("GET /v1/x/..%2fscorers HTTP/1.1", "Host: localhost"), 404),
        (("GET /x/v1/scorers HTTP/1.1", "Host: localhost", "SCRIPT_NAME: /x"), 404),
        (("GET /v1/scorers HTTP/1.1", "Host: localhost", "SCRIPT_NAME: /v1"), 200),
        (("GET /none HTTP/1.1", "Host: localhost", "PATH_INFO: /v1/scorers"), 404),
        (("GET /v1/scorers HTTP/1.1", "Host: localhost", "X-Forwarded-Proto: https"), 200),
        (("GET /v1/jobs/x HTTP/1.1", "Host: localhost", "X-Forwarded-For: 127.0.0.1"), 401),
    ],
)
def test_a_raw_request_reaches_what_it_should(served: ServiceProcess, lines: tuple[str, ...], status: int) -> None:
    assert status_of(served, *lines) == status


MISPLACED = "ts_secret-that-stands-in-a-wrong-place"


@pytest.mark.parametrize(
    "lines",
    [
        (f"GET /v1/jobs?token={MISPLACED}",),
        (f"GET / HTTP/{MISPLACED}",),
        ("GET / HTTP/1.1", f"Authorization Bearer {MISPLACED}"),
        ("GET / HTTP/1.1", f"Bearer {MISPLACED}: x"),
        ("POST /v1/jobs HTTP/1.1", "Host: localhost", f"Expect: {MISPLACED}"),
        ("POST /v1/jobs HTTP/1.1", "Host: localhost", f"Transfer-Encoding: {MISPLACED}"),
    ],
)
def test_a_malformed_request_is_logged_without_its_text(served: ServiceProcess, lines: tuple[str, ...]) -> None:
    before = len(served.log.read_text())
    assert status_of(served, *lines) in (400, 417, 501)

    def refused() -> list[str]:
        return [line for line in served.log.read_text()[before:].splitlines() if '"event":"invalid-request"' in line]

    assert '"client":"127.0.0.1"' in until(refused, "the log tells of the refused request")[0]
    assert MISPLACED not in served.log.read_text()
