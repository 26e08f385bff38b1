"""Perform a run from its storing to its end: one transaction that ends it for every kind of work.

Callers add runs up to a limit on those that wait. The progress of a run is stored at intervals. One attempt at a run is
two lines in the log, its seconds and its span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from time import monotonic, perf_counter
from typing import Protocol

import orjson
import structlog
from sqlalchemy import Connection

from service import monitoring
from service.caller import Caller
from service.context import Context
from service.errors import TooManyRequests, failure_document, failure_record
from service.monitoring import RUNS, span
from service.policy.documents import CLOSED
from service.store import artifacts, benchmarks, jobs, runs, texts
from service.store.runs import Piece, Run
from service.store.score_records import PackedArtifacts
from service.usecases.runs.views import board_name, etag_of, moment, state_document
from treescore.errors import Problem, ScoringError

RETRY_AFTER = "5"
"""Seconds after which a refused caller may ask again: by then a waiting run may have begun."""


def add_run(
    db: Connection, context: Context, caller: Caller, run_id: str, kind: str, queue: str, now: datetime
) -> None:
    """Store a queued run for a caller. The count holds until the transaction ends, also against equal requests.

    Raises:
        TooManyRequests: as many runs of the caller wait as may wait.
    """
    most = context.config.max_queued
    if most and not caller.organiser and runs.queued_of(db, caller.principal) >= most:
        raise TooManyRequests(
            f"The limit of {most} queued runs of one team, token or address is reached. Retry once one of them has "
            "begun, or cancel one.",
            slug="too-many-queued",
            headers={"Retry-After": RETRY_AFTER},
        )
    runs.add(db, run_id, kind, queue, now, caller.principal)


SEVERAL_METRICS = "several"
PROGRESS_INTERVAL = 0.5
"""Seconds between two stored notes of one run; work that ends sooner stores none."""


class Cancelled(Exception):
    """The run was ended from outside: its results are not kept."""


class Progress:
    """Stores the progress of one run, and stops the work when the run was cancelled.

    Attributes:
        metric: that the work scores, for its seconds: a name, SEVERAL, or empty.
    """

    def __init__(self, context: Context, run_id: str) -> None:
        self._context = context
        self._run_id = run_id
        self.metric = ""
        self._last = monotonic()

    def measures(self, metrics: Iterable[str]) -> None:
        """Say which metrics the work scores. Jobs name as many as they like: those of several count together."""
        names = set(metrics)
        self.metric = names.pop() if len(names) == 1 else SEVERAL_METRICS

    def note(self, done: int, total: int, step: str) -> None:
        """Store how far the run is, unless the last note is younger than INTERVAL.

        Raises:
            Cancelled: the run has already ended.
        """
        now = monotonic()
        if now - self._last < PROGRESS_INTERVAL:
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
        runs.note_progress(db, self._run_id, runs.done_beside_piece(db, self.piece) + done, total, step)
        return runs.note_piece_done(db, self.piece, self._holder, done)


LEFT_UNFINISHED = "left"
"""Ends an attempt that ends no run: it waits for its next step, or its work failed."""
log = structlog.get_logger("treescore.runs")


@dataclass(slots=True)
class Attempt:
    """An attempt at a run; `state` is that in which it leaves the run."""

    state: str = LEFT_UNFINISHED


@contextmanager
def watched(context: Context, run: Run, progress: Progress) -> Iterator[Attempt]:
    """Watch a block that performs a claimed run."""
    attempt = Attempt()
    start = perf_counter()
    log.info("began", kind=run.kind, queue=run.queue, attempt=run.attempts, waited=_waited(run))
    if run.started_at is not None and run.attempts == 1:
        monitoring.add_past_span("waiting", run.created_at, run.started_at, run.trace)
    try:
        with monitoring.span(f"run {run.kind}", run.trace, run=run.id, attempt=run.attempts):
            yield attempt
    except Cancelled:
        attempt.state = "cancelled"
        raise
    finally:
        seconds = perf_counter() - start
        context.meters.observe(RUNS, seconds, run.kind, progress.metric)
        log.info(
            "ended", kind=run.kind, metric=progress.metric, state=attempt.state, milliseconds=round(1000 * seconds, 1)
        )


def _waited(run: Run) -> float | None:
    """Return the seconds from creation to the first attempt."""
    return None if run.started_at is None else round((run.started_at - run.created_at).total_seconds(), 3)


class Outdated(Exception):
    """What was computed no longer fits the store. Raised in `Ending.save`: nothing is saved, the work starts again."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run that a transaction has stored, to be queued after the commit."""

    id: str
    queue: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run, or one part of it, has no result.

    Attributes:
        kind: `input`, `limit` or `service`.
        problems: the first of them.
        total: how many there are.
        closed: the failure for those who may not know the text that an output does not fit; None where it is the same.
    """

    kind: str
    problems: Sequence[Problem] = ()
    total: int = 0
    closed: Failure | None = None

    @classmethod
    def of(cls, error: ScoringError) -> Failure:
        """Return the failure behind an error of the scoring library."""
        return cls(error.kind, error.problems, error.total)

    def document(self, *, gold_visible: bool = False) -> dict[str, object]:
        """Return the document for a caller; it quotes gold only where the caller sent gold."""
        return failure_document(self.kind, self.problems, self.total, gold_visible=gold_visible)

    def record(self) -> dict[str, object]:
        """Return the document that the store keeps and `service.policy.gate` filters."""
        record = failure_record(self.kind, self.problems, self.total)
        return record if self.closed is None else {**record, CLOSED: self.closed.record()}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends.

    Attributes:
        state: final state of the run.
        save: stores the result in the transaction that ends the run, and returns the runs to queue; may raise Outdated.
        lock: benchmark whose row is locked before the run ends.
        after: called once after the commit.
    """

    state: str
    save: Callable[[Connection, datetime], Sequence[QueuedRun]] = lambda _db, _now: ()
    lock: str | None = None
    after: Callable[[], None] = lambda: None


