"""The process that makes views: items, slices and trees of outputs, when a reader asks for them.

There is one, and it lives long: what it has read of an output serves the next question about it. It makes one view
after the other, one of each principal before a second of any, within bounds of time and memory. One that fails is
tried once more.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Protocol

from service.context import Context
from service.errors import ServiceError
from service.logs import Log
from service.monitoring import VIEWS as SECONDS_OF_VIEWS
from service.monitoring import span
from service.store import views
from service.store.artifacts import pack_json
from service.store.views import Waiting
from service.usecases.views.asking import Question, error_record
from workers.entry import HideDetails, WorkFailed

INTERVAL = 1.0
"""Seconds without a wake-up after which the process looks for one that was lost."""
ATTEMPTS = 2
LIMIT_SECONDS = 20
"""Of one attempt."""
NATIVE_SECONDS = 5
"""After that: what then has not ended is native code, which no exception reaches, and ends with the process."""
IDLE_SECONDS = 60.0
"""Without a question, after which nothing is kept in memory."""

log = Log("views")


class Making(Protocol):
    """What makes the documents."""

    def make(self, question: Question, /) -> object:
        """Return the document that answers a question, as JSON.

        Raises:
            ServiceError: it has no answer; who asked gets this error.
        """

    def forget(self, owners: Container[str] | None, /) -> None:
        """Drop what is live of these owners, of all for None."""


class Views:
    """Makes the views that are asked for.

    Args:
        context: store, queue and configuration.
        maker: makes the documents.
        limit: makes the bounds of an attempt.
    """

    def __init__(
        self, context: Context, maker: Making, limit: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> None:
        self._context = context
        self._maker = maker
        self._limit = limit
        self._turns: dict[str, int] = {}

    def make_next(self) -> bool:
        """Make the view whose turn it is; return whether there is one."""
        context = self._context
        with context.store.read() as db:
            waiting = views.waiting(db)
        if not waiting:
            return False
        asked = self._next_of(waiting)
        with context.store.write(durable=False) as db:
            attempt = views.begin(db, asked.key)
            gone = set(asked.owners) - views.with_texts(db, asked.owners)
        if attempt is None:
            return True
        self._maker.forget(gone)
        ended = self._made(asked) if attempt <= ATTEMPTS else _failed()
        if ended is not None and not self._save(asked, *ended):
            self._maker.forget(asked.owners)  # they were deleted while it was made
        return True

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
            with HideDetails(view=asked.key), span("view", kind=question.kind), self._limit():
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
        self._context.queue.wake(asked.key)
        return stored


def _failed() -> tuple[str, bytes]:
    detail = f"The service failed {ATTEMPTS} times to make what was asked of the output."
    return views.FAILED, pack_json(error_record(ServiceError(detail, slug="view-failed")))
