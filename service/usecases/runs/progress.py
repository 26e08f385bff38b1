"""Store the progress of a run, at intervals."""

from __future__ import annotations

from time import monotonic

from sqlalchemy import Connection

from service.context import Context
from service.store import pieces, runs
from service.store.pieces import Piece

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
            continues = self._store(db, done, total, step)
        if not continues:
            raise Cancelled(self._run_id)
        self._context.queue.wake(self._run_id)

    def _store(self, db: Connection, done: int, total: int, step: str) -> bool:
        """Store a note; return whether the work continues."""
        return runs.note_progress(db, self._run_id, done, total, step)


class PieceProgress(Progress):
    """Stores the progress of a run whose pieces several workers score; `done` counts in the piece at hand.

    Attributes:
        piece: the piece at hand.
    """

    piece: Piece

    def __init__(self, context: Context, run_id: str, holder: str) -> None:
        super().__init__(context, run_id)
        self._holder = holder

    def _store(self, db: Connection, done: int, total: int, step: str) -> bool:
        # the run's row first, as who ends the run locks them; a run that waits to begin again leaves its pieces going
        runs.note_progress(db, self._run_id, pieces.done_beside(db, self.piece) + done, total, step)
        return pieces.note_done(db, self.piece, self._holder, done)
