"""Store the progress of a run, at intervals."""

from __future__ import annotations

from time import monotonic

from service.context import Context
from service.store import runs

INTERVAL = 0.5
"""Seconds between two stored notes of one run; work that ends sooner stores none."""


class Cancelled(Exception):
    """The run was ended from outside: its results are not kept."""


class Progress:
    """Stores the progress of one run, and stops the work when the run was cancelled."""

    def __init__(self, context: Context, run_id: str) -> None:
        self._context = context
        self._run_id = run_id
        self._last = monotonic()

    def note(self, done: int, total: int, step: str) -> None:
        """Store how far the run is, unless the last note is younger than INTERVAL.

        Raises:
            Cancelled: the run has already ended.
        """
        now = monotonic()
        if now - self._last < INTERVAL:
            return
        self._last = now
        with self._context.store.write(durable=False) as db:
            running = runs.note_progress(db, self._run_id, done, total, step)
        if not running:
            raise Cancelled(self._run_id)
        self._context.queue.wake(self._run_id)
