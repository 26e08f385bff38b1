"""A flood of jobs of one principal delays the work of others by one job, measured in jobs and not by the clock."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.floods import BENCHMARK, Flood, flood_of
from tests.fixtures.requests import DEPENDENCIES, ONE_WRONG
from tests.fixtures.service_process import ServiceProcess, until

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

JOBS = 1000
SENTENCES = 4_000
"""Of each job of the flood: it takes longer than the service takes to store a submission."""
WAIT = {"Prefer": "wait=60"}


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceProcess]:
    """A service with one live worker."""
    with tempfile.TemporaryDirectory(prefix="ts-e2e-") as folder:
        service = ServiceProcess(Path(folder), workers=1)
        service.start()
        yield service
        service.stop()


@pytest.fixture(scope="module")
def team(service) -> dict[str, str]:
    """The headers of a team's requests."""
    with service.client() as client:
        assert client.post("/v1/benchmarks", json=BENCHMARK, headers=WAIT).status_code == 201
        made = client.post("/v1/benchmarks/demo/teams", json={"id": "lyon", "name": "Lyon"}).json()
    return {"Authorization": f"Bearer {made['token']}", **WAIT}


@pytest.fixture(scope="module")
def flood(service, team) -> Iterator[Flood]:
    """A thousand jobs without a token, of which the first are done."""
    with flood_of(service.folder / "data") as flood:
        flood.pour(JOBS, SENTENCES)
        until(lambda: flood.begun() >= 2, "two jobs of the flood have begun")
        yield flood


def test_a_submission_is_done_before_the_second_next_job_of_the_flood(service, team, flood):
    with service.client() as client:
        answer = client.post("/v1/benchmarks/demo/submissions", json={"outputs": {"en": ONE_WRONG}}, headers=team)
    assert answer.status_code == 201
    assert flood.begun_between(flood.run(answer.json()["id"])) <= 1
    assert flood.begun() < JOBS


def test_an_ad_hoc_job_of_another_principal_is_too(service, flood):
    with service.client() as client:
        answer = client.post("/v1/jobs", json=DEPENDENCIES, headers=WAIT)
    assert answer.status_code == 201
    assert flood.begun_between(flood.run(answer.json()["id"])) <= 1
    assert flood.begun() < JOBS


def test_the_flood_goes_on_after_its_work_horse_is_killed(service, flood):
    [horse] = until(service.work_horses, "a work-horse is at work")
    horse.kill()
    reached = flood.begun() + 2
    until(lambda: flood.begun() >= reached, "two more jobs of the flood have begun")
