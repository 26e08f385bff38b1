"""The worker process, whose work-horse begins run after run, each as its turn comes in the store.

It loads everything heavy before it forks, and performs one tiny job before there is any, so that no later job waits for
imports and memory.

RQ forks a work-horse for every job that it takes from its queue. Here that job only wakes the worker, which does it
itself, and lets a work-horse begin that stands by: what that does, which may be many runs, and what the worker does
after it, are methods of a subclass. A fork is cheap, but the forked process then copies each page of memory that it
touches, and a job touches thousands. A process that stands by has touched them.

All that is relied on of RQ's insides is in `RqWorker`; `tests/workers/test_rq.py` tests each reliance. The service's
side is `service/queue.py`. `pyproject.toml` says between which versions of RQ all of this holds.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import resource
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import redis
import rq
from rq.job import Job
from sqlalchemy.exc import OperationalError

from service import monitoring
from service.config import load_config
from service.context import Context
from service.monitoring import Meters, configure_logs, configure_traces, fault
from service.posix import die_with_parent, name_process, private_umask
from service.queue import ABANDONED_AFTER, LIVE, REDIS_ERRORS, RUN_QUEUES, SERIALIZER, note_heartbeat
from service.store import jobs, runs, texts
from service.store.database import RollbackStore
from service.store.runs import NO_LIMIT
from service.usecases import jobs as job_work
from service.usecases.jobs import KIND
from service.usecases.runs import Progress, finish
from service.usecases.scoring import gold
from treescore.core import jit
from treescore.core.registry import load_all
from treescore.warm import warm
from workers.entry import (
    TimeLimitReached,
    Work,
    WorkFailed,
    end_crashed,
    give_back,
    next_work,
    peek,
    process_context,
    run,
)

# what a worker relies on of RQ's insides

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)
"""Signals that a process brings on itself."""
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
        self.crashed = False
        """Whether the last work-horse ended by a fault of its own, as native code does that gets no memory."""

    def get_ready(self) -> None:
        """Do in the forked process what can be done before there is work; leave no connection open."""

    def woken(self, queue: str, name: str) -> None:
        """Work in the forked process, after RQ's job of this name."""
        raise NotImplementedError

    def left_behind(self, name: str) -> None:
        """Deal in the worker with what its work-horse has noted as its work and left unfinished."""
        raise NotImplementedError

    def kernels(self) -> str:
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
        note_heartbeat(self, self.kernels())

    def heartbeat(self, timeout: int | None = None, pipeline: redis.client.Pipeline | None = None) -> None:
        """Send a heartbeat, in the time of Redis too.

        Relies on: a busy worker calls it every `job_monitoring_interval`, an idle one when its wait of `worker_ttl`
        less 15 seconds ends, and neither after its death is registered.
        """
        super().heartbeat(timeout, pipeline)
        note_heartbeat(self, self.kernels())

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

    def wait_for_horse(self) -> tuple[int | None, int | None, Any]:
        """Wait until the work-horse has ended; note whether it crashed. What others kill has done nothing wrong.

        Relies on: it returns what `os.wait4` does, and `monitor_work_horse` calls it, in vain until the end.
        """
        pid, status, usage = super().wait_for_horse()
        self.crashed = status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) in CRASHES
        return pid, status, usage

    def maintain_heartbeats(self, job: Any) -> None:  # noqa: ARG002 - RQ's signature
        """Send the worker's heartbeat; RQ's job needs none, for it is done.

        Relies on: RQ calls it every `job_monitoring_interval` while the forked process lives; `heartbeat` needs no job.
        """
        self.heartbeat(self.job_monitoring_interval + 60)


# the tiny job before the first one

_RIGHT = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tobj\t_\t_\n\n"
_WRONG = _RIGHT.replace(b"1\tobj", b"1\tobl")
WARM_UP_RUN = "job_warm_up"
WARM_UP_QUEUE = "warm-up"
"""A queue of its own: no run of a caller is begun."""
_REQUEST = {
    "format": "conllu",
    "metrics": ["attachment"],
    "systems": [{"name": "a"}, {"name": "b"}],
    "significance": {"scores": ["attachment.las", "attachment.uas"]},
}
_TEXTS = {"gold": _RIGHT, "systems/0": _RIGHT, "systems/1": _WRONG}


