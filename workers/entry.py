"""RQ's entry points, called by name with the id of a run: load, work, save."""

from __future__ import annotations

from functools import lru_cache
from types import TracebackType

from rq.timeouts import JobTimeoutException

from service.config import load_config
from service.context import Context, open_context
from service.logs import fault
from service.store import runs
from service.usecases.kinds import KINDS
from service.usecases.runs.ending import Failure, finish, perform
from service.usecases.runs.progress import Cancelled
from treescore.errors import Problem


class WorkFailed(Exception):
    """The work failed. RQ logs this and keeps it in Redis, so it must not quote texts."""


class _HideDetails:
    """Replaces any exception by WorkFailed, and logs its type and traceback without texts."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, Exception):
            fault(kind, trace, run=self._run_id)
            raise WorkFailed(f"{kind.__name__}; the log says where") from None


@lru_cache(maxsize=1)
def process_context() -> Context:
    """Return the context of this process; made before the fork, connected after it."""
    return open_context(load_config())


def run(run_id: str) -> None:
    """Perform the run with this id, unless it is final.

    Raises:
        WorkFailed: for any unexpected error; RQ runs the work again, and the next claim counts the attempt.
    """
    with _HideDetails(run_id):
        do(process_context(), run_id)


def do(context: Context, run_id: str) -> None:
    """Claim a run and perform it; fail it after too many attempts or at its time limit.

    Unexpected errors are raised.
    """
    with context.store.write(durable=False) as db:
        claimed_run = runs.claim(db, run_id, context.now())
    if claimed_run is None:
        return
    kind = KINDS[claimed_run.kind]
    config = context.config
    if claimed_run.attempts > config.max_attempts:
        problem = Problem(code="worker-died", detail=f"The service failed {config.max_attempts} times. Retry.")
        finish(context, claimed_run, kind.fail(context, claimed_run, Failure("service", [problem], 1)))
        return
    context.queue.wake(run_id)
    try:
        perform(context, kind, claimed_run)
    except Cancelled:
        return
    except JobTimeoutException:
        detail = f"Scoring exceeds the limit of {config.max_job_seconds} s for one job. Send fewer or shorter texts."
        problem = Problem(code="job-timeout", detail=detail)
        finish(context, claimed_run, kind.fail(context, claimed_run, Failure("limit", [problem], 1)))
