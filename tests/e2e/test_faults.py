"""Whatever dies, accepted work survives and finishes, once."""

from __future__ import annotations

import contextlib

import httpx
import psutil
import pytest

from tests.fixtures.requests import DEPENDENCIES, compared
from tests.fixtures.service_process import ServiceProcess, gone, until

pytestmark = [pytest.mark.e2e, pytest.mark.faults]


@pytest.fixture(scope="module")
def long_job() -> dict:
    """A job that takes long enough for a test to kill what works on it."""
    return compared(30)


def submit_and_begin(service: ServiceProcess, client, request) -> str:
    response = client.post("/v1/jobs", json=request)
    assert response.status_code == 202
    until(service.work_horses, "a work-horse is at work")
    job = response.json()["id"]
    until(lambda: client.get(f"/v1/jobs/{job}").json()["state"] == "running", "the job runs")
    return job


def finished(client, job: str) -> dict:
    def succeeded():
        found = client.get(f"/v1/jobs/{job}").json()
        return found["state"] == "succeeded" and found

    return until(succeeded, "the job has succeeded")


def end(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.fixture(autouse=True)
def rested(breakable) -> None:
    """No process of an earlier test is at work: the one there will be is that of the test."""
    until(lambda: not breakable.work_horses(), "no work-horse is left")


def test_a_killed_work_horse(breakable, long_job):
    with breakable.client() as client:
        job = submit_and_begin(breakable, client, long_job)
        breakable.work_horses()[0].kill()
        document = finished(client, job)
    assert len(document["results"]["systems"]) == len(long_job["systems"])


def test_a_job_is_cancelled_where_it_is(breakable, long_job):
    with breakable.client() as client:
        job = submit_and_begin(breakable, client, long_job)
        horse = breakable.work_horses()[0]
        assert client.post(f"/v1/jobs/{job}/cancel").json()["state"] == "cancelled"
        until(lambda: gone([horse]), "the work-horse of the cancelled job has ended")
        assert client.get(f"/v1/jobs/{job}").json()["state"] == "cancelled"
        assert client.post("/v1/jobs", json=DEPENDENCIES, headers={"Prefer": "wait=20"}).status_code == 201


def test_a_killed_worker(breakable, long_job):
    with breakable.client() as client:
        job = submit_and_begin(breakable, client, long_job)
        horse = breakable.work_horses()[0]
        worker = horse.parent()
        worker.kill()
        until(lambda: gone([horse]), "the work-horse has ended")
        assert finished(client, job)["failure"] is None
        until(lambda: len(breakable.worker_processes()) == breakable.workers, "the worker is back")


def test_a_killed_redis_server(breakable, long_job):
    with breakable.client() as client:
        job = submit_and_begin(breakable, client, long_job)
        waiting = client.post(
            "/v1/jobs", json=long_job | {"metrics": ["ud"], "systems": long_job["systems"][:1]}
        ).json()["id"]
        breakable.named("redis.sock")[0].kill()
        assert finished(client, job)["failure"] is None
        assert finished(client, waiting)["failure"] is None


def test_a_queue_that_lost_everything(breakable, long_job):
    with breakable.client() as client:
        job = submit_and_begin(breakable, client, long_job)
        server = breakable.named("redis.sock")[0]
        for log in (breakable.folder / "data" / "queue").rglob("*.aof"):
            log.write_bytes(b"")
        server.kill()
        assert finished(client, job)["failure"] is None


def test_a_killed_api_process(breakable):
    with breakable.client() as client:
        end(breakable.named("gunicorn"))
        assert until(lambda: answers(client), "the API answers again")


def test_a_killed_process_of_views(breakable):
    with breakable.client() as client:
        job = client.post("/v1/jobs", json={**DEPENDENCIES, "items": {}}).json()["id"]
        finished(client, job)
        address = f"/v1/jobs/{job}/items?system={DEPENDENCIES['systems'][0]['name']}&metric=attachment"
        end(breakable.named("workers.views"))
        asked = until(lambda: (found := client.get(address)).status_code != 503 and found, "its items are made")
        assert asked.json()["items"]
        assert [found.nice() for found in breakable.named("workers.views")] == [0]
    assert {worker.nice() for worker in breakable.worker_processes()} == {10}


def answers(client) -> bool:
    try:
        return client.get("/livez").is_success
    except httpx.TransportError:
        return False


def test_a_killed_supervisor_leaves_nothing_behind_and_loses_nothing(breakable, long_job):
    with breakable.client() as client:
        job = submit_and_begin(breakable, client, long_job)
    family = breakable.family()
    breakable.kill()
    until(lambda: gone(family), "all processes have ended")
    breakable.start()
    with breakable.client() as client:
        assert finished(client, job)["failure"] is None


def test_stopping_keeps_every_job_and_result(breakable, long_job):
    with breakable.client() as client:
        done = client.post("/v1/jobs", json=long_job, headers={"Prefer": "wait=60"})
        assert done.status_code == 201
        etag = done.headers["ETag"]
    family = breakable.family()
    assert breakable.stop() == 0
    until(lambda: gone(family), "all processes have ended")
    breakable.start()
    with breakable.client() as client:
        again = client.get(f"/v1/jobs/{done.json()['id']}", headers={"Accept-Encoding": "identity"})
        assert (again.json(), again.headers["ETag"]) == (done.json(), etag)


def test_a_second_service_on_the_same_data_is_refused(breakable):
    second = ServiceProcess(breakable.folder)
    with pytest.raises(AssertionError, match="in use by another"):
        second.start()