def perform_warm_up_job(context: Context) -> None:
    """Perform a tiny job in a transaction that is never committed; log, count and trace nothing."""
    rollback_context = replace(context, store=RollbackStore(context.store), meters=Meters())
    with closing(rollback_context.store):
        with rollback_context.store.write() as db:
            runs.add(db, WARM_UP_RUN, KIND, WARM_UP_QUEUE, rollback_context.now(), "warm-up")
            jobs.add(db, WARM_UP_RUN, "warm-up", _REQUEST)
            texts.put(db, WARM_UP_RUN, _TEXTS)
        claimed_run = next_work(rollback_context, WARM_UP_QUEUE, 1)
        assert isinstance(claimed_run, runs.Run)  # noqa: S101 - no other run is in this queue
        ending = job_work.work(rollback_context, claimed_run, Progress(rollback_context, WARM_UP_RUN))
        assert ending is not None  # noqa: S101 - it is not deleted
        finish(rollback_context, claimed_run, ending)
        # with no run left they look for pieces too
        peek(rollback_context, WARM_UP_QUEUE, 1)
        next_work(rollback_context, WARM_UP_QUEUE, 1)


# the worker

LINGER = 5.0
"""Seconds for which a work-horse waits for another run before it ends."""
MAX_GROWTH = 512 * 1024
"""KiB by which a work-horse may have grown and still take a further run: only its end surely frees the memory. Of these
225 MB may be gold that it keeps for the next run."""
REPORT_SECONDS = 1.0
"""Seconds between two reports of a work-horse that is busy: a report costs a round trip."""
POLL_SECONDS = 0.5
"""Seconds between two checks whether the worker was asked to stop."""


