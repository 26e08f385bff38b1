"""Runs: perform one from its storing to its end, for every kind of work; and the answers of use-cases.

Callers add runs up to a limit on those that wait. The progress of a run is stored at intervals. One attempt at a run is
two lines in the log, its seconds and its span; one transaction ends it. Answers are documents or bytes, pages of lists,
and long polls, which read, wait for a wake-up and read again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache, partial
from time import monotonic, perf_counter
from typing import Generic, Protocol, TypeVar, overload

import orjson
from sqlalchemy import Connection

from service import errors, logs, monitoring
from service.caller import Caller
from service.context import Context
from service.policy import documents, gate
from service.queue import REDIS_ERRORS
from service.store import artifacts, benchmarks, jobs, packing, runs, score_records, texts
from treescore.errors import Problem, ScoringError

# the answers of use-cases

JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain; charset=utf-8"


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


Row = TypeVar("Row", bound=_Identified)


Document_co = TypeVar("Document_co", covariant=True)


@dataclass(frozen=True)
class Shown(Generic[Document_co]):
    """What a use-case shows: a document, dumped once it is sent; or its bytes, parsed for each who reads them.

    Attributes:
        made: the document, which is not changed any more; None where there are bytes.
        kept: the bytes, or what `pack` made of them; None where there is a document.
        tag: their validator, where it is known before they are.
        final: whether it never changes again.
        state: of the resource, if it has one.
        content_type: of the bytes.
        next: cursor of the next page, if this is one page of several.
        packed: whether `kept` is packed, as it is stored.
        weak: whether the bytes differ from answer to answer where nothing else does.
    """

    made: Document_co | None
    kept: bytes | None = None
    tag: str | None = None
    final: bool = True
    state: str = ""
    content_type: str = JSON_TYPE
    next: str | None = None
    packed: bool = False
    weak: bool = False

    @property
    def document(self) -> Document_co:
        """What the JSON says."""
        document: Document_co = orjson.loads(self.body) if self.made is None else self.made
        return document

    @cached_property
    def content(self) -> bytes:
        """The bytes, packed if they are stored so."""
        return orjson.dumps(self.made, option=orjson.OPT_NON_STR_KEYS) if self.kept is None else self.kept

    @cached_property
    def etag(self) -> str:
        """Strong validator of the bytes, without quotes."""
        return etag_of(self.content) if self.tag is None else self.tag

    @property
    def body(self) -> bytes:
        """The bytes."""
        return packing.unpack(self.content) if self.packed else self.content

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return packing.unpacked_size(self.content) if self.packed else len(self.content)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list; `next` is the cursor of the next one."""

    items: Sequence[Mapping[str, object]]
    next: str | None = None


def page_of(rows: Sequence[Row], limit: int, show: Callable[[Row], Mapping[str, object]]) -> Page:
    """Return the page that shows the first `limit` rows; it has a next page where there are more."""
    return Page([show(row) for row in rows[:limit]], rows[limit - 1].id if len(rows) > limit else None)


def items_page(items: Sequence[Mapping[str, object]], start: int, limit: int) -> Page:
    """Return the page of the first `limit` items, which begins after item `start`."""
    return Page(items[:limit], str(start + limit) if len(items) > limit else None)


def etag_of(body: bytes) -> str:
    """Return the validator of a body."""
    return hashlib.sha256(body).hexdigest()[:32]  # processors have instructions for it: boards have megabytes


@overload
def moment(time: datetime) -> str: ...
@overload
def moment(time: datetime | None) -> str | None: ...
def moment(time: datetime | None) -> str | None:
    """Return a time as RFC 3339 in UTC, to the millisecond."""
    return None if time is None else _written(time)


