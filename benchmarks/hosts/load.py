"""Clients that send jobs, repeat what an answer asks them to repeat, and keep account of each.

They do what docs/operate/deployment.md asks of clients: each job has an `Idempotency-Key`, and an answer 429 or 503
with `Retry-After`, or a broken connection, is followed by the same request.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any
from uuid import uuid4

import httpx
import psycopg

from hosts.topology import Topology, until
from tests.fixtures.requests import DEPENDENCIES

FINAL = ("succeeded", "failed", "cancelled")
TOLD_TO_RETRY = (429, 503)
LONGEST_PAUSE = 5.0
READ = 50
"""Jobs that are read over HTTP at the end."""


@dataclass
class Account:
    """What the clients saw.

    Attributes:
        accepted: key -> job.
        seconds: of each accepted request, repetitions included.
        repeated: reasons for which a request was sent again, and how often.
        refused: answers that were neither accepted nor said to be repeated; must stay empty.
    """

    accepted: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    repeated: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


class Load:
    """Jobs from several clients at once, from `with` to its end."""

    def __init__(
        self, topology: Topology, request: dict[str, Any] | None = None, clients: int = 4, pause: float = 0.0
    ) -> None:
        self.topology = topology
        self.request = DEPENDENCIES if request is None else request
        self.account = Account()
        self._clients = clients
        self._pause = pause
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Account:
        self._threads = [threading.Thread(target=self._send, daemon=True) for _ in range(self._clients)]
        for thread in self._threads:
            thread.start()
        return self.account

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        with self.topology.client() as client:
            while not self._stop.is_set():
                self._send_one(client, uuid4().hex)
                self._stop.wait(self._pause)

    def _send_one(self, client: httpx.Client, key: str) -> None:
        """Send one job until it is accepted; also after the end of the load, so that each key has its job."""
        begun = perf_counter()
        while True:
            try:
                answer = client.post("/v1/jobs", json=self.request, headers={"Idempotency-Key": key})
            except httpx.TransportError as error:
                self._note_repeated(type(error).__name__)
                continue
            if answer.is_success:
                with self._lock:
                    self.account.accepted[key] = answer.json()["id"]
                    self.account.seconds.append(perf_counter() - begun)
                return
            pause = answer.headers.get("Retry-After")
            if answer.status_code not in TOLD_TO_RETRY or pause is None:
                with self._lock:
                    self.account.refused.append(f"{answer.status_code} {answer.text[:200]}")
                return
            self._note_repeated(str(answer.status_code))
            self._stop.wait(min(float(pause), LONGEST_PAUSE))

    def _note_repeated(self, reason: str) -> None:
        with self._lock:
            self.account.repeated[reason] += 1


def settled(topology: Topology, account: Account, seconds: float) -> dict[str, str]:
    """Wait until every accepted job is final in the store, and read the newest over HTTP; return key -> state.

    Raises:
        TimeoutError: some are not.
    """
    found: dict[str, str] = until(partial(_final, topology, account), "the end of all accepted jobs", seconds)
    with topology.client() as client:
        for key, job in list(account.accepted.items())[-READ:]:
            answer = client.get(f"/v1/jobs/{job}")
            found[key] = answer.json()["state"] if answer.is_success else f"answers {answer.status_code}"
    return found


def _final(topology: Topology, account: Account) -> dict[str, str] | None:
    """Return the states of accepted jobs once all are final; a job that is not stored stays without an end."""
    try:
        stored = stored_jobs(topology)
    except psycopg.OperationalError:
        return None
    states = {key: stored[job][0] for key, job in account.accepted.items() if job in stored}
    return states if len(states) == len(account.accepted) and set(states.values()) <= set(FINAL) else None


def stored_jobs(topology: Topology) -> dict[str, tuple[str, int]]:
    """Return state and attempts of every job in the store."""
    with topology.database() as database:
        found = database.execute("SELECT id, state, attempts FROM runs WHERE kind = 'job'").fetchall()
    return {job: (state, attempts) for job, state, attempts in found}
