"""The containers' commands, run by hand: compose's environment, another store, queue and port, no Docker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.deployment.container_files import ROOT, SECRETS, compose_services, health_command
from tests.fixtures.requests import TREES
from tests.fixtures.servers import Valkey
from tests.fixtures.service_process import PATIENCE, free_port, until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

RUNNING = ("api-1", "worker", "bulk-worker", "views", "sweeper")


class Containers:
    """The services of docker-compose.yml as processes of this machine."""

    def __init__(self, folder: Path, database_url: str, redis_url: str) -> None:
        self.port, self.probes = free_port(), free_port()
        self.folder = folder
        self.replaced = {
            "TREESCORE_DATABASE_URL": database_url,
            "TREESCORE_REDIS_URL": redis_url,
            "TREESCORE_DATA_DIR": str(folder),
        }
        self.services = compose_services()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """A service's command in its own environment; nothing else of TREESCORE_ is set."""
        given = {**self.services[name]["environment"], **self.replaced}
        if name.startswith("api"):
            given |= {"TREESCORE_BIND": f"0.0.0.0:{self.port}", "TREESCORE_PROBE_BIND": f"0.0.0.0:{self.probes}"}
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("TREESCORE_")}
        # What the image's `treescore` runs, whether or not the project is installed here
        command = [sys.executable, "-m", "service", *self.services[name]["command"]]
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, env=inherited | given, cwd=ROOT, stdout=log, stderr=log)
        self.processes[name] = process
        return process

    def healthy(self) -> bool:
        """What the image's health check says."""
        shell, option, code = health_command()
        check = [shell, option, code.replace("8001", str(self.probes))]
        return subprocess.run(check, check=False, capture_output=True).returncode == 0

    def end(self) -> None:
        """Kill what still runs."""
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def containers(request: pytest.FixtureRequest) -> Iterator[Containers]:
    """On PostgreSQL as compose has it, on SQLite where none is installed; the queue is a server of its own."""
    with tempfile.TemporaryDirectory(prefix="ts-") as name:
        folder = Path(name)
        try:
            url = request.getfixturevalue("empty_postgres_url")
        except pytest.skip.Exception:
            url = f"sqlite:///{folder}/store.db"
        valkey = Valkey(folder)
        valkey.start()
        started = Containers(folder, url, valkey.url)
        yield started
        started.end()
        valkey.kill()


def test_the_containers_commands_make_a_service(containers: Containers) -> None:
    for _ in range(2):  # migrating twice does no harm
        assert containers.start("migrate").wait(PATIENCE) == 0
    assert not containers.healthy()
    for name in RUNNING:
        containers.start(name)
    until(containers.healthy, "all containers are healthy")
    with httpx.Client(base_url=f"http://127.0.0.1:{containers.port}", timeout=PATIENCE) as client:
        assert client.post("/v1/jobs", json=TREES).status_code == 401
        headers = {"Authorization": f"Bearer {SECRETS['TREESCORE_ADMIN_TOKEN']}", "Prefer": "wait=60"}
        answer = client.post("/v1/jobs", json=TREES, headers=headers)
    assert answer.status_code == 201, answer.text
    assert answer.json()["state"] == "succeeded"
    for name in RUNNING:
        containers.processes[name].send_signal(signal.SIGTERM)
    for name in RUNNING:
        # One that is still loading when it is told to stop has nothing to put in order
        status = containers.processes[name].wait(PATIENCE)
        assert status in (0, -signal.SIGTERM), (containers.folder / f"{name}.log").read_text()
