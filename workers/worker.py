"""RQ's forking worker, whose work-horse goes on with the next run instead of ending after each."""

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
from workers.entry import WorkBroke, run

HEARTBEAT_SECONDS = 2
LINGER = 5.0
"""Seconds for which a work-horse waits for another run before it ends."""
AGE = 30.0
"""Seconds after which a work-horse begins no other run: RQ counts its time from the fork, and kills a minute late."""
GROWTH = 256 * 1024
"""KiB by which a work-horse may have grown and still begin another run: only its end gives memory back for sure."""
LOOK_UP = 0.5
"""Seconds between two looks whether the worker was told to stop."""


class Worker(rq.Worker):  # type: ignore[misc]
    """Shows signs of life often, takes its work-horse along when it dies, and forks once for many short runs.

    RQ forks for every job, which costs a small one more than its scoring: a new process copies each page it touches
    and connects anew to everything. So the work-horse, once RQ's own job is done, takes the next ids from the same
    queue and works on them in turn. What it works on stands in the worker's `current_job`, where RQ keeps it too: so
    it counts as held while the worker shows signs of life, and RQ's command to stop a job finds it.
    """

    runs: Queue
    linger: float
    _stopped_job_id: str | None

    def get_heartbeat_ttl(self, job: Any) -> int:  # noqa: ARG002 - RQ's signature
        """How long a started job counts as alive."""
        return ABANDONED_AFTER

    def main_work_horse(self, job: Any, queue: Any) -> None:
        """In the forked process."""
        die_with_parent(parent=int(os.environ["TREESCORE_WORKER_PID"]))
        super().main_work_horse(job, queue)

    def perform_job(self, job: Any, queue: Any) -> bool:
        """RQ's job, then whatever else waits. In the forked process."""
        begun, size = monotonic(), _peak()
        done = bool(super().perform_job(job, queue)) and self._in_time(begun)
        try:
            while done and monotonic() < begun + AGE and _peak() < size + GROWTH:
                run_id = self._next(queue.name)
                done = run_id is not None and self._carry(run_id, queue.name)
        except REDIS_ERRORS:
            return done
        return done

    def _next(self, queue: str) -> str | None:
        """The next run's id; None where none came in time, or where the worker was told to stop."""
        patience = monotonic() + self.linger
        while not self.connection.hexists(self.key, "shutdown_requested_date"):
            left = max(0.0, patience - monotonic())
            run_id = self.runs.take(queue, min(left, LOOK_UP))
            if run_id is not None or not left:
                return run_id
        return None

    def _carry(self, run_id: str, queue: str) -> bool:
        """Work on a run under RQ's time limit; False where this process had better end.

        So it is where the run broke off, and waits in the queue again, or where its time was over.
        """
        begun = monotonic()
        self.set_current_job_id(run_id)
        try:
            with self.death_penalty_class(self.runs.timeout, JobTimeoutException):
                run(run_id)
        except WorkBroke:
            self.runs.put(run_id, queue)
            return False
        finally:
            self.set_current_job_id(None)
        return self._in_time(begun)

    def _in_time(self, begun: float) -> bool:
        """Whether a run kept its limit: what its end by a signal left of this process, nobody knows."""
        return monotonic() < begun + self.runs.timeout

    def monitor_work_horse(self, job: Any, queue: Any) -> None:
        """Until the work-horse has ended; what it left undone of its further runs is queued again."""
        super().monitor_work_horse(job, queue)
        left = self.get_current_job_id()
        if left is None or left == job.id:
            return
        self.set_current_job_id(None)
        if left == self._stopped_job_id:  # cancelled
            self._stopped_job_id = None
        else:
            self.runs.put(left, queue.name)

    def maintain_heartbeats(self, job: Any) -> None:
        """RQ's, while its job is there; afterwards the worker's own sign of life is what counts."""
        try:
            job.get_status()
        except InvalidJobOperation:
            self.heartbeat(self.job_monitoring_interval + 60)
        else:
            super().maintain_heartbeats(job)


def worker_on(runs: Queue, queue: str, *, burst: bool = False) -> Worker:
    """A worker on one queue. Exactly one: with several, RQ can lose a job between two commands."""
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
    """The largest size this process has had, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
