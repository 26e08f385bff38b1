"""The worker's half of a submission: score it under the active revision and save everything at once."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from service.context import Context
from service.errors import TYPES, problems_counted
from service.policy.documents import CLOSED
from service.store import benchmarks, revisions, runs, score_records, submissions
from service.store.submissions import Submission
from service.usecases import access, events
from service.usecases.boards.work import board_changed, let_board_begin
from service.usecases.runs import Ending, Failure, Outdated, Progress, QueuedRun
from service.usecases.scoring.part_scorer import Scored, Scorer
from service.usecases.scoring.shares import place_on_ladder

SHOWN = 20
"""Problems in the failure of a whole submission."""


def work(context: Context, run: runs.Run, progress: Progress) -> Ending | None:
    """Score a claimed submission, or copy the scores of equal outputs of the same team."""
    with context.store.read() as db:
        submission = submissions.of_run(db, run.id)
        if submission is None or submission.deleted_at is not None:
            return None
        revision = _active(db, submission)
        source = submissions.scored_equal(
            db, submission.benchmark_id, submission.team_id, submission.outputs_digest, revision.number
        )
    if source is not None:
        return _copied(context, submission, revision, source)
    scorer = Scorer(context, revision)
    progress.measures(entry.metric.name for entry in scorer.scoring.spec.entries)
    return _scored_ending(context, submission, revision, scorer.score(submission, progress.note))


def fail(context: Context, run: runs.Run, failure: Failure) -> Ending:
    """End this attempt with a failure that the outputs did not cause."""
    with context.store.read() as db:
        submission = submissions.of_run(db, run.id)
    if submission is None:
        return Ending(runs.FAILED)

    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        return _end(db, context, submission, now, failure=failure.record())

    return Ending(runs.FAILED, save, lock=submission.benchmark_id)


def _active(db: Connection, submission: Submission) -> revisions.Revision:
    benchmark = benchmarks.get(db, submission.benchmark_id)
    revision = None if benchmark is None else revisions.active(db, benchmark)
    if revision is None:
        raise RuntimeError(f"the benchmark of {submission.id} has no active revision")
    return revision


def _scored_ending(context: Context, submission: Submission, revision: revisions.Revision, scored: Scored) -> Ending:
    outputs = {part: {**known, **scored.sizes.get(part, {})} for part, known in submission.outputs.items()}

    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        _require_active(db, submission, revision)
        if scored.record is None:
            return _end(db, context, submission, now, failure=failure_of_parts(scored.failures), outputs=outputs)
        score_records.save(db, scored.record, scored.packed)
        place_on_ladder(db, access.benchmark_of(db, submission.benchmark_id), revision, submission)
        return _end(db, context, submission, now, outputs=outputs)

    state = runs.FAILED if scored.record is None else runs.SUCCEEDED
    return Ending(state, save, lock=submission.benchmark_id)


def _copied(context: Context, submission: Submission, revision: revisions.Revision, source_id: str) -> Ending:
    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        _require_active(db, submission, revision)
        source = submissions.get(db, source_id)
        if source is None or not score_records.scored_ids(db, revision.number, [source_id]):
            raise Outdated
        score_records.copy(db, source_id, submission.id, revision.number, now)
        place_on_ladder(db, access.benchmark_of(db, submission.benchmark_id), revision, submission)
        return _end(db, context, submission, now, outputs=source.outputs)

    return Ending(runs.SUCCEEDED, save, lock=submission.benchmark_id)


def _require_active(db: Connection, submission: Submission, revision: revisions.Revision) -> None:
    benchmark = benchmarks.get(db, submission.benchmark_id)
    if benchmark is None or benchmark.active_revision != revision.number:
        raise Outdated


def _end(
    db: Connection,
    context: Context,
    submission: Submission,
    now: datetime,
    *,
    failure: Mapping[str, object] | None = None,
    outputs: Mapping[str, Mapping[str, object]] | None = None,
) -> Sequence[QueuedRun]:
    """Store the end of an attempt and record its event; return the board run to be queued."""
    submissions.change(
        db,
        submission.id,
        state=runs.SUCCEEDED if failure is None else runs.FAILED,
        finished_at=now,
        failures=[*submission.failures, *([failure] if failure is not None else [])],
        failure_kind=None if failure is None else failure["kind"],
        outputs=submission.outputs if outputs is None else outputs,
    )
    kind = "submission.scored" if failure is None else "submission.failed"
    events.record_event_of(db, context, kind, submission)
    if failure is None:
        return board_changed(db, context, submission.benchmark_id)
    return let_board_begin(db, submission.benchmark_id)


def failure_of_parts(failures: Mapping[str, Failure]) -> dict[str, object]:
    """Return the failure record of a submission without a scored part."""
    record = _joined(failures)
    closed = {part: failure if failure.closed is None else failure.closed for part, failure in failures.items()}
    return record if closed == failures else {**record, CLOSED: _joined(closed)}


def _joined(failures: Mapping[str, Failure]) -> dict[str, object]:
    kind = "limit" if all(failure.kind == "limit" for failure in failures.values()) else "input"
    problems = [problem for failure in failures.values() for problem in failure.problems]
    total = sum(failure.total for failure in failures.values())
    where = f'part "{next(iter(failures))}"' if len(failures) == 1 else f"{len(failures)} parts"
    record = Failure(kind, problems[:SHOWN], total).record() | {"detail": problems_counted(total, f" in {where}")}
    if kind == "input":
        record |= {"type": "/problems/invalid-output", "title": TYPES["invalid-output"].title}
    return record
