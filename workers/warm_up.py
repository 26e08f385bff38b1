"""Perform one tiny job before the worker forks, so that no later job waits for imports and compilation."""

from __future__ import annotations

from dataclasses import replace

from service.context import Context
from service.queue import LIVE
from service.store import jobs, runs, texts
from service.store.database import RollbackStore
from service.usecases.jobs.jobs import KIND
from treescore.warm import warm
from workers.entry import do

_RIGHT = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tobj\t_\t_\n\n"
_WRONG = _RIGHT.replace(b"1\tobj", b"1\tobl")
RUN = "job_warm_up"
_REQUEST = {"format": "conllu", "metrics": ["attachment"], "systems": [{"name": "a"}, {"name": "b"}]}
_TEXTS = {"gold": _RIGHT, "systems/0": _RIGHT, "systems/1": _WRONG}


def warm_up(context: Context) -> None:
    """Call every compiled function, then perform one whole job in a transaction that is never committed."""
    warm()
    rollback_context = replace(context, store=RollbackStore(context.store))
    with rollback_context.store.write() as db:
        runs.add(db, RUN, KIND, LIVE, rollback_context.now(), "warm-up")
        jobs.add(db, RUN, "warm-up", _REQUEST)
        texts.put(db, RUN, _TEXTS)
    do(rollback_context, RUN)
    rollback_context.store.close()
