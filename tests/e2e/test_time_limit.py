"""A job that takes longer than the service allows is ended, says so, and holds up nobody."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.requests import compared
from tests.fixtures.service_process import ServiceProcess

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture
def hasty() -> Iterator[ServiceProcess]:
    """A service with one worker that gives each job two seconds."""
    with tempfile.TemporaryDirectory(prefix="ts-e2e-") as folder:
        service = ServiceProcess(Path(folder), workers=1, TREESCORE_MAX_JOB_SECONDS="2")
        service.start()
        yield service
        service.stop()


def test_a_first_and_a_later_job_of_a_work_horse_are_ended_in_time(hasty):
    with hasty.client() as client:
        for _ in range(2):
            slow = client.post("/v1/jobs", json=compared(150), headers={"Prefer": "wait=60"})
            assert slow.status_code == 201
            failure = slow.json()["failure"]
            assert (failure["kind"], failure["errors"][0]["code"]) == ("limit", "job-timeout")
            quick = client.post("/v1/jobs", json=compared(1), headers={"Prefer": "wait=60"})
            assert quick.json()["state"] == "succeeded"
