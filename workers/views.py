"""The process that makes views: items, slices and trees of outputs, when a reader asks for them.

There is one, and it lives long: what it has read of an output serves the next question about it. It makes one view
after the other, one of each principal before a second of any, within bounds of time and memory. One that fails is
tried once more.
"""

import faulthandler
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from functools import partial
from time import monotonic, perf_counter

from rq.timeouts import JobTimeoutException, UnixSignalDeathPenalty
from sqlalchemy.exc import DBAPIError

from service.config import Config
from service.context import Context, report_counts
from service.errors import ServiceError
from service.logs import Log
from service.monitoring import VIEWS as SECONDS_OF_VIEWS
from service.process import Stop, beat, memory_limit, pause_after, stop_signal, wait_for_store
from service.queue import REDIS_ERRORS
from service.store import views
from service.store.artifacts import pack_json
from service.store.database import DiskState, disk_of, require_current_schema
from service.store.views import Waiting
from service.usecases.scoring import gold
from service.usecases.views.asking import ENDED, VIEWS, Question, error_record
from service.usecases.views.making import Maker
from treescore.core import jit
from treescore.core.registry import load_all
from workers.entry import HideDetails, WorkFailed, begun_process

INTERVAL = 1.0
"""Seconds without a wake-up after which the process looks for views by itself."""
ATTEMPTS = 2
LIMIT_SECONDS = 20
"""Of one attempt."""
NATIVE_SECONDS = 5
"""After these the process ends, and is started again: what has not ended is native code, which no exception reaches."""
IDLE_SECONDS = 60.0
"""Without a question, after which nothing is kept in memory."""
SPARE = 16
"""The part of the room for views that is made free at once."""
JUST_MADE = timedelta(minutes=1)

log = Log("views")


