"""A large submission on real workers: two share it, either may be killed, and all of it stops when it is cancelled."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG
from tests.fixtures.service_process import ServiceProcess, gone, until

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

REPEATS = 2_000
PARTS = 8
SPREAD = {"TREESCORE_SPREAD_BYTES": "1000000"}
"""A submission here has three times as much, in as many pieces as parts."""
WAIT = {"Prefer": "wait=60"}


def text(sentences: str, part: int) -> str:
    """A text whose digest is its own."""
    return f"# part = {part}\n" + sentences * REPEATS


BENCHMARK = {
    "id": "large",
    "title": "Many parts",
    "format": "conllu",
    "metrics": ["attachment"],
    "parts": {f"p{part}": {"gold": text(GOLD_CONLLU, part)} for part in range(PARTS)},
}


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceProcess]:
    """A service with two live workers."""
    with tempfile.TemporaryDirectory(prefix="ts-e2e-") as folder:
        service = ServiceProcess(Path(folder), **SPREAD)
        service.start()
        yield service
        service.stop()


@pytest.fixture(scope="module")
def benchmark(service) -> str:
    with service.client() as client:
        assert client.post("/v1/benchmarks", json=BENCHMARK, headers=WAIT).status_code == 201
        until(lambda: client.get("/v1/benchmarks/large").json()["active_revision"], "the gold standard is checked")
    return "/v1/benchmarks/large/submissions"


def outputs(name: str) -> dict[str, str]:
    """Outputs with the same words for every name, and digests of their own."""
    return {f"p{part}": f"# name = {name}\n" + text(ONE_WRONG, part) for part in range(PARTS)}


def held(service: ServiceProcess) -> list[str]:
    """What names the work of those who have a piece at hand."""
    with closing(sqlite3.connect(service.folder / "data" / "treescore.db")) as db:
        return [holder for (holder,) in db.execute("SELECT holder FROM pieces WHERE body IS NULL AND holder NOT NULL")]


def shared(service: ServiceProcess, client: httpx.Client, benchmark: str, name: str) -> str:
    """A submission that two workers are scoring: the first one that does not end before a killed worker is back."""
    for number in count():
        answer = client.post(benchmark, json={"outputs": outputs(f"{name} {number}")})
        assert answer.status_code == 202
        submission = str(answer.json()["id"])
        shares = "two workers have a piece, or it has ended"
        if until(lambda: len(held(service)) == 2 or ended(client, submission), shares) is True:  # noqa: B023 - called here
            return submission
    raise AssertionError


def ended(client: httpx.Client, submission: str) -> Any:
    """The submission once it is final; nothing before."""
    found = client.get(f"/v1/submissions/{submission}").json()
    return found["finished_at"] and found


def final(client: httpx.Client, submission: str) -> dict[str, Any]:
    return dict(until(lambda: ended(client, submission), "the submission has ended"))


def result(document: dict[str, Any]) -> Any:
    """The scores, without what names the texts."""
    assert document["state"] == "succeeded", document["failure"]
    return [{**metric, "signature": None} for metric in document["scores"]["metrics"].values()]


@pytest.mark.parametrize("killed", ["one", "both", "its worker"])
def test_the_result_is_the_same_whichever_work_horse_is_killed(service, benchmark, killed):
    with service.client() as client:
        expected = client.post(benchmark, json={"outputs": outputs("first")}, headers=WAIT).json()
        submission = shared(service, client, benchmark, killed)
        horses = service.work_horses()
        victims = {"one": horses[:1], "both": horses, "its worker": service.worker_processes()[:1]}
        for process in victims[killed]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        assert result(final(client, submission)) == result(final(client, expected["id"]))
        until(lambda: len(service.worker_processes()) == service.workers, "all workers are back")
    assert held(service) == []


def test_both_work_horses_end_when_it_is_cancelled(service, benchmark):
    with service.client() as client:
        submission = shared(service, client, benchmark, "cancelled")
        horses = service.work_horses()
        assert client.post(f"/v1/submissions/{submission}/cancel").json()["state"] == "cancelled"
        until(lambda: gone(horses), "the work-horses have ended")
        assert held(service) == []
        assert client.get(f"/v1/submissions/{submission}").json()["state"] == "cancelled"
