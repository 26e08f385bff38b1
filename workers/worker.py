"""The worker process: RQ's own worker, which forks for each job.

It loads everything heavy before it forks, and performs one tiny job before there is any, so that no later job waits for
imports. What a forked process does is `workers/entry.py`; its time limit and its end on demand are RQ's. The service's
side of the queue is `service/queue.py`.
"""

import argparse
import gc
import mmap
import os
import signal
from contextlib import closing, suppress
from dataclasses import replace
from types import FrameType
from typing import Any

import redis
import rq
from rq.exceptions import StopRequested

from service.context import Context
from service.logs import at_work
from service.monitoring import Meters
from service.process import Patience, beat, die_with_parent, wait_for, wait_for_store
from service.queue import BULK, KERNELS, LIVE, REDIS_ERRORS, RUN, RUN_QUEUES, SERIALIZER, WORKER_LIVES
from service.store import jobs, runs, texts
from service.store.database import RollbackStore, require_current_schema
from service.usecases import jobs as job_work
from service.usecases.jobs import KIND
from service.usecases.runs import Progress, finish
from service.usecases.scoring import gold
from treescore.core import jit
from treescore.core.registry import load_all
from treescore.warm import warm
from workers.entry import begun_process, left_behind, next_run, peek

NICE = {LIVE: 10, BULK: 15}
"""How much these processes stand back: readers wait for the API and for the process of views."""
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)
"""Signals that a process brings on itself."""
HEARTBEAT_SECONDS = 2
MAINTENANCE_SECONDS = 60


class Worker(rq.Worker):  # type: ignore[misc]
    """RQ's forking worker on exactly one queue: with several, RQ can lose a job between two commands."""

    def __init__(self, context: Context, queue: str, connection: redis.Redis | None = None) -> None:
        connection = context.queue.redis if connection is None else connection
        super().__init__(
            [context.queue.rq_queue(queue, connection)],
            connection=connection,
            serializer=SERIALIZER,
            job_monitoring_interval=HEARTBEAT_SECONDS,
            worker_ttl=WORKER_LIVES,
            maintenance_interval=MAINTENANCE_SECONDS,
            work_horse_killed_handler=self._killed,
            log_job_description=False,
        )
        self.context = context
        self._met_large = mmap.mmap(-1, 1)  # shared with the forked processes
        self._kernels = ""

    def kernels(self) -> str:
        """Return whether machine code of what scores is kept: `interpreted`, `partly` or `compiled`."""
        if self._kernels != "compiled":
            self._kernels = jit.state()
        return self._kernels

    def heartbeat(self, timeout: int | None = None, pipeline: redis.client.Pipeline | None = None) -> None:  # noqa: ARG002 - RQ's signature
        """Send a heartbeat, and register where Redis does not know this worker: an empty one may have come."""
        beat(self.context.config)
        if pipeline is None and self.birth_date and not self.connection.sismember(self.redis_workers_keys, self.key):
            state = self.get_state()
            self.connection.delete(self.key)  # RQ may have noted a state there since
            self.register_birth()
            self.set_state(state)
        super().heartbeat(WORKER_LIVES, pipeline)
        if pipeline is None:
            self.connection.hset(self.key, KERNELS, self.kernels())

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """End, after the job under way; without one at once, also while Redis is unavailable.

        Raises:
            StopRequested: no job is under way.
        """
        Patience.over = not self.horse_pid
        try:
            super().request_stop(signum, frame)
        except REDIS_ERRORS:
            raise StopRequested from None

    def teardown(self) -> None:
        """Tell Redis that this worker ends; where it does not answer, it forgets the worker by itself."""
        Patience.over = True
        with suppress(*REDIS_ERRORS):
            super().teardown()

    def maintain_heartbeats(self, job: Any) -> None:
        """Send the heartbeats of worker and job."""
        self.heartbeat()
        super().maintain_heartbeats(job)

    def execute_job(self, job: Any, queue: Any) -> None:
        """Let a forked process do the job; then load the machine code for the next ones, where one has needed it."""
        super().execute_job(job, queue)
        self.context.queue.add_counts()
        self.context.store.close()  # connections do not survive a fork
        if self._met_large[0] and not jit.compiler_loaded() and self.kernels() == "compiled":
            warm()
            gc.freeze()

    def main_work_horse(self, job: Any, queue: Any) -> None:
        """Do the job in the forked process, which ends with this worker."""
        die_with_parent(parent=self.pid)
        self.context.meters.forget()
        super().main_work_horse(job, queue)

    def perform_job(self, job: Any, queue: Any) -> bool:
        """Do the job; then hand on what this process has counted, and whether its work was worth the compiler."""
        done = bool(super().perform_job(job, queue))
        self.context.queue.add_counts()
        self._met_large[0] |= jit.compiler_loaded()
        return done

    def _killed(self, job: Any, _pid: int | None, status: int | None, _usage: object) -> None:
        """Give back the run of a forked process that was killed, or has crashed."""
        run_id = job.get_meta().get(RUN)
        if run_id is not None:
            crashed = status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) in CRASHES
            left_behind(self.context, run_id, crashed=crashed)


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
    with at_work(WARM_UP_RUN):  # which storing it would leave to all lines of the log
        _perform_warm_up_job(context)


def _perform_warm_up_job(context: Context) -> None:
    rollback_context = replace(context, store=RollbackStore(context.store), meters=Meters())
    with closing(rollback_context.store):
        with rollback_context.store.write() as db:
            runs.add(db, WARM_UP_RUN, KIND, WARM_UP_QUEUE, rollback_context.now(), "warm-up")
            jobs.add(db, WARM_UP_RUN, "warm-up", _REQUEST)
            texts.put(db, WARM_UP_RUN, _TEXTS)
        claimed_run = next_run(rollback_context, WARM_UP_QUEUE, 1)
        assert claimed_run is not None  # noqa: S101 - no other run is in this queue
        ending = job_work.work(rollback_context, claimed_run, Progress(rollback_context, WARM_UP_RUN))
        assert ending is not None  # noqa: S101 - it is not deleted
        finish(rollback_context, claimed_run, ending)
        peek(rollback_context, WARM_UP_QUEUE, 1)


def prepared(context: Context, queue: str) -> Worker:
    """Return a worker on a queue, in a process that has loaded what jobs need; waits for store and Redis."""
    config = context.config
    load_all()
    wait_for_store(config, context.store, require_current_schema)
    wait_for("queue", config, context.queue.probe, REDIS_ERRORS)
    perform_warm_up_job(context)
    gold.prepare_gold(context)
    context.store.close()  # connections do not survive a fork
    worker = Worker(context, queue, context.queue.patient(config))
    gc.collect()
    gc.freeze()  # a forked process copies each page that the collector touches
    return worker


def main() -> None:
    """Work on one queue until a signal; while store or Redis is unavailable, wait for it."""
    parser = argparse.ArgumentParser(prog="python -m workers.worker")
    parser.add_argument("--queue", choices=RUN_QUEUES, default=LIVE)
    parser.add_argument("--burst", action="store_true", help="end when the queue is empty")
    arguments = parser.parse_args()
    os.nice(NICE[arguments.queue])
    context = begun_process("worker")
    prepared(context, arguments.queue).work(burst=arguments.burst, logging_level="WARNING")


if __name__ == "__main__":
    main()
