"""How far a run is, written now and then."""

from __future__ import annotations

from time import monotonic

from service.context import Context
from service.store import runs

INTERVAL = 0.5
"""Seconds between two notes of one run; work that is done sooner writes none."""


class Cancelled(Exception):
    """The run was ended from outside: nothing that it makes will be kept."""


class Progress:
    """Notes the progress of one run, and stops it where it was cancelled."""

    def __init__(self, context: Context, run_id: str) -> None:
        self._context = context
        self._run_id = run_id
        self._last = monotonic()

    def note(self, done: int, total: int, step: str) -> None:
        """Say how far it is.

        Raises:
            Cancelled: the run has ended meanwhile.
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