@lru_cache(maxsize=10_000)  # pages and boards show most of them again
def _written(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")[:23] + "Z"  # without the offset


def shown_members(record: object, *names: str) -> dict[str, object]:
    """Return members of a record as documents have them: `team_id` as `team`, and times as texts."""
    members = {name.removesuffix("_id"): getattr(record, name) for name in names}
    return {name: moment(value) if isinstance(value, datetime) else value for name, value in members.items()}


def run_summary(run: runs.Run) -> dict[str, object]:
    """Return id, state and times of a run."""
    return shown_members(run, "id", "state", "created_at", "started_at", "finished_at")


def state_document(run: runs.Run) -> dict[str, object]:
    """Return the document of a job without an answer."""
    return {**run_summary(run), "progress": run.progress, "results": None, "warnings": [], "failure": None}


LOOK_AGAIN = 5.0
"""Seconds after which a waiting request reads the store again without a wake-up."""


def board_name(benchmark_id: str) -> str:
    """Return the name by which those who wait for a change of a benchmark's boards are woken."""
    return f"board {benchmark_id}"


def wait_for(
    context: Context,
    run_id: str,
    look: Callable[[], Shown[Document_co]],
    seconds: float,
    etag: str | None,
    done: Callable[[Shown[object], str | None], bool] | None = None,
) -> Shown[Document_co]:
    """Return the view of `look` when it is final or differs from `etag`, or when time is over.

    Args:
        context: store, queue and configuration.
        run_id: of the run whose wake-ups are heard, or a `board_name`.
        look: reads the view.
        seconds: the longest wait.
        etag: of what the caller knows, or None.
        done: another rule of when there is nothing to wait for.
    """
    done = done or settled
    if seconds <= 0:
        return look()
    end = monotonic() + min(seconds, context.config.max_wait_seconds)
    try:
        with context.queue.listen(run_id) as listener:
            while True:
                seen = look()  # not before listening: what happens in between would be missed
                left = end - monotonic()
                if done(seen, etag) or left <= 0:
                    return seen
                listener.wait(min(left, LOOK_AGAIN))
    except REDIS_ERRORS:
        return look()


def settled(view: Shown[object], etag: str | None) -> bool:
    """Return whether there is nothing to wait for."""
    return view.final or (etag is not None and view.etag != etag)


def changed(view: Shown[object], etag: str | None) -> bool:
    """Return whether there is nothing to wait for where a view never ends: it differs, or nothing is pending."""
    return view.final if etag is None else view.etag != etag


# a run, from its storing to its end

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
        raise errors.TooManyRequests(
            f"The limit of {most} queued runs of one team, token or address is reached. Retry once one of them has "
            "begun, or cancel one.",
            slug="too-many-queued",
            headers={"Retry-After": RETRY_AFTER},
        )
    runs.add(db, run_id, kind, queue, now, caller.principal)


SEVERAL_METRICS = "several"
PROGRESS_INTERVAL = 1.0
"""Seconds between two stored notes of one run; work that ends sooner stores none."""


class Cancelled(Exception):
    """The run was ended from outside: its results are not kept."""


class Progress:
    """Stores the progress of one run, and stops the work when the run was cancelled.

    Attributes:
        metric: that the work scores, for its seconds: a name, SEVERAL, or empty.
        state: in which the attempt leaves the run.
    """

    def __init__(self, context: Context, run_id: str) -> None:
        self._context = context
        self._run_id = run_id
        self.metric = ""
        self.state = LEFT_UNFINISHED
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
            continues = runs.note_progress(db, self._run_id, done, total, step)
        if not continues:
            raise Cancelled(self._run_id)
        self._context.queue.wake(self._run_id)


LEFT_UNFINISHED = "left"
"""Ends an attempt that ends no run: it waits for its next step, or its work failed."""
log = logs.Log("runs")


@contextmanager
def watched(context: Context, run: runs.Run, progress: Progress) -> Iterator[None]:
    """Watch a block that performs a claimed run."""
    start = perf_counter()
    log.info("began", kind=run.kind, queue=run.queue, attempt=run.attempts, waited=_waited(run))
    try:
        yield
    except Cancelled:
        progress.state = "cancelled"
        raise
    finally:
        seconds = perf_counter() - start
        context.meters.observe(monitoring.RUNS, seconds, run.kind, progress.metric)
        log.info(
            "ended", kind=run.kind, metric=progress.metric, state=progress.state, milliseconds=round(1000 * seconds, 1)
        )


def _waited(run: runs.Run) -> float | None:
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
        show = partial(errors.error_document, gold_visible=gold_visible)
        return errors.failure_document(self.kind, self.problems, self.total, show)

    def record(self) -> dict[str, object]:
        """Return the document that the store keeps and `service.policy.gate` filters."""
        record = errors.failure_document(self.kind, self.problems, self.total, errors.error_record)
        return record if self.closed is None else {**record, documents.CLOSED: self.closed.record()}


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

    def work(self, context: Context, run: runs.Run, progress: Progress, /) -> Ending | None:
        """Do the work of a claimed run. None leaves the run as it is.

        Raises:
            ScoringError: becomes the failure of the run.
        """

    def fail(self, context: Context, run: runs.Run, failure: Failure, /) -> Ending:
        """Return how the run ends with a failure."""


def perform(context: Context, kind: Kind, run: runs.Run) -> None:
    """Do the work of a claimed run and save its end; start again when it was outdated."""
    progress = Progress(context, run.id)
    with watched(context, run, progress):
        while True:
            try:
                ending = kind.work(context, run, progress)
            except ScoringError as error:
                ending = kind.fail(context, run, Failure.of(error))
            if ending is None:
                return
            if finish(context, run, ending):
                progress.state = ending.state
                return


def finish(context: Context, run: runs.Run, ending: Ending) -> bool:
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
    run: runs.Run,
    state: str,
    answer: Mapping[str, object],
    packed: score_records.PackedArtifacts | None = None,
    *,
    keep_texts: bool = True,
    level: gate.Level = gate.Level.GOLD,
) -> Ending:
    """Return the ending that stores the final document of a job.

    Args:
        run: of the job.
        state: final state.
        answer: members of the document beside those of every job.
        packed: artifacts of the job.
        keep_texts: whether the texts of the request stay stored.
        level: at which the job's times are shown.
    """

    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        head = {**state_document(run), "state": state, "finished_at": moment(now), "progress": None}
        document = orjson.dumps({**gate.times_view(level, head), **answer}, option=orjson.OPT_NON_STR_KEYS)
        if not keep_texts:
            texts.drop(db, [run.id])
        artifacts.put(db, run.id, packed or {})
        jobs.save_answer(db, run.id, state, document, etag_of(document))
        return ()

    return Ending(state, save)
