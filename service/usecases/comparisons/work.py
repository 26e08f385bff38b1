"""The worker's half of a comparison that a caller asked for: compute the answer and save it once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from service.context import Context
from service.store import benchmarks, comparisons, runs
from service.store.comparisons import Comparison
from service.usecases.boards.compare import compare_submissions
from service.usecases.events.record import record_event
from service.usecases.runs.ending import Ending, Failure, QueuedRun
from service.usecases.runs.progress import Progress


def work(context: Context, run: runs.Run, _progress: Progress) -> Ending | None:
    """Answer a claimed question. Invalid settings for these submissions are an answer too: a failure of kind `input`.

    Raises:
        ScoringError: the submissions cannot be compared as asked.
    """
    with context.store.read() as db:
        comparison = comparisons.of_run(db, run.id)
    if comparison is None:
        return None
    document = compare_submissions(context, comparison.question)
    return _answer(context, comparison, runs.SUCCEEDED, {"comparison": document, "failure": None})


def fail(context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Save a failure as the answer."""
    with context.store.read() as db:
        comparison = comparisons.of_run(db, run.id)
    if comparison is None:
        return Ending(runs.FAILED)
    return _answer(context, comparison, runs.FAILED, {"comparison": None, "failure": failure.record()})


def record_comparison(
    db: Connection, context: Context, kind: str, comparison: Comparison, *, actor: str | None = None
) -> None:
    """Record an event of a comparison, one for each team that asked it; without a team it is the organisers'."""
    asked = comparisons.askers(db, comparison.id)
    for team_id in sorted(team for team in asked if team is not None) or (None,):
        record_event(db, context, kind, comparison.benchmark_id, actor=actor, team_id=team_id, subject=comparison.id)


def _answer(context: Context, comparison: Comparison, state: str, answer: dict[str, object]) -> Ending:
    def save(db: Connection, _now: datetime) -> Sequence[QueuedRun]:
        comparisons.save_answer(db, comparison.id, answer)
        # a board may show this comparison as pending
        benchmarks.touch_comparisons(db, comparison.benchmark_id)
        kind = "comparison.done" if state == runs.SUCCEEDED else "comparison.failed"
        record_comparison(db, context, kind, comparison)
        return ()

    return Ending(state, save, lock=comparison.benchmark_id)
