"""A job that takes more time or memory than the service allows is ended, says so, and holds up no other."""

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


def test_a_job_that_asks_for_too_much_memory_is_ended_and_the_next_is_scored():
    blank = {"format": "pharaoh", "metrics": ["alignment"], "gold": "0-0\n" + "\n" * 999_999}
    large = {**blank, "systems": [{"name": "a", "output": blank["gold"]}]}
    with tempfile.TemporaryDirectory(prefix="ts-e2e-") as folder:
        service = ServiceProcess(Path(folder), workers=1, TREESCORE_MAX_RUN_BYTES="150000000")
        service.start()
        with service.client() as client:
            ended = client.post("/v1/jobs", json=large, headers={"Prefer": "wait=60"}).json()
            quick = client.post("/v1/jobs", json=compared(1), headers={"Prefer": "wait=60"}).json()
        service.stop()
    assert (ended["failure"]["kind"], ended["failure"]["errors"][0]["code"]) == ("limit", "job-memory")
    assert quick["state"] == "succeeded"