class Kind(Protocol):
    """A module that does one kind of work."""

    def work(self, context: Context, run: Run, progress: Progress, /) -> Ending | None:
        """Do the work of a claimed run. None leaves the run as it is.

        Raises:
            ScoringError: becomes the failure of the run.
        """

    def fail(self, context: Context, run: Run, failure: Failure, /) -> Ending:
        """Return how the run ends with a failure."""


def perform(context: Context, kind: Kind, run: Run) -> None:
    """Do the work of a claimed run and save its end; start again when it was outdated."""
    progress = Progress(context, run.id)
    with watched(context, run, progress) as attempt:
        while True:
            try:
                ending = kind.work(context, run, progress)
            except ScoringError as error:
                ending = kind.fail(context, run, Failure.of(error))
            if ending is None:
                return
            with span("saving"):
                ended = finish(context, run, ending)
            if ended:
                attempt.state = ending.state
                return


def finish(context: Context, run: Run, ending: Ending) -> bool:
    """End a run in one transaction, then wake its listeners and queue what follows.

    Returns:
        False where the result was outdated and nothing was saved. True also for a run that had already ended: only
        the first finish saves.
    """
    now = context.now()
    try:
        with context.store.write() as db:
            if ending.lock is not None:
                benchmarks.get(db, ending.lock, lock=True)
            if not runs.finish(db, run.id, ending.state, now):
                return True
            queued = ending.save(db, now)
    except Outdated:
        return False
    context.queue.wake(run.id)
    queue_runs(context, queued, ending.lock)
    ending.after()
    return True


def queue_runs(context: Context, queued: Sequence[QueuedRun], changed: str | None = None) -> None:
    """Queue the runs that a transaction has stored, after its commit.

    Those who wait for a board of the benchmark that it has `changed` are woken.
    """
    for each in queued:
        context.queue.put(each.id, each.queue)
    if changed is not None:
        context.queue.wake(board_name(changed))


def job_answer(
    run: Run,
    state: str,
    answer: Mapping[str, object],
    packed: PackedArtifacts | None = None,
    *,
    keep_texts: bool = True,
) -> Ending:
    """Return the ending that stores the final document of a job.

    Args:
        run: of the job.
        state: final state.
        answer: members of the document beside those of every job.
        packed: artifacts of the job.
        keep_texts: whether the texts of the request stay stored.
    """

    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        head = {**state_document(run), "state": state, "finished_at": moment(now), "progress": None}
        document = orjson.dumps({**head, **answer}, option=orjson.OPT_NON_STR_KEYS)
        if not keep_texts:
            texts.drop(db, [run.id])
        artifacts.put(db, run.id, packed or {})
        jobs.save_answer(db, run.id, state, document, etag_of(document))
        return ()

    return Ending(state, save)
