"""One tiny job that is never committed, before the worker forks: what it loads and compiles, no later job waits for."""

from __future__ import annotations

from dataclasses import replace

from service.context import Context
from service.queue import LIVE
from service.store import jobs, runs, texts
from service.store.database import RolledBack
from service.usecases.jobs.jobs import KIND
from treescore.warm import warm
from workers.entry import do

_RIGHT = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tobj\t_\t_\n\n"
_WRONG = _RIGHT.replace(b"1\tobj", b"1\tobl")
RUN = "job_warm_up"
_REQUEST = {"format": "conllu", "metrics": ["attachment"], "systems": [{"name": "a"}, {"name": "b"}]}
_TEXTS = {"gold": _RIGHT, "systems/0": _RIGHT, "systems/1": _WRONG}


def warm_up(context: Context) -> None:
    """Touch every compiled function, then go once through all that a job goes through."""
    warm()
    own = replace(context, store=RolledBack(context.store))
    with own.store.write() as db:
        runs.add(db, RUN, KIND, LIVE, own.now())
        jobs.add(db, RUN, "nobody", _REQUEST)
        texts.put(db, RUN, _TEXTS)
    do(own, RUN)
    own.store.close()
