"""Perform one tiny job before there is any, so that no later job waits for imports and memory."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from service.context import Context
from service.monitoring import Meters
from service.store import jobs, runs, texts
from service.store.database import RollbackStore
from service.usecases.jobs import jobs as work
from service.usecases.jobs.jobs import KIND
from service.usecases.runs.ending import Progress, finish
from workers.entry import next_work, peek

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
