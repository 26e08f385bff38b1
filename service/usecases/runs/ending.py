"""Perform a run and save how it ends: one transaction for every kind of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import orjson
from sqlalchemy import Connection

from service.context import Context
from service.errors import failure_document, failure_record
from service.policy.misfits import CLOSED
from service.store import artifacts, benchmarks, jobs, runs, texts
from service.store.runs import Run
from service.store.score_records import PackedArtifacts
from service.traces import span
from service.usecases.runs.progress import Progress
from service.usecases.runs.views import etag_of, moment, state_document
from service.usecases.runs.waiting import board_name
from service.usecases.runs.watch import watched
from treescore.errors import Problem, ScoringError


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