class Views:
    """Makes the views that are asked for.

    Args:
        context: store, queue and configuration.
        maker: makes the documents.
        limit: makes the bounds of an attempt.
    """

    def __init__(
        self, context: Context, maker: Maker, limit: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> None:
        self._context = context
        self._maker = maker
        self._limit = limit
        self._turns: dict[str, int] = {}
        with context.store.read() as db:  # these may have ended the process before this one
            self._tried = {each.key for each in views.waiting(db)}
        self._room = 0

    def work(self, stop: Stop) -> bool:
        """Make what is asked until nothing is, or `stop` is set; return whether there was something."""
        found = False
        while not stop.wait(0):
            beat(self._context.config)
            self._context.queue.beat(VIEWS)
            if not self.make_next():
                break
            found = True
        return found

    def prepare(self) -> None:
        """Load the machine code for the next views, once one was made and it is kept: a reader would wait for it."""
        if self._turns and not jit.compiler_loaded() and jit.state() == "compiled":
            from treescore.warm import warm  # noqa: PLC0415 - much memory, of no use before a view was asked for

            warm()
            gc.freeze()

    def rest(self) -> None:
        """Drop what is kept in memory, gold's files without a use, and stored views that are too many."""
        self._maker.forget(None)
        gold.sweep_gold_files(self._context)
        self._make_room()

    def make_next(self) -> bool:
        """Make the view whose turn it is; return whether there is one."""
        with self._context.store.read() as db:
            waiting = views.waiting(db)
            if not waiting:
                return False
            asked = self._next_of(waiting)
            gone = set(asked.owners) - views.with_texts(db, asked.owners)
        attempt = self._attempt(asked.key) if asked.key in self._tried else 1
        if attempt is None:
            return True
        self._maker.forget(gone)
        ended = self._made(asked) if attempt <= ATTEMPTS else _failed()
        if ended is None:
            self._tried.add(asked.key)
            return True
        self._tried.discard(asked.key)
        if not self._save(asked, *ended):
            self._maker.forget(asked.owners)  # they were deleted while it was made
        return True

    def _attempt(self, key: str) -> int | None:
        """Count an attempt that is not the first, which readers would wait for in the line of writers."""
        with self._context.store.write(durable=False) as db:
            return views.begin_again(db, key)

    def _next_of(self, waiting: Sequence[Waiting]) -> Waiting:
        """Return the oldest of the principal whose last turn is longest ago."""
        asked = min(waiting, key=lambda each: self._turns.get(each.principal, 0))
        turn = max(self._turns.values(), default=0) + 1
        still = {each.principal for each in waiting}
        self._turns = {name: at for name, at in self._turns.items() if name in still} | {asked.principal: turn}
        return asked

    def _made(self, asked: Waiting) -> tuple[str, bytes] | None:
        """Make a view; return how it ended, None where this attempt failed."""
        question = Question.of(asked.question)
        begin, state = perf_counter(), views.FAILED
        try:
            with HideDetails(view=asked.key), self._limit():
                try:
                    body = pack_json(self._maker.make(question))
                    state = views.MADE
                except ServiceError as error:
                    body = pack_json(error_record(error))
                    state = views.REFUSED
        except WorkFailed:
            self._maker.forget(None)
            return None
        finally:
            seconds = perf_counter() - begin
            self._context.meters.observe(SECONDS_OF_VIEWS, seconds, question.kind, state)
            log.info("view", kind=question.kind, owner=asked.owner, state=state, milliseconds=round(1000 * seconds, 1))
        return state, body

    def _save(self, asked: Waiting, state: str, body: bytes) -> bool:
        with self._context.store.write(durable=False) as db:
            stored = views.answer(db, asked.key, state, body, self._context.now())
        self._context.queue.wake(ENDED)
        self._room -= len(body)
        if self._room < 0:
            self._make_room()
        return stored

    def _make_room(self) -> None:
        """Delete stored views above their bound, where space is short all; but those that a request may wait for."""
        short = disk_of(self._context.store).state in (DiskState.LOW, DiskState.FULL)
        most = 0 if short else self._context.config.views_bytes
        with self._context.store.read() as db:
            stored = views.stored_bytes(db)
        if stored > most:
            with self._context.store.write(durable=False) as db:
                views.drop_least_used(db, stored - most + most // SPARE, self._context.now() - JUST_MADE)
        self._room = max(most - stored, most // SPARE)


def _failed() -> tuple[str, bytes]:
    detail = f"The service failed {ATTEMPTS} times to make what was asked of the output."
    return views.FAILED, pack_json(error_record(ServiceError(detail, slug="view-failed")))


@contextmanager
def limited(config: Config) -> Iterator[None]:
    """Bound time and memory of a block, which an exception ends; and the process where none can."""
    faulthandler.dump_traceback_later(LIMIT_SECONDS + NATIVE_SECONDS, exit=True)
    try:
        with UnixSignalDeathPenalty(LIMIT_SECONDS, JobTimeoutException), memory_limit(config.max_run_bytes):
            yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def run(context: Context, process: Views, stop: Stop) -> None:
    """Make views until `stop` is set; while Redis or the store is not available, look for them now and then."""
    failures, worked = 0, monotonic()
    while not stop.wait(0):
        try:
            process.work(stop)  # also while Redis does not answer
            with context.queue.listen(VIEWS) as wakes:
                failures = 0
                while not stop.wait(0):
                    if process.work(stop):
                        worked = monotonic()
                    elif monotonic() - worked > IDLE_SECONDS:
                        process.rest()
                        worked = monotonic()
                    if not wakes.wait(INTERVAL):
                        process.prepare()
        except (*REDIS_ERRORS, DBAPIError) as error:
            failures += 1
            stop.wait(pause_after(error, failures, context.config))


def main() -> None:
    """Make views until a signal."""
    context = begun_process("views")
    config = context.config
    load_all()
    wait_for_store(config, context.store, require_current_schema)
    stop = stop_signal()
    end_report = report_counts(context)
    gc.freeze()  # looking at all that was loaded takes as long as a view
    run(context, Views(context, Maker(context), partial(limited, config)), stop)
    end_report()
    context.store.close()  # what is frozen does not close itself


if __name__ == "__main__":
    main()
