"""RQ's forking worker, whose work-horse takes further runs instead of ending after each."""

from __future__ import annotations

import os
import resource
from time import monotonic
from typing import Any

import rq
from rq.exceptions import InvalidJobOperation
from rq.serializers import JSONSerializer
from rq.timeouts import JobTimeoutException

from service.posix import die_with_parent
from service.queue import ABANDONED_AFTER, REDIS_ERRORS, Queue
from workers.entry import WorkFailed, run

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
    and opens new connections. So the work-horse, after RQ's own job, takes the next ids from the same queue, one after
    the other. The id of the current run is in the worker's `current_job`, where RQ keeps it too: the run counts as held
    while the worker sends heartbeats, and RQ's command to stop a job finds it.
    """

    runs: Queue
    linger: float
    _stopped_job_id: str | None

    def get_heartbeat_ttl(self, job: Any) -> int:  # noqa: ARG002 - RQ's signature
        """Return how long a started job counts as alive."""
        return ABANDONED_AFTER

    def main_work_horse(self, job: Any, queue: Any) -> None:
        """Run RQ's job in the forked process."""
        die_with_parent(parent=int(os.environ["TREESCORE_WORKER_PID"]))
        super().main_work_horse(job, queue)

    def perform_job(self, job: Any, queue: Any) -> bool:
        """Perform RQ's job, then further runs that wait, in the forked process."""
        start, start_size = monotonic(), _peak()
        may_continue = bool(super().perform_job(job, queue)) and self._in_time(start)
        try:
            while may_continue and monotonic() < start + MAX_AGE and _peak() < start_size + MAX_GROWTH:
                run_id = self._next(queue.name)
                may_continue = run_id is not None and self._perform_run(run_id, queue.name)
        except REDIS_ERRORS:
            return may_continue
        return may_continue

    def _next(self, queue: str) -> str | None:
        """Return the id of the next run; None at the deadline or when the worker was asked to stop."""
        deadline = monotonic() + self.linger
        while not self.connection.hexists(self.key, "shutdown_requested_date"):
            remaining = max(0.0, deadline - monotonic())
            run_id = self.runs.take(queue, min(remaining, POLL_SECONDS))
            if run_id is not None or not remaining:
                return run_id
        return None

    def _perform_run(self, run_id: str, queue: str) -> bool:
        """Work on a run under RQ's time limit; return whether this process may take another.

        It must end after a run that failed, which waits in the queue again, and after one that reached its limit.
        """
        start = monotonic()
        self.set_current_job_id(run_id)
        try:
            with self.death_penalty_class(self.runs.timeout, JobTimeoutException):
                run(run_id)
        except WorkFailed:
            self.runs.put(run_id, queue)
            return False
        finally:
            self.set_current_job_id(None)
        return self._in_time(start)

    def _in_time(self, start: float) -> bool:
        """Return whether a run kept its limit: a signal that ends it may leave this process in any state."""
        return monotonic() < start + self.runs.timeout

    def monitor_work_horse(self, job: Any, queue: Any) -> None:
        """Wait until the work-horse has ended; queue again the further run that it left unfinished."""
        super().monitor_work_horse(job, queue)
        run_id = self.get_current_job_id()
        if run_id is None or run_id == job.id:
            return
        self.set_current_job_id(None)
        if run_id == self._stopped_job_id:  # cancelled
            self._stopped_job_id = None
        else:
            self.runs.put(run_id, queue.name)

    def maintain_heartbeats(self, job: Any) -> None:
        """Maintain RQ's heartbeats while its job exists, and only the worker's own afterwards."""
        try:
            job.get_status()
        except InvalidJobOperation:
            self.heartbeat(self.job_monitoring_interval + 60)
        else:
            super().maintain_heartbeats(job)


def worker_on(runs: Queue, queue: str, *, burst: bool = False) -> Worker:
    """Return a worker on exactly one queue: with several, RQ can lose a job between two commands."""
    worker = Worker(
        [runs.rq_queue(queue)],
        connection=runs.redis,
        serializer=JSONSerializer,
        job_monitoring_interval=HEARTBEAT_SECONDS,
        worker_ttl=30,
        maintenance_interval=60,
    )
    worker.runs = runs
    worker.linger = 0.0 if burst else LINGER
    return worker


def _peak() -> int:
    """Return the largest size that this process has had, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
