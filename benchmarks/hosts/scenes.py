"""What is done to the hosts while clients send jobs, and what must be true afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from hosts.load import Account, Load, settled, stored_jobs
from hosts.topology import APIS, FAKE_TIME, POSTGRES, REDIS, SWEEPER, WORKERS, Topology, until

PAUSE = 0.4
"""Seconds between two jobs of a client: four clients send some ten a second, which two cores can do."""


@dataclass(frozen=True)
class Outcome:
    """What a scene showed.

    Attributes:
        accepted: jobs whose acceptance a client has seen.
        lost: of them, those that were not done.
        twice: jobs in the store for which no client had asked, or that stand there twice.
        refused: answers that were neither accepted nor said to be repeated.
        repeated: requests that were sent again.
        begun_again: jobs that took more than one attempt.
        longest: seconds from sending to acceptance, of the slowest job.
        until_done: seconds from the end of the load to the end of the last job.
    """

    accepted: int
    lost: int
    twice: int
    refused: list[str]
    repeated: dict[str, int]
    begun_again: int
    longest: float
    until_done: float

    @property
    def whole(self) -> bool:
        """Whether nothing was lost, done twice or refused."""
        return self.accepted > 0 and not (self.lost or self.twice or self.refused)


@contextmanager
def _judged(topology: Topology, found: list[Outcome], patience: float) -> Iterator[Account]:
    """Send jobs during the block; judge afterwards."""
    before = set(stored_jobs(topology))
    with Load(topology, pause=PAUSE) as account:
        yield account
    begun = perf_counter()
    states = settled(topology, account, patience)
    stored = {job: known for job, known in stored_jobs(topology).items() if job not in before}
    asked = set(account.accepted.values())
    found.append(
        Outcome(
            accepted=len(account.accepted),
            lost=sum(state != "succeeded" for state in states.values()),
            twice=len(set(stored) - asked) + len(account.accepted) - len(asked),
            refused=account.refused,
            repeated=dict(account.repeated),
            begun_again=sum(attempts > 1 for _, attempts in stored.values()),
            longest=max(account.seconds, default=0.0),
            until_done=perf_counter() - begun,
        )
    )


def _in_the_middle(
    topology: Topology, act: Callable[[Account], None], patience: float = 300.0, lead: int = 20
) -> Outcome:
    """Do something once some jobs have been accepted, and send as many again afterwards."""
    found: list[Outcome] = []
    with _judged(topology, found, patience) as account:
        until(lambda: len(account.accepted) >= lead, "the first jobs")
        act(account)
        more = len(account.accepted) + lead
        until(lambda: len(account.accepted) >= more, "jobs afterwards")
    return found[0]


def _pass(seconds: float) -> None:
    threading.Event().wait(seconds)


def cut_off_worker(topology: Topology, seconds: float = 60.0) -> Outcome:
    """A host of workers loses the network and gets it back; its workers work again."""
    host = topology.network[WORKERS[0]]

    def act(_: Account) -> None:
        host.cut()
        _pass(seconds)
        host.join()

    outcome = _in_the_middle(topology, act)
    until(topology.ready, "workers of the joined host")
    return outcome


def cut_off_api(topology: Topology, seconds: float = 60.0) -> Outcome:
    """An API host loses the network and gets it back: the proxy uses the other."""
    host = topology.network[APIS[0]]

    def act(_: Account) -> None:
        host.cut()
        _pass(seconds)
        host.join()

    return _in_the_middle(topology, act)


def wrong_clock(topology: Topology, ahead: int) -> Outcome:
    """The clock of one host of workers is some seconds ahead, or behind where negative.

    Raises:
        LookupError: this machine has no libfaketime.
    """
    if not FAKE_TIME.exists():
        raise LookupError("libfaketime was not found. Install Debian's package libfaketime.")
    return _in_the_middle(topology, lambda _: _restart_workers(topology, WORKERS[1], ahead), lead=100)


def _restart_workers(topology: Topology, host: str, ahead: int = 0) -> None:
    topology.skewed = {host: ahead} if ahead else {}
    for each, service in topology.placed():
        if each == host:
            topology.stop(each, service)
            topology.run(each, service)
    until(topology.ready, f"the workers of {host}")


def empty_redis(topology: Topology) -> Outcome:
    """Redis dies and an empty one takes its place."""

    def act(_: Account) -> None:
        topology.stop(REDIS, REDIS, signal.SIGKILL)
        _pass(2.0)
        topology.start_redis(empty=True)

    outcome = _in_the_middle(topology, act)
    until(topology.ready, "workers at the new Redis")
    return outcome


def restarted_postgres(topology: Topology) -> Outcome:
    """PostgreSQL is restarted."""

    def act(_: Account) -> None:
        topology.stop(POSTGRES, POSTGRES, signal.SIGINT)
        _pass(2.0)
        topology.start_postgres()

    return _in_the_middle(topology, act)


def rolling_restart(topology: Topology) -> Outcome:
    """Every process of the service is replaced, one after the other, as for a new version."""

    def act(_: Account) -> None:
        for host in APIS:
            topology.stop(host, "api")
            topology.run(host, "api")
            until(partial(topology.answers, host), f"the API of {host}")
        for host, service in topology.placed():
            topology.stop(host, service)
            topology.run(host, service)
            until(topology.ready, f"{service} of {host}")
        for name in ("sweeper", "views"):
            topology.stop(SWEEPER, name)
            topology.run(SWEEPER, name)

    return _in_the_middle(topology, act)


SCENES: dict[str, Callable[[Topology], Outcome]] = {
    "a host of workers is cut off for a minute": cut_off_worker,
    "an API host is cut off for a minute": cut_off_api,
    "a worker's clock is a minute ahead": lambda topology: wrong_clock(topology, 60),
    "a worker's clock is a minute behind": lambda topology: wrong_clock(topology, -60),
    "Redis is replaced by an empty one": empty_redis,
    "PostgreSQL is restarted": restarted_postgres,
    "all processes are replaced, one after the other": rolling_restart,
}
"""What is shown, by its words in the table."""
