"""What RQ calls, by name and with an id: load, do, save."""

from __future__ import annotations

from functools import lru_cache
from types import TracebackType

from rq.timeouts import JobTimeoutException

from service.config import load_config
from service.context import Context, open_context
from service.errors import failure_document
from service.logs import fault
from service.store import runs
from service.usecases.kinds import HANDLERS
from service.usecases.runs.progress import Cancelled
from treescore.errors import Problem


class WorkBroke(Exception):
    """The work broke off. RQ logs this and keeps it in Redis, so it says nothing of what the work was about."""


class _Discreet:
    """Lets no exception out but WorkBroke; the log has the kind and the places of what was behind it."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, Exception):
            fault(kind, trace, run=self._run_id)
            raise WorkBroke(f"{kind.__name__}; the log says where") from None


@lru_cache(maxsize=1)
def process_context() -> Context:
    """The parts this process works with; made before forking, connected after it."""
    return open_context(load_config())


def run(run_id: str) -> None:
    """Do the work stored under an id, unless it is done already.

    Raises:
        WorkBroke: anything unforeseen happened; RQ runs the work again, and the next claim counts the attempt.
    """
    with _Discreet(run_id):
        do(process_context(), run_id)


def do(context: Context, run_id: str) -> None:
    """Claim a run and hand it to its use-case; give it up after too many attempts or too long a time.

    An unforeseen fault is raised.
    """
    with context.store.write(durable=False) as db:
        claimed = runs.claim(db, run_id, context.now())
    if claimed is None:
        return
    handler = HANDLERS[claimed.kind]
    if claimed.attempts > context.config.max_attempts:
        detail = (
            f"The work broke off {context.config.max_attempts} times. Nothing is wrong with your request; retry it."
        )
        handler.fail(context, claimed, failure_document("service", [Problem(code="worker-died", detail=detail)], 1))
        return
    context.queue.wake(run_id)
    try:
        handler.run(context, claimed)
    except Cancelled:
        return
    except JobTimeoutException:
        limit = context.config.max_job_seconds
        detail = (
            f"Scoring took longer than the {limit} s that this service allows one job. Send fewer or shorter texts."
        )
        handler.fail(context, claimed, failure_document("limit", [Problem(code="job-timeout", detail=detail)], 1))
