"""What a worker does with a run: begin, work, save; and RQ's entry point."""

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


def wake_up(*_: str) -> None:
    """Do nothing: RQ's job only wakes a worker, which then begins runs by their turns (see workers.worker)."""


def next_run(context: Context, queue: str, anonymous: int) -> runs.Run | None:
    """Begin the run whose turn it is; for `anonymous` see store.runs.claim_next."""
    with context.store.write(durable=False) as db:
        return runs.claim_next(db, queue, context.now(), anonymous=anonymous)


def peek(context: Context, queue: str, anonymous: int) -> str | None:
    """Return the id of the run whose turn it is, without beginning it."""
    with context.store.read() as db:
        return runs.next_id(db, queue, context.now(), anonymous=anonymous)


def release(context: Context, run_id: str) -> str | None:
    """Let another worker begin a run that was not finished. Return its queue; None where it has ended."""
    with context.store.write(durable=False) as db:
        released = runs.release(db, run_id)
        run = runs.get(db, run_id)
    return run.queue if released and run is not None else None


def run(context: Context, claimed_run: runs.Run) -> None:
    """Perform a claimed run.

    Raises:
        WorkFailed: for any unexpected error. Released, the run begins again, which counts as another attempt.
    """
    with _HideDetails(claimed_run.id):
        _perform(context, claimed_run)


def do(context: Context, run_id: str) -> None:
    """Begin and perform one run by its id, out of turn, unless it is final. Unexpected errors are raised."""
    with context.store.write(durable=False) as db:
        claimed_run = runs.claim(db, run_id, context.now())
    if claimed_run is not None:
        _perform(context, claimed_run)


def _perform(context: Context, claimed_run: runs.Run) -> None:
    """Perform a claimed run; fail it after too many attempts or at its time limit."""
    kind = KINDS[claimed_run.kind]
    config = context.config
    if claimed_run.attempts > config.max_attempts:
        problem = Problem(code="worker-died", detail=f"The service failed {config.max_attempts} times. Retry.")
        finish(context, claimed_run, kind.fail(context, claimed_run, Failure("service", [problem], 1)))
        return
    context.queue.wake(claimed_run.id)
    try:
        perform(context, kind, claimed_run)
    except Cancelled:
        return
    except JobTimeoutException:
        detail = f"Scoring exceeds the limit of {config.max_job_seconds} s for one job. Send fewer or shorter texts."
        problem = Problem(code="job-timeout", detail=detail)
        finish(context, claimed_run, kind.fail(context, claimed_run, Failure("limit", [problem], 1)))
