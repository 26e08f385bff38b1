"""The worker process; it loads everything heavy before it forks."""

from __future__ import annotations

import argparse

from service.config import load_config
from service.files import private_umask
from service.logs import configure_logs
from service.queue import LIVE, RUN_QUEUES
from service.traces import configure_traces
from service.usecases.scoring import gold_cache
from treescore.core.registry import load_all
from workers.entry import process_context
from workers.warm_up import perform_warm_up_job
from workers.worker import worker_on


def main() -> None:
    """Work on one queue until a signal."""
    parser = argparse.ArgumentParser(prog="python -m workers.process")
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
    gold_cache.prepare(context)
    context.store.close()  # connections do not survive a fork
    worker_on(context, arguments.queue, burst=arguments.burst).work(burst=arguments.burst, logging_level="WARNING")


if __name__ == "__main__":
    main()
