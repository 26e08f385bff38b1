"""All that a worker relies on of RQ's insides; `tests/workers/test_rq.py` tests each reliance.

RQ forks a work-horse for every job that it takes from its queue. Here that job only wakes the worker, which does it
itself, and lets a work-horse begin that stands by: what that does, which may be many runs, and what the worker does
after it, are methods of a subclass. The service's side is `service/rq_keys.py`. `pyproject.toml` says between which
versions of RQ all of this holds.

A fork is cheap, but the forked process then copies each page of memory that it touches, and a job touches thousands.
A process that stands by has touched them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import redis
import rq
from rq.job import Job

from service.posix import die_with_parent, name_process
from service.queue import ABANDONED_AFTER
from service.rq_keys import SERIALIZER, note_heartbeat
from workers.entry import TimeLimitReached

STANDING_BY, AT_WORK = "standby", "work-horse"
"""The names of the process."""
_LONGEST = 4096
"""Bytes of a pipe that are written and read at once."""


class Standby:
    """A forked process that gets ready, waits, and does one piece of work.

    Attributes:
        pid: of the process.
    """

    def __init__(self, get_ready: Callable[[], None], work: Callable[[str], object]) -> None:
        """Fork.

        Args:
            get_ready: what the process does first.
            work: what it does with the name that `begin` gives it; then it ends, with status 1 where this has failed.
        """
        parent = os.getpid()
        receiving, self._sending = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(receiving)
            return
        try:
            os.close(self._sending)
            os.setpgrp()  # a signal to the group of the parent is not for this process
            die_with_parent(parent=parent)
            name_process(STANDING_BY)
            get_ready()
            name = os.read(receiving, _LONGEST).decode()
            if name:  # else the parent has ended
                name_process(AT_WORK)
                work(name)
            os._exit(os.EX_OK)
        finally:
            os._exit(1)

    def begin(self, name: str) -> bool:
        """Let the process work; call it once. False if the process has died."""
        try:
            os.write(self._sending, name.encode())
        except BrokenPipeError:
            os.waitpid(self.pid, 0)
            return False
        finally:
            os.close(self._sending)
        return True


HEARTBEAT_SECONDS = 2
WORKER_TTL = 30
"""Seconds for which an idle worker may block on its queue, less 15, and for which it counts as registered."""
MAINTENANCE_SECONDS = 60
MAX_AGE = 300
"""Seconds after which a work-horse takes no further run. The gold that it keeps ends with it, but so much longer may
one live that hangs: RQ counts its time from the fork."""
STOP_ASKED = "shutdown_requested_date"


class RqWorker(rq.Worker):  # type: ignore[misc]
    """RQ's forking worker on exactly one queue: with several, RQ can lose a job between two commands."""

    def __init__(self, queue: rq.Queue, connection: redis.Redis) -> None:
        super().__init__(
            [queue],
            connection=connection,
            serializer=SERIALIZER,
            job_monitoring_interval=HEARTBEAT_SECONDS,
            worker_ttl=WORKER_TTL,
            maintenance_interval=MAINTENANCE_SECONDS,
        )
        self._standby: Standby | None = None
        self._keeps_one = False

    def get_ready(self) -> None:
        """Do in the forked process what can be done before there is work; leave no connection open."""

    def woken(self, queue: str, name: str) -> None:
        """Work in the forked process, after RQ's job of this name."""
        raise NotImplementedError

    def left_behind(self, name: str) -> None:
        """Deal in the worker with what its work-horse has noted as its work and left unfinished."""
        raise NotImplementedError

    def state(self) -> str:
        """Return what is to be known of this worker beside that it lives."""
        return "alive"

    def note_work(self, name: str | None, pipeline: redis.client.Pipeline | None = None) -> None:
        """Note the id of what this worker works on, None for nothing.

        Relies on: `set_current_job_id` sets the field `current_job` of the worker's hash with one command, and asks for
        no job of RQ's; RQ itself sets it when its job begins and takes it away when that job ends.
        """
        self.set_current_job_id(name, pipeline=pipeline)

    def asked_to_stop(self) -> bool:
        """Return whether a signal has asked this worker to end after its work; the work-horse asks too.

        Relies on: the first SIGTERM or SIGINT sets the field `shutdown_requested_date` of the hash at `key`.
        """
        return bool(self.connection.hexists(self.key, STOP_ASKED))

    def time_limit(self, seconds: int) -> AbstractContextManager[object]:
        """Return a context that raises TimeLimitReached in this process after a time.

        Relies on: `death_penalty_class(seconds, error)` is a context manager, and sets the timer back at its end.
        """
        limit: AbstractContextManager[object] = self.death_penalty_class(seconds, TimeLimitReached)
        return limit

    def get_heartbeat_ttl(self, job: Any) -> int:  # noqa: ARG002 - RQ's signature
        """Return how long a started job counts as alive.

        Relies on: RQ adds it to the time of each heartbeat of a job, and not a minute more.
        """
        return ABANDONED_AFTER

    def register_birth(self) -> None:
        """Register this worker, and send its first heartbeat. Relies on: it is called before the first job is taken."""
        super().register_birth()
        note_heartbeat(self, self.state())

    def heartbeat(self, timeout: int | None = None, pipeline: redis.client.Pipeline | None = None) -> None:
        """Send a heartbeat, in the time of Redis too.

        Relies on: a busy worker calls it every `job_monitoring_interval`, an idle one when its wait of `worker_ttl`
        less 15 seconds ends, and neither after its death is registered.
        """
        super().heartbeat(timeout, pipeline)
        note_heartbeat(self, self.state())

    def work(self, *, burst: bool = False, **options: Any) -> bool:
        """Work until a signal, and keep a work-horse that stands by; with `burst` until nothing is left."""
        self._keeps_one = not burst
        self._stand_by()
        return bool(super().work(burst=burst, **options))

    def _stand_by(self) -> None:
        if self._keeps_one:
            self._standby = self._forked(self.get_ready)

    def _forked(self, get_ready: Callable[[], None]) -> Standby:
        """Fork. Relies on: `setup_work_horse_signals` lets SIGTERM end this process, and not SIGINT."""
        [queue] = self.queues

        def begin() -> None:
            random.seed()
            self.setup_work_horse_signals()
            get_ready()

        return Standby(begin, partial(self.woken, queue.name))

    def fork_work_horse(self, job: Any, queue: Any) -> None:
        """Do RQ's job here, where it does nothing; then let the work-horse begin that stands by.

        Relies on: the worker calls it after `prepare_execution`, which sets the state in which a signal waits for the
        end of the job; `perform_job` does the job in the process that calls it and ends its time limit; the worker then
        waits for the process `_horse_pid`.
        """
        self.perform_job(job, queue)
        standby, self._standby = self._standby, None
        if standby is None or not standby.begin(job.id):
            standby = self._forked(get_ready=lambda: None)
            standby.begin(job.id)
        self._horse_pid = standby.pid

    def monitor_work_horse(self, job: Any, queue: Any) -> None:
        """Wait until the work-horse has ended, look what it has left behind, and let another stand by.

        RQ's job is done, but one of its id may wait again by now: RQ is shown a job that was never sent.

        Relies on: the worker calls it after the fork, and it returns once the forked process has ended, however; it
        kills that process a minute after the time of the job. It does nothing with a job that Redis does not have.
        """
        never_sent = Job(connection=self.connection, serializer=SERIALIZER)
        never_sent.timeout = job.timeout + MAX_AGE
        super().monitor_work_horse(never_sent, queue)
        name = self.get_current_job_id()
        if name is not None:
            self.note_work(None)
            self.left_behind(name)
        self._stand_by()

    def maintain_heartbeats(self, job: Any) -> None:  # noqa: ARG002 - RQ's signature
        """Send the worker's heartbeat; RQ's job needs none, for it is done.

        Relies on: RQ calls it every `job_monitoring_interval` while the forked process lives; `heartbeat` needs no job.
        """
        self.heartbeat(self.job_monitoring_interval + 60)
