"""Under load any process is killed at any time; each job that was accepted has one final result, and keeps it.

TREESCORE_TEST_KILL_SECONDS sets for how long, on each database.
"""

from __future__ import annotations

import os
import random
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Self

import httpx
import psutil
import pytest

from tests.fixtures.requests import DEPENDENCIES
from tests.fixtures.service_process import ServiceProcess, until

pytestmark = [pytest.mark.e2e, pytest.mark.faults, pytest.mark.timeout(3600)]

SECONDS = float(os.environ.get("TREESCORE_TEST_KILL_SECONDS", "60"))
BETWEEN = 1.5
"""Seconds between two kills."""
PROGRAMS = ("gunicorn", "workers.worker", "workers.worker", "workers.views", "workers.sweeper", "redis.sock")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def service(request: pytest.FixtureRequest) -> Iterator[ServiceProcess]:
    """A service that takes as many jobs and attempts as come."""
    environment = {"TREESCORE_MAX_QUEUED": "0", "TREESCORE_MAX_ATTEMPTS": "100000"}
    if request.param == "postgres":
        environment["TREESCORE_DATABASE_URL"] = request.getfixturevalue("empty_postgres_url")
    with tempfile.TemporaryDirectory(prefix="ts-e2e-") as folder:
        service = ServiceProcess(Path(folder), **environment)
        service.start()
        yield service
        service.stop()


class Load:
    """Jobs that are posted by a thread, as fast as they are answered; `accepted` has the ids of those that were."""

    def __init__(self, service: ServiceProcess) -> None:
        self._service = service
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._post)
        self.accepted: list[str] = []

    def _post(self) -> None:
        with self._service.client() as client:
            while not self._end.wait(0.05):
                with suppress(httpx.TransportError):
                    answer = client.post("/v1/jobs", json=DEPENDENCIES, timeout=10)
                    if answer.status_code == 202:
                        self.accepted.append(answer.json()["id"])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def kill_one(service: ServiceProcess, drawn: random.Random) -> str | None:
    """Kill a process of a kind that is drawn; return its name, None where none is there at the moment."""
    found = service.named(drawn.choice(PROGRAMS))
    if not found:
        return None
    process = drawn.choice(found)
    with suppress(psutil.NoSuchProcess):
        name = " ".join(process.cmdline()[-3:])
        process.kill()
        return name
    return None


def document(client: httpx.Client, job: str) -> tuple[str, str] | None:
    """The tag and the state of a job that has ended; None before, and while no API process answers."""
    with suppress(httpx.TransportError):
        answer = client.get(f"/v1/jobs/{job}", headers={"Accept-Encoding": "identity"})
        if answer.is_success and answer.json()["state"] not in ("queued", "running"):
            return answer.headers["ETag"], answer.json()["state"]
    return None


def test_each_accepted_job_has_one_result_whatever_is_killed(service):
    drawn = random.Random(34)  # noqa: S311 - draws what to kill
    seen: dict[str, tuple[str, str]] = {}
    killed: list[str | None] = []
    pause = threading.Event()
    with Load(service) as load, service.client() as client:
        end = monotonic() + SECONDS
        while monotonic() < end:
            pause.wait(BETWEEN)
            killed.append(kill_one(service, drawn))
            for job in drawn.sample(load.accepted, min(3, len(load.accepted))):
                found = document(client, job)
                if found is not None:
                    assert seen.setdefault(job, found) == found
    assert any(killed)
    assert load.accepted
    with service.client() as client:
        for job in load.accepted:
            found = until(lambda: document(client, job), f"the end of {job}")  # noqa: B023 - called here
            assert found[1] == "succeeded"
            assert seen.setdefault(job, found) == found
        until(lambda: document(client, load.accepted[0]) == seen[load.accepted[0]], "the same result again")
