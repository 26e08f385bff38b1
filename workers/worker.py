"""The worker process, whose work-horse begins run after run, each as its turn comes in the store.

It loads everything heavy before it forks.
"""

from __future__ import annotations

import argparse
import mmap
import resource
from contextlib import suppress
from time import monotonic
from typing import Any

from sqlalchemy.exc import OperationalError

from service import monitoring
from service.config import load_config
from service.context import Context
from service.monitoring import configure_logs, configure_traces, fault
from service.posix import private_umask
from service.queue import LIVE, REDIS_ERRORS, RUN_QUEUES
from service.store.runs import NO_LIMIT
from service.usecases.scoring import gold
from treescore.core import jit
from treescore.core.registry import load_all
from treescore.warm import warm
from workers.entry import Work, WorkFailed, give_back, next_work, peek, process_context, run
from workers.rq_worker import MAX_AGE, RqWorker
from workers.warm_up import perform_warm_up_job

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
        self._state = ""

    def state(self) -> str:
        """Return whether machine code of what scores is kept: `interpreted`, `partly` or `compiled`."""
        if self._state != "compiled":
            self._state = jit.state()
        return self._state

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
        """Give back what the work-horse left unfinished."""
        self._give_back(name)
        # the next work-horse must not inherit a connection
        self.context.store.close()

    def monitor_work_horse(self, job: Any, queue: Any) -> None:
        """Wait until the work-horse has ended; then hand on what the worker itself has counted."""
        super().monitor_work_horse(job, queue)
        self.context.queue.add_counts()

    def _stand_by(self) -> None:
        """Let a work-horse stand by; where those before met what is large, with the machine code if that is kept."""
        if self._met_large[0] and not jit.compiler_loaded() and self.state() == "compiled":
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

    def _give_back(self, name: str) -> None:
        """Let another worker begin a run or a piece. Where the store does not answer, the sweeper does it."""
        try:
            queue = give_back(self.context, name)
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
