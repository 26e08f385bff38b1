"""The worker process: RQ's forking worker on one queue, with everything heavy loaded before the fork."""

from __future__ import annotations

import argparse
import os
from typing import Any

import rq
from rq.serializers import JSONSerializer

from service.logs import configure_logs
from service.posix import die_with_parent
from service.queue import LIVE, QUEUES
from workers.entry import process_context
from workers.rehearsal import rehearse

HEARTBEAT_SECONDS = 2
ABANDONED_AFTER = 6
"""Seconds without a sign of life after which the sweeper gives a job to another worker."""


class Worker(rq.Worker):  # type: ignore[misc]
    """Shows signs of life often, and takes its work-horse along when it dies."""

    def get_heartbeat_ttl(self, job: Any) -> int:  # noqa: ARG002 - RQ's signature
        """How long a started job counts as alive."""
        return ABANDONED_AFTER

    def main_work_horse(self, job: Any, queue: Any) -> None:
        """In the forked process."""
        die_with_parent(parent=int(os.environ["TREESCORE_WORKER_PID"]))
        super().main_work_horse(job, queue)


def main() -> None:
    """Work on one queue until told to stop. Exactly one: with several, RQ can lose a job between two commands."""
    parser = argparse.ArgumentParser(prog="python -m workers.process")
    parser.add_argument("--queue", choices=QUEUES, default=LIVE)
    parser.add_argument("--burst", action="store_true", help="end when the queue is empty")
    chosen = parser.parse_args()
    configure_logs()
    context = process_context()
    rehearse(context)
    os.environ["TREESCORE_WORKER_PID"] = str(os.getpid())
    worker = Worker(
        [context.queue.rq_queue(chosen.queue)],
        connection=context.queue.redis,
        serializer=JSONSerializer,
        job_monitoring_interval=HEARTBEAT_SECONDS,
        worker_ttl=30,
        maintenance_interval=60,
    )
    worker.work(burst=chosen.burst, logging_level="WARNING")


if __name__ == "__main__":
    main()
