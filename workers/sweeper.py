"""Requeue unfinished runs that no worker holds, clean up, and send webhooks."""

from __future__ import annotations

import threading
from datetime import timedelta

import structlog
from sqlalchemy.exc import OperationalError

from service.context import Context
from service.logs import configure_logs, fault
from service.posix import stop_signal
from service.queue import REDIS_ERRORS
from service.store import comparisons, idempotency, jobs, runs, submissions
from service.usecases.events.deliver import deliver_due
from workers.entry import process_context

INTERVAL = 1.0
"""Seconds between two sweeps."""
GRACE = timedelta(seconds=2)
"""A younger run may be on its way into the queue."""
KEEP_KEYS = timedelta(days=1)
HOUSEKEEPING_EVERY = 600

log = structlog.get_logger("treescore.sweeper")


class Sweeper:
    """Queues a run again when two sweeps in a row find it lost."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._suspects: set[str] = set()
        self._sweeps = 0

    def sweep(self) -> list[str]:
        """Sweep once; return the ids that were queued again."""
        context = self._context
        context.queue.reap()
        with context.store.read() as db:
            open_runs = runs.unfinished(db, before=context.now() - GRACE)
        held = context.queue.held()
        lost = {run.id: run.queue for run in open_runs if run.id not in held}
        requeued = [run_id for run_id in lost if run_id in self._suspects]
        for run_id in requeued:
            context.queue.put(run_id, lost[run_id])
            log.warning("requeued", run=run_id)
        self._suspects = set(lost).difference(requeued)
        if self._sweeps % HOUSEKEEPING_EVERY == 0:
            self.clean_up()
        self._sweeps += 1
        return requeued

    def clean_up(self) -> None:
        """Delete data whose retention time is over."""
        context = self._context
        now = context.now()
        with context.store.write() as db:
            idempotency.drop_before(db, now - KEEP_KEYS)
            if context.config.retain_jobs_days:
                expired = jobs.finished_before(db, now - timedelta(days=context.config.retain_jobs_days), limit=500)
                jobs.erase(db, expired, now)
            if context.config.retain_outputs_days:
                before = now - timedelta(days=context.config.retain_outputs_days)
                submissions.drop_outputs(db, submissions.with_old_outputs(db, before, limit=500), now)
            if context.config.retain_comparisons_days:
                before = now - timedelta(days=context.config.retain_comparisons_days)
                comparisons.erase(db, comparisons.finished_before(db, before, limit=500), now)


def deliver(context: Context, stop: threading.Event) -> None:
    """Send to webhooks until `stop` is set; in its own thread, so that a slow server does not delay the sweeps."""
    while not stop.wait(INTERVAL):
        try:
            deliver_due(context)
        except OperationalError as error:
            fault(type(error), error.__traceback__)


def main() -> None:
    """Sweep until a signal; while Redis is not available, wait for it."""
    configure_logs()
    sweeper = Sweeper(process_context())
    stop = stop_signal()
    threading.Thread(target=deliver, args=(process_context(), stop), daemon=True, name="webhooks").start()
    while not stop.wait(INTERVAL):
        try:
            sweeper.sweep()
        except REDIS_ERRORS as error:
            log.warning("redis-away", error=str(error))


if __name__ == "__main__":
    main()
