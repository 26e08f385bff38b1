"""Which use-case does which kind of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from service.context import Context
from service.store.runs import Run
from service.usecases import jobs, score_job


@dataclass(frozen=True, slots=True)
class Handler:
    """How one kind of work is done, and how it is given up."""

    run: Callable[[Context, Run], None]
    fail: Callable[[Context, Run, Mapping[str, Any]], None]


HANDLERS: Mapping[str, Handler] = {
    jobs.KIND: Handler(score_job.score_job, score_job.fail_job),
}
