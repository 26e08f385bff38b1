"""Watch one attempt at a run: two lines in the log, its seconds, its span."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import structlog

from service import traces
from service.context import Context
from service.meters import RUNS
from service.store.runs import Run
from service.usecases.runs.progress import Cancelled, Progress

LEFT = "left"
"""Ends an attempt that ends no run: it waits for its next step, or its work failed."""
log = structlog.get_logger("treescore.runs")


@dataclass(slots=True)
class Attempt:
    """An attempt at a run; `state` is that in which it leaves the run."""

    state: str = LEFT


@contextmanager
def watched(context: Context, run: Run, progress: Progress) -> Iterator[Attempt]:
    """Watch a block that performs a claimed run."""
    attempt = Attempt()
    start = perf_counter()
    log.info("began", kind=run.kind, queue=run.queue, attempt=run.attempts, waited=_waited(run))
    if run.started_at is not None and run.attempts == 1:
        traces.past("waiting", run.created_at, run.started_at, run.trace)
    try:
        with traces.span(f"run {run.kind}", run.trace, run=run.id, attempt=run.attempts):
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
