"""Jobs a second of a running topology, and what each of them costs the database, Redis and the network."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import psutil

from hosts.load import Load, settled, stored_jobs
from hosts.topology import APIS, POSTGRES, REDIS, WORKERS, Topology, until
from tests.fixtures.requests import GOLD_CONLLU, ONE_WRONG

SENTENCES = 2_000
LARGE: dict[str, Any] = {
    "format": "conllu",
    "gold": GOLD_CONLLU * (SENTENCES // 2),
    "systems": [{"name": "one", "output": ONE_WRONG * (SENTENCES // 2)}],
    "metrics": ["attachment"],
}
"""A job whose scoring takes longer than its way there and back."""
WARM_UP = 10
"""Jobs before the measurement."""


@dataclass(frozen=True)
class Rate:
    """Figures of one measurement.

    Attributes:
        jobs: done.
        seconds: from the first job's acceptance to the end of the last job.
        cores: that were busy on the whole machine, on average.
        commits: of PostgreSQL, a job.
        commands: of Redis, a job.
        received: bytes that came to each tier, a job.
    """

    jobs: int
    seconds: float
    cores: float
    commits: float
    commands: float
    received: dict[str, float]

    @property
    def per_second(self) -> float:
        """Jobs a second."""
        return self.jobs / self.seconds


TIERS = {"api": APIS, "workers": WORKERS, "postgres": (POSTGRES,), "redis": (REDIS,)}


def rate(topology: Topology, seconds: float, request: dict[str, Any] | None = None, clients: int = 8) -> Rate:
    """Send jobs for some seconds without a pause and wait for the last of them."""
    with Load(topology, request, clients=1) as first:
        until(lambda: len(first.accepted) >= WARM_UP, "the first jobs")
    settled(topology, first, 300)
    before = set(stored_jobs(topology))
    counts = _counts(topology)
    psutil.cpu_percent()
    with Load(topology, request, clients=clients) as account:
        threading.Event().wait(seconds)
    settled(topology, account, 600)
    cores = psutil.cpu_percent() / 100 * (psutil.cpu_count() or 1)
    used = {name: value - counts[name] for name, value in _counts(topology).items()}
    done = [job for job in stored_jobs(topology) if job not in before]
    jobs = len(done)
    return Rate(
        jobs=jobs,
        seconds=_span(topology, done),
        cores=cores,
        commits=used["commits"] / jobs,
        commands=used["commands"] / jobs,
        received={tier: used[tier] / jobs for tier in TIERS},
    )


def _counts(topology: Topology) -> dict[str, float]:
    with topology.database() as database:
        [commits] = database.execute("SELECT sum(xact_commit) FROM pg_stat_database").fetchone() or [0]
    with topology.queue() as connection:
        commands = connection.info("stats")["total_commands_processed"]
    received = {tier: sum(topology.network[host].received() for host in hosts) for tier, hosts in TIERS.items()}
    return {"commits": float(commits), "commands": float(commands), **received}


def _span(topology: Topology, jobs: list[str]) -> float:
    query = "SELECT extract(epoch FROM max(finished_at) - min(created_at)) FROM runs WHERE id = ANY(%s)"
    with topology.database() as database:
        [seconds] = database.execute(query, [jobs]).fetchone() or [0]
    return float(seconds)
