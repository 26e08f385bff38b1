"""RQ's forking worker, whose work-horse begins run after run, each as its turn comes in the store."""

from __future__ import annotations

import os
import resource
from time import monotonic
from typing import Any

import rq
from rq.exceptions import InvalidJobOperation
from rq.serializers import JSONSerializer
from rq.timeouts import JobTimeoutException
from sqlalchemy.exc import OperationalError

from service.context import Context
from service.logs import fault
from service.posix import die_with_parent
from service.queue import ABANDONED_AFTER, LIVE, REDIS_ERRORS
from service.store.runs import NO_LIMIT, Run
from workers.entry import WorkFailed, next_run, peek, release, run

HEARTBEAT_SECONDS = 2
LINGER = 5.0
"""Seconds for which a work-horse waits for another run before it ends."""
MAX_AGE = 30.0
"""Seconds after which a work-horse takes no further run: RQ counts its time from the fork, and kills a minute late."""
MAX_GROWTH = 256 * 1024
"""KiB by which a work-horse may have grown and still take a further run: only its end surely frees the memory."""
POLL_SECONDS = 0.5
"""Seconds between two checks whether the worker was asked to stop."""


class Worker(rq.Worker):  # type: ignore[misc]
    """Sends heartbeats often, ends its work-horse when it dies, and forks once for many short runs.

    RQ forks for every job, which costs a small job more than its scoring: a new process copies each page it touches
    and opens new connections. So RQ's own job does nothing, and the work-horse that it has forked begins the runs whose
    turn it is, one after the other, until none is left. The id of the current run is in the worker's `current_job`,
    where RQ keeps that of its job: the run counts as held while the worker sends heartbeats, and RQ's command to stop a
    job finds it.
    """

    context: Context
    linger: float

    def get_heartbeat_ttl(self, job: Any) -> int:  # noqa: ARG002 - RQ's signature
        """Return how long a started job counts as alive."""
        return ABANDONED_AFTER

    def main_work_horse(self, job: Any, queue: Any) -> None:
        """Run RQ's job in the forked process."""
        die_with_parent(parent=int(os.environ["TREESCORE_WORKER_PID"]))
        super().main_work_horse(job, queue)

    def perform_job(self, job: Any, queue: Any) -> bool:
        """Perform RQ's job, then the runs that wait, in the forked process."""
        woken = bool(super().perform_job(job, queue))
        try:
            self._work_off(queue.name, job.id)
        except REDIS_ERRORS:
            return False
        except OperationalError as error:
            fault(type(error), error.__traceback__)
            return False
        return woken

    def _work_off(self, queue: str, woken_by: str) -> None:
        """Perform runs until none comes, or until this process should end; then wake a worker for what is left."""
        start, start_size = monotonic(), _peak()
        anonymous = max(1, self.context.queue.workers(queue) // 2) if queue == LIVE else NO_LIMIT
        may_continue = self._perform_next(queue, anonymous, woken_by)
        while may_continue and monotonic() < start + MAX_AGE and _peak() < start_size + MAX_GROWTH:
            may_continue = self._perform_next(queue, anonymous)
        left = peek(self.context, queue, anonymous)
        if left is not None:
            self.context.queue.ensure(left, queue)

    def _perform_next(self, queue: str, anonymous: int, woken_by: str | None = None) -> bool:
        """Perform the next run, once there is one; return whether this process may take another.

        False at the deadline and when the worker was asked to stop.
        """
        deadline = monotonic() + self.linger
        look = True
        while not self.connection.hexists(self.key, "shutdown_requested_date"):
            claimed_run = next_run(self.context, queue, anonymous) if look else None
            if claimed_run is not None:
                self.context.queue.begin(self, claimed_run.id, queue, woken_by)
                return self._perform_run(claimed_run)
            remaining = deadline - monotonic()
            if remaining <= 0:
                return False
            woken_by = self.context.queue.take(queue, min(remaining, POLL_SECONDS))
            look = woken_by is not None
        return False

    def _perform_run(self, claimed_run: Run) -> bool:
        """Work on a run under its time limit; return whether this process may take another.

        It must end after a run that failed, which waits again, and after one that reached its limit: a signal that ends
        a run may leave this process in any state.
        """
        limit = self.context.queue.timeout
        start = monotonic()
        try:
            with self.death_penalty_class(limit, JobTimeoutException):
                run(self.context, claimed_run)
        except WorkFailed:
            self._give_back(claimed_run.id)
            return False
        finally:
            self.set_current_job_id(None)
        return monotonic() < start + limit

    def _give_back(self, run_id: str) -> None:
        """Let another worker begin a run. Where the store does not answer, the sweeper does it."""
        try:
            queue = release(self.context, run_id)
        except OperationalError as error:
            fault(type(error), error.__traceback__, run=run_id)
            return
        if queue is not None:
            self.context.queue.put(run_id, queue)

    def monitor_work_horse(self, job: Any, queue: Any) -> None:
        """Wait until the work-horse has ended; give back the run that it left unfinished."""
        super().monitor_work_horse(job, queue)
        run_id = self.get_current_job_id()
        if run_id is None:
            return
        self.set_current_job_id(None)
        self._give_back(run_id)
        # the next work-horse must not inherit a connection
        self.context.store.close()

    def maintain_heartbeats(self, job: Any) -> None:
        """Maintain RQ's heartbeats while its job exists, and only the worker's own afterwards."""
        try:
            job.get_status()
        except InvalidJobOperation:
            self.heartbeat(self.job_monitoring_interval + 60)
        else:
            super().maintain_heartbeats(job)


def worker_on(context: Context, queue: str, *, burst: bool = False) -> Worker:
    """Return a worker on exactly one queue: with several, RQ can lose a job between two commands."""
    worker = Worker(
        [context.queue.rq_queue(queue)],
        connection=context.queue.redis,
        serializer=JSONSerializer,
        job_monitoring_interval=HEARTBEAT_SECONDS,
        worker_ttl=30,
        maintenance_interval=60,
    )
    worker.context = context
    worker.linger = 0.0 if burst else LINGER
    return worker


def _peak() -> int:
    """Return the largest size that this process has had, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
