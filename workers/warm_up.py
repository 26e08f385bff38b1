"""Perform one tiny job before there is any, so that no later job waits for imports, compilation and memory."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from socket import gethostname
from time import monotonic
from typing import IO

import structlog

from service.context import Context
from service.meters import Meters
from service.queue import REDIS_ERRORS
from service.store import jobs, runs, texts
from service.store.database import RollbackStore
from service.usecases.jobs import work
from service.usecases.jobs.jobs import KIND
from service.usecases.runs.ending import finish
from service.usecases.runs.progress import Progress
from treescore.core.compiling import before_compiling
from treescore.warm import warm
from workers.entry import next_work, peek

NOTE_SECONDS = 2.0
"""Pause between two notes: a step may take a minute."""
THREAD = "warming"
log = structlog.get_logger("treescore.worker")

_RIGHT = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tobj\t_\t_\n\n"
_WRONG = _RIGHT.replace(b"1\tobj", b"1\tobl")
RUN = "job_warm_up"
QUEUE = "warm-up"
"""A queue of its own: no run of a caller is begun."""
_REQUEST = {
    "format": "conllu",
    "metrics": ["attachment"],
    "systems": [{"name": "a"}, {"name": "b"}],
    "significance": {"scores": ["attachment.las", "attachment.uas"]},
}
_TEXTS = {"gold": _RIGHT, "systems/0": _RIGHT, "systems/1": _WRONG}


def warm_up(context: Context, queue: str) -> None:
    """Call every compiled function, then perform a job that is not stored.

    `/readyz` and the log say so. Of the workers of one machine that have to compile, one does; the others wait, and
    load what it has kept.
    """
    log.info("warming", queue=queue)
    began = monotonic()
    with _noted(context, queue) as note, Path(__file__).open("rb") as held, before_compiling(partial(_hold, held)):
        warm(lambda left: note(left + 1))
        note(1)
        perform_warm_up_job(context)
    log.info("warm", queue=queue, seconds=round(monotonic() - began, 1))


def _hold(file: IO[bytes]) -> None:
    """Wait until no other process holds the file, and hold it; not where the file system has no locks."""
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def _noted(context: Context, queue: str) -> Iterator[Callable[[int], None]]:
    """Keep noting in Redis that this worker warms up, by a thread that has ended before the worker forks.

    Yields the function to call with how many steps are left.
    """
    name = f"{gethostname()}-{os.getpid()}"
    left = 1
    ended = threading.Event()

    def note(steps: int) -> None:
        nonlocal left
        left = steps
        with suppress(*REDIS_ERRORS):
            context.queue.note_warming(queue, name, left)

    def repeat() -> None:
        while not ended.wait(NOTE_SECONDS):
            note(left)

    note(left)
    thread = threading.Thread(target=repeat, name=THREAD, daemon=True)
    thread.start()
    try:
        yield note
    finally:
        ended.set()
        thread.join()
        with suppress(*REDIS_ERRORS):
            context.queue.end_warming(queue, name)


def perform_warm_up_job(context: Context) -> None:
    """Perform a tiny job in a transaction that is never committed; log, count and trace nothing."""
    rollback_context = replace(context, store=RollbackStore(context.store), meters=Meters())
    with closing(rollback_context.store):
        with rollback_context.store.write() as db:
            runs.add(db, RUN, KIND, QUEUE, rollback_context.now(), "warm-up")
            jobs.add(db, RUN, "warm-up", _REQUEST)
            texts.put(db, RUN, _TEXTS)
        claimed_run = next_work(rollback_context, QUEUE, 1)
        assert isinstance(claimed_run, runs.Run)  # noqa: S101 - no other run is in this queue
        ending = work.work(rollback_context, claimed_run, Progress(rollback_context, RUN))
        assert ending is not None  # noqa: S101 - it is not deleted
        finish(rollback_context, claimed_run, ending)
        # with no run left they look for pieces too
        peek(rollback_context, QUEUE, 1)
        next_work(rollback_context, QUEUE, 1)
