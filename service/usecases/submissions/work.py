"""The worker's half of a submission: score it under the revision that rules, save everything at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from service.context import Context
from service.store import benchmarks, revisions, runs, score_records, submissions
from service.store.revisions import Revision
from service.store.submissions import Submission
from service.usecases.boards.work import board_changed, put_board
from service.usecases.events.record import record_event
from service.usecases.runs.progress import Progress
from service.usecases.scoring.part_scorer import Scored, Scorer

SHOWN = 20
"""Problems in the failure of a whole submission."""


def score_submission(context: Context, run: runs.Run) -> None:
    """Score a claimed submission. Where another revision came to rule meanwhile, score again under that one."""
    progress = Progress(context, run.id)
    saved = False
    while not saved:
        with context.store.read() as db:
            submission = submissions.of_run(db, run.id)
            if submission is None or submission.deleted_at is not None:
                return
            revision = _ruling(db, submission)
            equal = submissions.scored_equal(
                db, submission.benchmark_id, submission.team_id, submission.outputs_digest, revision.number
            )
        if equal is not None:
            saved = _save_copy(context, run, submission, revision, equal)
        if not saved:
            scored = Scorer(context, revision).score(submission, progress.note)
            saved = _save(context, run, submission, revision, scored)
    context.queue.wake(run.id)


def fail_submission(context: Context, run: runs.Run, failure: Mapping[str, Any]) -> None:
    """Save a failure that is not the outputs' as the end of this attempt."""
    now = context.now()
    with context.store.write() as db:
        submission = submissions.of_run(db, run.id)
        if submission is None:
            return
        benchmarks.get(db, submission.benchmark_id, lock=True)
        if not runs.finish(db, run.id, runs.FAILED, now):
            return
        _end(db, context, submission, runs.FAILED, failure=failure)
    context.queue.wake(run.id)


def _ruling(db: Connection, submission: Submission) -> Revision:
    benchmark = benchmarks.get(db, submission.benchmark_id)
    number = None if benchmark is None else benchmark.active_revision
    revision = None if number is None else revisions.get(db, submission.benchmark_id, number)
    if revision is None:
        raise RuntimeError(f"no revision rules over {submission.id}")
    return revision


def _save(context: Context, run: runs.Run, submission: Submission, revision: Revision, scored: Scored) -> bool:
    """Save an answer. False where the revision does not rule any more and nothing was saved."""
    state = runs.SUCCEEDED if scored.record is not None else runs.FAILED
    with context.store.write() as db:
        benchmark = benchmarks.get(db, submission.benchmark_id, lock=True)
        if benchmark is None or benchmark.active_revision != revision.number:
            return False
        # whoever comes second changes nothing: the work may have run twice
        if not runs.finish(db, run.id, state, context.now()):
            return True
        failure = None
        if scored.record is not None:
            score_records.save(db, scored.record, scored.made)
        else:
            failure = failure_of_parts(scored.failures)
        outputs = {part: {**known, **scored.sizes.get(part, {})} for part, known in submission.outputs.items()}
        scheduled = _end(db, context, submission, state, failure=failure, outputs=outputs)
    put_board(context, scheduled)
    return True


def _save_copy(context: Context, run: runs.Run, submission: Submission, revision: Revision, equal: str) -> bool:
    """Take over the scores of the same outputs. False where they are gone, or the revision does not rule any more."""
    now = context.now()
    with context.store.write() as db:
        benchmark = benchmarks.get(db, submission.benchmark_id, lock=True)
        source = submissions.get(db, equal)
        if benchmark is None or benchmark.active_revision != revision.number or source is None:
            return False
        if not score_records.scored(db, revision.number, [equal]):
            return False
        if not runs.finish(db, run.id, runs.SUCCEEDED, now):
            return True
        score_records.copy(db, equal, submission.id, revision.number, now)
        scheduled = _end(db, context, submission, runs.SUCCEEDED, outputs=source.outputs)
    put_board(context, scheduled)
    return True


def _end(
    db: Connection,
    context: Context,
    submission: Submission,
    state: str,
    *,
    failure: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
) -> str | None:
    """What follows from the end of an attempt, in the transaction that ends it; the run that it schedules, if any."""
    failures = [*submission.failures, *([failure] if failure is not None else [])]
    submissions.change(
        db,
        submission.id,
        state=state,
        finished_at=context.now(),
        failures=failures,
        failure_kind=None if failure is None else failure["kind"],
        outputs=submission.outputs if outputs is None else outputs,
    )
    kind = "submission.scored" if state == runs.SUCCEEDED else "submission.failed"
    record_event(db, context, kind, submission.benchmark_id, team_id=submission.team_id, subject=submission.id)
    if state == runs.SUCCEEDED:
        return board_changed(db, context, submission.benchmark_id)
    return None


def failure_of_parts(failures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The failure of a submission none of whose parts could be scored."""
    kinds = {failure["kind"] for failure in failures.values()}
    limit = kinds == {"limit"}
    errors = [error for failure in failures.values() for error in failure["errors"]]
    total = sum(failure["errors_total"] for failure in failures.values())
    where = f'part "{next(iter(failures))}"' if len(failures) == 1 else f"{len(failures)} parts"
    return {
        "type": "/problems/limit-exceeded" if limit else "/problems/invalid-output",
        "title": "A limit is passed" if limit else "The output does not fit the gold standard's text",
        "status": 413 if limit else 422,
        "kind": "limit" if limit else "input",
        "detail": f"{total} problem{'' if total == 1 else 's'} in {where}.",
        "errors": errors[:SHOWN],
        "errors_total": total,
    }
