"""RQ's entry point, and what it does with the run whose turn it is: begin, work, save."""

from contextlib import suppress
from functools import lru_cache
from types import TracebackType

from rq import get_current_job
from rq.timeouts import JobTimeoutException
from sqlalchemy.exc import OperationalError

from service.config import load_config
from service.context import Context, open_context
from service.logs import Log, at_work, configure_logs, fault
from service.process import memory_limit, private_umask
from service.queue import KIND, LIVE, REDIS_ERRORS, RUN
from service.store import runs
from service.usecases.kinds import KINDS
from service.usecases.runs import Cancelled, Failure, finish, perform
from treescore.core.wording import counted
from treescore.errors import Problem

TimeLimitReached = JobTimeoutException
log = Log("worker")


class WorkFailed(Exception):
    """The work failed. RQ logs this and keeps it in Redis, so it must not quote texts."""


class HideDetails:
    """Replaces any exception by WorkFailed, and logs its type and traceback without texts."""

    def __init__(self, **ids: str) -> None:
        self._ids = ids

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, Exception):
            fault(kind, trace, **self._ids)
            raise WorkFailed(f"{kind.__name__}; the log says where") from None


@lru_cache(maxsize=1)
def process_context() -> Context:
    """Return the context of this process; made before the fork, connected after it."""
    return open_context(load_config())


def begun_process(kind: str) -> Context:
    """Return the context of a process that begins: its files are private, its log set up."""
    private_umask()
    configure_logs(load_config())
    context = process_context()
    context.meters.process = kind
    return context


def begin_next() -> None:
    """Begin the run whose turn it is, and perform it; RQ calls this in a process of its own.

    RQ's job says which run it did. Each other run that waits has a wake-up of its own; where that was spent while the
    run could not begin, this sends another at the end.

    Raises:
        WorkFailed: the work failed; RQ keeps the job as a failed one.
    """
    context, job = process_context(), get_current_job()
    queue = job.origin
    anonymous = most_anonymous(context, queue)
    try:
        claimed = next_run(context, queue, anonymous)
    except OperationalError as error:
        fault(type(error), error.__traceback__)  # the sweeper wakes another worker for it
        raise WorkFailed("the store did not answer") from None
    if claimed is None:
        return
    job.meta = {RUN: claimed.id, KIND: claimed.kind}
    job.description = f"{claimed.kind} {claimed.id}"
    job.save()
    try:
        run(context, claimed)
    except WorkFailed:
        queue_again(context, claimed.id)
        raise
    with suppress(*REDIS_ERRORS, OperationalError):
        if not context.queue.rq_queue(queue).count:
            left = peek(context, queue, anonymous)
            context.queue.put_all([left] if left else [], queue)


def most_anonymous(context: Context, queue: str) -> int:
    """Return how many runs of callers without a token may be at work at once: half of the workers."""
    return max(1, context.queue.workers(queue) // 2) if queue == LIVE else runs.NO_LIMIT


def left_behind(context: Context, run_id: str, *, crashed: bool) -> None:
    """Give back what a killed process left unfinished; end what has crashed a second one."""
    with suppress(OperationalError):  # the sweeper gives it back
        if crashed and end_crashed(context, run_id):
            return
    queue_again(context, run_id)


def queue_again(context: Context, run_id: str) -> None:
    """Let another worker begin a run that was not finished. Where the store does not answer, the sweeper does it."""
    try:
        queue = give_back(context, run_id)
    except OperationalError as error:
        fault(type(error), error.__traceback__, run=run_id)
        return
    if queue is not None:
        context.queue.put(run_id, queue)


def next_run(context: Context, queue: str, anonymous: int) -> runs.Run | None:
    """Begin the run whose turn it is; for `anonymous` see store.runs.claim_next."""
    with context.store.write(durable=False) as db:
        return runs.claim_next(db, queue, context.now(), anonymous=anonymous)


def peek(context: Context, queue: str, anonymous: int) -> str | None:
    """Return the id of what `next_run` would begin, without beginning it."""
    with context.store.read() as db:
        return runs.next_id(db, queue, context.now(), anonymous=anonymous)


def give_back(context: Context, run_id: str) -> str | None:
    """Let another worker begin a run that was not finished. Return its queue; None where it has ended."""
    with context.store.write(durable=False) as db:
        run = runs.get(db, run_id) if runs.release(db, run_id) else None
    return None if run is None else run.queue


def end_crashed(context: Context, run_id: str) -> bool:
    """End a run whose process crashed in another attempt than the first; return whether it has ended.

    Once may be an accident. Twice it is most likely for its memory, which native code does not always ask for politely.
    """
    with context.store.read() as db:
        run = runs.get(db, run_id)
    if run is None or run.final or run.attempts == 1:
        return False
    detail = "The process that did this crashed twice, most likely for its memory. Send fewer or shorter texts."
    _end_at_limit(context, run, Problem(code="job-memory", detail=detail))
    return True


def run(context: Context, claimed: runs.Run) -> None:
    """Perform a claimed run.

    Raises:
        WorkFailed: for any unexpected error. Released, it begins again, which counts as another attempt.
    """
    with at_work(claimed.id, claimed.request_id), HideDetails(run=claimed.id):
        _perform(context, claimed)


def do(context: Context, run_id: str) -> None:
    """Begin and perform one run by its id, out of turn, unless it is final. Unexpected errors are raised."""
    with context.store.write(durable=False) as db:
        claimed_run = runs.claim(db, run_id, context.now())
    if claimed_run is not None:
        with at_work(run_id, claimed_run.request_id):
            _perform(context, claimed_run)


def _perform(context: Context, claimed_run: runs.Run) -> None:
    """Perform a claimed run; fail it after too many attempts, or at its limit of time or memory."""
    kind = KINDS[claimed_run.kind]
    config = context.config
    if claimed_run.attempts > config.max_attempts:
        problem = Problem(
            code="worker-died", detail=f"The service failed {counted(config.max_attempts, 'time')}. Retry."
        )
        finish(context, claimed_run, kind.fail(context, claimed_run, Failure("service", [problem], 1)))
        raise WorkFailed(f"{claimed_run.id} failed {config.max_attempts} times")
    context.queue.wake(claimed_run.id)
    try:
        with memory_limit(config.max_run_bytes):
            perform(context, kind, claimed_run)
    except Cancelled:
        return
    except TimeLimitReached:
        detail = f"Scoring exceeds the limit of {config.max_job_seconds} s for one job. Send fewer or shorter texts."
        _end_at_limit(context, claimed_run, Problem(code="job-timeout", detail=detail))
    except MemoryError:
        _end_out_of_memory(context, claimed_run)


def _end_out_of_memory(context: Context, run: runs.Run) -> None:
    most = context.config.max_run_bytes
    detail = f"Scoring takes more than the {most:,} bytes of memory of one job. Send fewer or shorter texts."
    _end_at_limit(context, run, Problem(code="job-memory", detail=detail))


def _end_at_limit(context: Context, run: runs.Run, problem: Problem) -> None:
    finish(context, run, KINDS[run.kind].fail(context, run, Failure("limit", [problem], 1)))
