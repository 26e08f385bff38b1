"""Where work comes from: what each line of the log has, and what is stored with a run, so that its worker has it too.

`request_id` is that of the request which stored the run, `run` the run's id, which is that of its job or submission.
Both are context variables of the log.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple

from structlog.contextvars import bind_contextvars, bound_contextvars, get_contextvars

from service.traces import traceparent

REQUEST, RUN = "request_id", "run"


class Origin(NamedTuple):
    """What a run comes from.

    Attributes:
        request_id: of the request that stored it, or that stored the run whose work stored it.
        trace: the span in which it was stored, as `traceparent` has it.
    """

    request_id: str | None
    trace: str | None


def note_stored(run_id: str) -> Origin:
    """Return the origin of a run that is being stored. In a request, its line in the log has the run's id."""
    known = get_contextvars()
    if RUN not in known:
        bind_contextvars(run=run_id)
    return Origin(known.get(REQUEST), traceparent())


def at_work(run_id: str, request_id: str | None, **more: str) -> AbstractContextManager[object]:
    """Give all lines of a block the ids of the run that is worked on."""
    return bound_contextvars(**{RUN: run_id, REQUEST: request_id, **more})
