"""Do before there is a job what the first job of an API process would wait for: SQL is written once and kept."""

from __future__ import annotations

from contextlib import closing, suppress

from sqlalchemy.exc import DBAPIError

from service.context import Context
from service.origin import at_work
from service.queue import LIVE
from service.store import jobs, runs, texts
from service.store.database import RollbackStore
from service.usecases.jobs.jobs import KIND

RUN = "job_warm_up"
_TEXTS = {"gold": b"a", "systems/0": b"b"}


def prepare_statements(context: Context) -> None:
    """Store a job in a transaction that is never committed, and look for it. Without the store nothing is done."""
    with at_work(RUN, None), suppress(DBAPIError):
        with closing(RollbackStore(context.store)) as store, store.write() as db:
            runs.queued_of(db, KIND)
            runs.add(db, RUN, KIND, LIVE, context.now(), KIND)
            jobs.add(db, RUN, KIND, {})
            texts.put(db, RUN, _TEXTS)
        jobs.answer(context.store, RUN)
        runs.look(context.store, RUN)