class Worker(RqWorker):
    """Forks once for many short runs, and gives back what a work-horse leaves unfinished.

    RQ forks for every job, which costs a small job more than its scoring: a new process copies each page it touches
    and opens new connections. So RQ's own job does nothing, and a work-horse that was forked before begins the runs
    whose turn it is, one after the other, until none is left; then pieces of large submissions. The id of the current
    run or piece is in the worker's `current_job`, where RQ keeps that of its job: it counts as held while the worker
    sends heartbeats, and RQ's command to stop a job finds it.
    """

    def __init__(self, context: Context, queue: str, linger: float = LINGER) -> None:
        super().__init__(context.queue.rq_queue(queue), context.queue.redis)
        self.context = context
        self.linger = linger
        self._reported = 0.0
        self._met_large = mmap.mmap(-1, 1)  # shared with the work-horses
        self._kernels = ""

    def kernels(self) -> str:
        """Return whether machine code of what scores is kept: `interpreted`, `partly` or `compiled`."""
        if self._kernels != "compiled":
            self._kernels = jit.state()
        return self._kernels

    def get_ready(self) -> None:
        """Perform a job that is not stored, which touches what jobs need."""
        with suppress(OperationalError):
            perform_warm_up_job(self.context)
        # idle ones would count at the server, and may be dead when they are needed
        self.context.store.close()
        self.connection.connection_pool.disconnect()

    def woken(self, queue: str, name: str) -> None:
        """Perform the runs that wait."""
        self.context.meters.forget()
        try:
            with suppress(*REDIS_ERRORS):
                self._work_off(queue, name)
        except OperationalError as error:
            fault(type(error), error.__traceback__)
        finally:
            self._report()
            monitoring.flush_spans()  # only here: a collector that is unavailable costs seconds

    def _report(self) -> None:
        """Hand on what this process has counted, and whether its work was worth the compiler."""
        self.context.queue.add_counts()
        self._reported = monotonic()
        self._met_large[0] |= jit.compiler_loaded()

    def left_behind(self, name: str) -> None:
        """Give back what the work-horse left unfinished; end what has crashed a second one."""
        self._give_back(name, crashed=self.crashed)
        # the next work-horse must not inherit a connection
        self.context.store.close()

    def monitor_work_horse(self, job: Any, queue: Any) -> None:
        """Wait until the work-horse has ended; then hand on what the worker itself has counted."""
        super().monitor_work_horse(job, queue)
        self.context.queue.add_counts()

    def _stand_by(self) -> None:
        """Let a work-horse stand by; where those before met what is large, with the machine code if that is kept."""
        if self._met_large[0] and not jit.compiler_loaded() and self.kernels() == "compiled":
            warm()
        super()._stand_by()

    def _work_off(self, queue: str, woken_by: str) -> None:
        """Perform runs until none comes, or until this process should end; then wake a worker for what is left."""
        start, start_size = monotonic(), _peak()
        counted, anonymous = start, self._most_anonymous(queue)
        may_continue = self._perform_next(queue, anonymous, woken_by)
        while may_continue and monotonic() < start + MAX_AGE and _peak() < start_size + MAX_GROWTH:
            if self._reported > counted:
                counted, anonymous = self._reported, self._most_anonymous(queue)
            may_continue = self._perform_next(queue, anonymous)
        left = peek(self.context, queue, anonymous)
        if left is not None:
            self.context.queue.ensure(left, queue)

    def _most_anonymous(self, queue: str) -> int:
        """Return how many runs of callers without a token may be at work at once: half of the live workers."""
        return max(1, self.context.queue.workers(queue) // 2) if queue == LIVE else NO_LIMIT

    def _perform_next(self, queue: str, anonymous: int, woken_by: str | None = None) -> bool:
        """Perform the next run, once there is one; return whether this process may take another.

        False at the deadline and when the worker was asked to stop.
        """
        deadline = monotonic() + self.linger
        look = True
        while not self.asked_to_stop():
            claimed = next_work(self.context, queue, anonymous) if look else None
            if claimed is not None:
                self.context.queue.begin(self, claimed.id, queue, woken_by)
                return self._perform_work(claimed)
            remaining = deadline - monotonic()
            if remaining <= 0:
                return False
            woken_by = self.context.queue.take(queue, min(remaining, POLL_SECONDS))
            look = woken_by is not None
        return False

    def _perform_work(self, claimed: Work) -> bool:
        """Work on a run or a piece under the time limit; return whether this process may take another.

        It must end after a run that failed, which waits again, and after one that reached its limit: a signal that ends
        a run may leave this process in any state.
        """
        limit = self.context.queue.timeout
        start = monotonic()
        try:
            with self.time_limit(limit):
                run(self.context, claimed)
        except WorkFailed:
            self._give_back(claimed.id)
            return False
        finally:
            self.note_work(None)
            if monotonic() > self._reported + REPORT_SECONDS:
                self._report()
        return monotonic() < start + limit

    def _give_back(self, name: str, *, crashed: bool = False) -> None:
        """Let another worker begin a run or a piece. Where the store does not answer, the sweeper does it."""
        try:
            queue = None if crashed and end_crashed(self.context, name) else give_back(self.context, name)
        except OperationalError as error:
            fault(type(error), error.__traceback__, run=name)
            return
        if queue is not None:
            self.context.queue.put(name, queue)


def worker_on(context: Context, queue: str, *, burst: bool = False) -> Worker:
    """Return a worker on a queue; with `burst` it ends when nothing is left."""
    return Worker(context, queue, 0.0 if burst else LINGER)


def _peak() -> int:
    """Return the largest size that this process has had, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Work on one queue until a signal."""
    parser = argparse.ArgumentParser(prog="python -m workers.worker")
    parser.add_argument("--queue", choices=RUN_QUEUES, default=LIVE)
    parser.add_argument("--burst", action="store_true", help="end when the queue is empty")
    arguments = parser.parse_args()
    private_umask()
    configure_logs(load_config())
    context = process_context()
    context.meters.process = "worker"
    configure_traces(context.config.otlp_endpoint, "worker")
    load_all()
    perform_warm_up_job(context)
    gold.prepare_gold(context)
    context.store.close()  # connections do not survive a fork
    worker_on(context, arguments.queue, burst=arguments.burst).work(burst=arguments.burst, logging_level="WARNING")


if __name__ == "__main__":
    main()
