"""Requeue runs that the queue or their worker has lost, clean up, and send webhooks."""

import threading
from datetime import timedelta

from sqlalchemy.exc import DBAPIError

from service.context import REPORT_SECONDS, Context
from service.logs import Log, fault
from service.process import Stop, beat, pause_after, stop_signal, wait_for_store
from service.queue import REDIS_ERRORS, RUN_QUEUES, Pulse
from service.store import comparisons, jobs, runs, score_records, submissions, tokens
from service.store.database import require_current_schema
from service.usecases.events import Postman
from service.usecases.scoring import gold
from workers.entry import begun_process, give_back, most_anonymous, peek

INTERVAL = 1.0
"""Seconds between two sweeps."""
GRACE = timedelta(seconds=2)
"""A younger run may be on its way into the queue."""
KEEP_KEYS = timedelta(days=1)
HOUSEKEEPING_EVERY = 600
REPORT_EVERY = int(REPORT_SECONDS / INTERVAL)
DROPPED_AT_ONCE = 200

log = Log("sweeper")


class Sweeper:
    """Requeues a run when two sweeps in a row find it lost: queued without a wake-up, or running without a worker.

    A run that was held and whose time has come has no wake-up either: it is queued likewise.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._suspects: set[str] = set()
        self._sweeps = 0
        self._pulse = Pulse(context.queue)

    def sweep(self) -> list[str]:
        """Sweep once; return the ids that were requeued."""
        context = self._context
        now = context.now()
        with context.store.read() as db:
            open_runs = runs.unfinished(db, before=now - GRACE, due=now)
        held, waiting = self._pulse.held(), context.queue.lengths()
        lost = {run.id: run for run in open_runs if run.state == runs.RUNNING and run.id not in held}
        for queue in RUN_QUEUES:
            queued = [run for run in open_runs if run.state == runs.QUEUED and run.queue == queue]
            may_begin = peek(context, queue, most_anonymous(context, queue)) is not None
            # as many wake-ups as there are runs, for whichever of them
            lost |= {run.id: run for run in queued[waiting[queue] :] if may_begin}
        requeued = [run_id for run_id in lost if run_id in self._suspects]
        if requeued:
            context.queue.probe()  # where it takes nothing, nothing is requeued
        for run_id in requeued:
            if lost[run_id].state == runs.RUNNING:
                give_back(context, run_id)
            context.queue.put(run_id, lost[run_id].queue)
            log.warning("requeued", run=run_id)
        self._suspects = set(lost).difference(requeued)
        if self._sweeps % REPORT_EVERY == 0:
            context.queue.add_counts()
        if self._sweeps % HOUSEKEEPING_EVERY == 0:
            self.clean_up()
        self._sweeps += 1
        return requeued

    def clean_up(self) -> None:
        """Delete data whose retention time is over."""
        context = self._context
        now = context.now()
        with context.store.write() as db:
            tokens.drop_keys_before(db, now - KEEP_KEYS)
            tokens.drop_expired_sessions(db, now)
            runs.forget_turns(db)
            for days, found_before, drop in (
                (context.config.retain_jobs_days, jobs.finished_before, jobs.erase),
                (context.config.retain_outputs_days, submissions.with_old_outputs, submissions.drop_outputs),
                (context.config.retain_comparisons_days, comparisons.finished_before, comparisons.erase),
            ):
                if days:
                    drop(db, found_before(db, now - timedelta(days=days), limit=500), now)
        self._drop_left_over()
        gold.sweep_gold_files(context)

    def _drop_left_over(self) -> None:
        """Delete scores and ladders of revisions that never became active, whose worker died before it could."""
        while True:
            with self._context.store.write() as db:
                left = score_records.left_over(db)
                dropped = [score_records.drop_revision(db, *each, DROPPED_AT_ONCE) for each in left]
                for each in left:
                    score_records.drop_ladders_under(db, *each)
            if not any(dropped):
                return


def deliver(context: Context, stop: Stop) -> None:
    """Send to webhooks until `stop` is set; in its own thread, so that a slow server does not delay the sweeps."""
    postman = Postman(context)
    while not stop.wait(INTERVAL):
        try:
            postman.begin_turns()
        except DBAPIError as error:
            fault(type(error), error.__traceback__)


def main() -> None:
    """Sweep until a signal; while Redis or the store is not available, wait for it."""
    context = begun_process("sweeper")
    config = context.config
    wait_for_store(config, context.store, require_current_schema)
    sweeper = Sweeper(context)
    stop = stop_signal()
    threading.Thread(target=deliver, args=(context, stop), daemon=True, name="webhooks").start()
    failures = 0
    while not stop.wait(INTERVAL):
        beat(config)
        try:
            sweeper.sweep()
            failures = 0
        except (*REDIS_ERRORS, DBAPIError) as error:
            failures += 1
            pause_after(error, failures, config)


if __name__ == "__main__":
    main()
