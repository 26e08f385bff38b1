"""A new revision comes to rule: every submission is scored under it, then the board switches at once."""

from __future__ import annotations

from time import monotonic

from sqlalchemy import Connection

from service.context import Context
from service.store import benchmarks, boards, revisions, runs, score_records, submissions
from service.store.benchmarks import Benchmark
from service.store.revisions import Revision
from service.usecases.boards.rank_changes import Side, rank_changes
from service.usecases.boards.work import put_board, schedule_board_comparison
from service.usecases.events.record import record_event
from service.usecases.runs.progress import Cancelled
from service.usecases.scoring.config import scoring_config
from service.usecases.scoring.part_scorer import Scorer

PAGE = 50
STEP_SECONDS = 60.0
"""Seconds after which other bulk work has its turn. What is left is queued again by the sweeper."""
DROPPED_AT_ONCE = 200


def rescore(context: Context, run: runs.Run, revision: Revision) -> None:
    """Go on until every submission has a record under the revision, or this step's time is over; then switch."""
    end = monotonic() + min(STEP_SECONDS, 0.5 * context.config.max_job_seconds)
    with context.store.read() as db:
        benchmark = benchmarks.get(db, revision.benchmark_id)
    if benchmark is None or benchmark.deleted_at is not None:
        return
    if benchmark.active_revision is not None and revision.state != revisions.RESCORING:
        with context.store.write() as db:
            revisions.begin_rescoring(db, revision.id)
    scorer: Scorer | None = None
    while not _settled(context, run, revision):
        if scorer is None:
            scorer = Scorer(context, revision)
        with context.store.read() as db:
            waiting = score_records.unscored(db, revision.benchmark_id, revision.number, PAGE)
            total = submissions.count(db, revision.benchmark_id, state=runs.SUCCEEDED)
            left = score_records.unscored_count(db, revision.benchmark_id, revision.number)
        for done, submission_id in enumerate(waiting, total - left):
            _rescore_one(context, run, scorer, submission_id, (done, total))
            if monotonic() > end:
                with context.store.write() as db:
                    runs.requeue(db, run.id)
                return


def _rescore_one(context: Context, run: runs.Run, scorer: Scorer, submission_id: str, at: tuple[int, int]) -> None:
    """Score one submission and keep its record: done twice, it is the same."""
    with context.store.read() as db:
        submission = submissions.get(db, submission_id)
    if submission is None or submission.deleted_at is not None:
        return
    scored = scorer.score(submission, lambda *_: None, whatever=True)
    with context.store.write() as db:
        if not runs.note_progress(db, run.id, at[0] + 1, at[1], "scoring submissions again"):
            raise Cancelled(run.id)
        runs.reset_attempts(db, run.id)
        still = submissions.get(db, submission_id, lock=True)
        if scored.record is not None and still is not None and still.deleted_at is None:
            score_records.save(db, scored.record, scored.made)
    context.queue.wake(run.id)


def _settled(context: Context, run: runs.Run, revision: Revision) -> bool:
    """Switch, where nothing is left to score; says who moved. False where something is left."""
    now = context.now()
    scheduled = None
    with context.store.write() as db:
        benchmark = benchmarks.get(db, revision.benchmark_id, lock=True)
        if benchmark is None:
            return True
        first = benchmark.active_revision is None
        if not first and score_records.unscored(db, benchmark.id, revision.number, 1):
            return False
        if not runs.finish(db, run.id, runs.SUCCEEDED, now):
            return True
        movements = [] if first else _movements(db, benchmark, revision)
        if revision.dry_run:
            revisions.set_state(db, revision.id, revisions.READY, moved=movements)
        else:
            revisions.supersede(db, benchmark.id, revision.number)
            revisions.set_state(db, revision.id, revisions.ACTIVE, moved=movements, activated_at=now)
            benchmarks.activate(db, benchmark.id, revision.number, now)
            # before the first one there is nothing to compare
            scheduled = None if first else schedule_board_comparison(db, context, benchmark.id)
        kind = "revision.ready" if revision.dry_run else "revision.active"
        data = {"revision": revision.number, "dry_run": revision.dry_run}
        record_event(db, context, kind, benchmark.id, subject=revision.id, data=data)
    put_board(context, scheduled)
    if revision.dry_run:
        drop_records(context, revision)
    context.queue.wake(run.id)
    return True


def drop_records(context: Context, revision: Revision) -> None:
    """Forget the scores under a revision that never came to rule, a few at a time."""
    while True:
        with context.store.write() as db:
            if not score_records.drop_revision(db, revision.benchmark_id, revision.number, DROPPED_AT_ONCE):
                return


def _movements(db: Connection, benchmark: Benchmark, revision: Revision) -> list[dict[str, object]]:
    ruled = None if benchmark.active_revision is None else revisions.get(db, benchmark.id, benchmark.active_revision)
    if ruled is None:
        return []
    sides = []
    for each in (ruled, revision):
        _, score = scoring_config(each.scoring).main
        sides.append(Side(boards.standings(db, benchmark.id, each.number), score.higher_is_better))
    return rank_changes(benchmark.leaderboard["pick"], *sides)
