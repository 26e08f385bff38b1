"""The image as it is built, and the compose file's services in containers: nothing is refused, nothing lost."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self
from uuid import uuid4

import httpx
import pytest

from tests.deployment.container_files import SECRETS
from tests.fixtures.podman import IMAGE, Compose, Podman, UnavailableError
from tests.fixtures.requests import TREES
from tests.fixtures.service_process import PATIENCE, free_port, until

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
LARGEST = 450_000_000
"""Bytes of the image, half of them the compiler's library and the linear algebra of NumPy and SciPy."""
ORGANISER = {"Authorization": f"Bearer {SECRETS['TREESCORE_ADMIN_TOKEN']}"}


class Load:
    """Two clients that send jobs and repeat what they are told to repeat, from `with` to its end."""

    def __init__(self, client: httpx.Client) -> None:
        self.accepted: dict[str, str] = {}
        self.refused: list[str] = []
        self._client = client
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(2)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        while not self._stop.is_set():
            key = uuid4().hex
            while key not in self.accepted:
                try:
                    answer = self._client.post("/v1/jobs", json=TREES, headers={**ORGANISER, "Idempotency-Key": key})
                except httpx.TransportError as error:
                    self.refused.append(type(error).__name__)
                    return
                if answer.is_success:
                    self.accepted[key] = answer.json()["id"]
                elif "Retry-After" in answer.headers:
                    self._stop.wait(0.2)
                else:
                    self.refused.append(f"{answer.status_code} {answer.text}")
                    return
            self._stop.wait(0.1)


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    with tempfile.TemporaryDirectory(prefix="ts-podman-") as name:
        made = Podman(Path(name))
        try:
            made.make_bases()
        except UnavailableError as missing:
            pytest.skip(str(missing))
        made.build()
        yield made


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def compose(podman: Podman, port: int) -> Iterator[Compose]:
    started = Compose(podman, port)
    try:
        started.up()
        yield started
    finally:
        started.down()


@pytest.fixture
def client(compose: Compose, port: int) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as made:
        until(lambda: made.get("/readyz").json()["checks"]["queue"] == "ok", "the service is ready")
        yield made


def scored(client: httpx.Client, job: str) -> bool:
    answer = client.get(f"/v1/jobs/{job}", headers=ORGANISER)
    return answer.is_success and answer.json()["state"] == "succeeded"


def test_the_image_is_small_and_has_neither_pip_nor_tests(podman: Podman) -> None:
    assert int(podman("image", "inspect", "--format", "{{.Size}}", IMAGE)) < LARGEST
    found = podman(
        "run", "--rm", "--entrypoint", "find", IMAGE,
        "/opt/treescore", "/usr/lib/python3", "-name", "pip", "-o", "-name", "setuptools", "-o", "-name", "tests",
    )  # fmt: skip
    assert found.split() == []


def test_machine_code_of_the_image_is_used_as_it_lies(podman: Podman) -> None:
    program = (
        "import treescore.core.jit as j; from treescore.core.registry import load_all; load_all(); print(j.state())"
    )
    options = ["--rm", "--read-only", "--read-only-tmpfs=false", "--network=none", "--entrypoint=python"]
    assert podman("run", *options, IMAGE, "-c", program).strip() == "compiled"


def test_a_job_is_scored_behind_the_proxy(client: httpx.Client) -> None:
    assert client.get("/metrics").status_code == 403
    answer = client.post("/v1/jobs", json=TREES, headers={**ORGANISER, "Prefer": "wait=60"})
    assert (answer.status_code, answer.json()["state"]) == (201, "succeeded"), answer.text


def test_what_is_accepted_is_scored_whichever_container_is_killed(compose: Compose, client: httpx.Client) -> None:
    with Load(client) as load:
        for name in compose.running():
            if name != "proxy":
                compose.kill(name)
                compose.wait_healthy(name)
    assert not load.refused
    assert load.accepted
    for job in load.accepted.values():
        until(lambda job=job: scored(client, job), f"{job} is scored", 120)


def test_an_upgrade_refuses_nothing(compose: Compose, client: httpx.Client) -> None:
    with Load(client) as load:
        for name in ("api-1", "api-2", "worker", "bulk-worker", "sweeper"):
            compose.replace(name)
    assert not load.refused
    for job in load.accepted.values():
        until(lambda job=job: scored(client, job), f"{job} is scored", 120)


def test_redis_asks_for_its_password(compose: Compose) -> None:
    bare = ("exec", "--env", "REDISCLI_AUTH=", "redis", "valkey-cli", "ping")
    assert "NOAUTH" in compose.podman(*bare)
    assert SECRETS["REDIS_PASSWORD"] not in compose.podman("top", "redis", "args")
