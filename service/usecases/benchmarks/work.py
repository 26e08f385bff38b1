"""The worker's half of a revision: check gold, score every submission under it, then make it active."""

from collections.abc import Sequence
from datetime import datetime
from time import monotonic

from sqlalchemy import Connection

from service.context import Context
from service.policy.figures import shares_of, shown_share
from service.requests import PRIVATE
from service.store import artifacts, benchmarks, boards, revisions, runs, score_records, submissions
from service.usecases import access, events
from service.usecases.benchmarks.benchmarks import input_name
from service.usecases.boards.ranking import incomplete_last, systems_together, top_rungs
from service.usecases.boards.work import Side, rank_changes, schedule_ahead, schedule_board_comparison
from service.usecases.runs import Cancelled, Ending, Failure, Outdated, Progress, QueuedRun, queue_runs
from service.usecases.scoring.config import ScoringConfig, scoring_config
from service.usecases.scoring.gold import benchmark_key, keep_gold, keyed_digest, load_part, sentence_keys
from service.usecases.scoring.part_scorer import Scorer
from service.usecases.scoring.shares import blocks_name, packed_documents, place_on_ladder, unsplittable
from treescore.errors import InputError, LimitError, Problem, ProblemList, ScoringError
from treescore.evaluation.blind import blind_inputs, word_count
from treescore.evaluation.evaluate import Evaluation

PAGE = 50
STEP_SECONDS = 60.0
"""Seconds of re-scoring before other bulk work gets its turn."""
DROPPED_AT_ONCE = 200


def work(context: Context, run: runs.Run, progress: Progress) -> Ending | None:
    """Check gold, then re-score for one step. Started again, it continues where it stopped.

    Raises:
        ScoringError: the problems of gold.
    """
    with context.store.read() as db:
        revision = revisions.by_id(db, run.id)
    if revision is None:
        return None
    progress.measures(entry.metric.name for entry in scoring_config(revision.scoring).spec.entries)
    if revision.state == revisions.CHECKING:
        _check_gold(context, revision, progress)
    return _rescore(context, run, revision)


def fail(context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Give a revision up: the revision that was active stays active."""
    with context.store.read() as db:
        revision = revisions.by_id(db, run.id)
    if revision is None:
        return Ending(runs.FAILED)

    def save(db: Connection, _now: datetime) -> Sequence[QueuedRun]:
        revisions.set_state(db, run.id, revisions.FAILED, failure=failure.record())
        _record(db, context, "revision.failed", revision)
        return ()

    return Ending(runs.FAILED, save, after=lambda: _drop_records(context, revision))


def _check_gold(context: Context, revision: revisions.Revision, progress: Progress) -> None:
    """Read every part once: its size, a keyed digest, the words that may be published.

    Raises:
        ScoringError: the problems of all parts together.
    """
    scoring = scoring_config(revision.scoring)
    errors: list[ScoringError] = []
    with context.store.read() as db:
        parts = revisions.parts_of(db, revision.id)
    for done, part in enumerate(parts):
        progress.note(done, len(parts), f"checking gold of {part.name}")
        if part.gold_key is not None:
            continue
        try:
            _check_part(context, revision, scoring, part)
        except ScoringError as error:
            errors.append(error)
    with context.store.read() as db:
        benchmark = benchmarks.get(db, revision.benchmark_id)
        small = ProblemList() if benchmark is None else unsplittable(revisions.parts_of(db, revision.id), benchmark)
    if small.problems:
        errors.append(InputError(small.problems))
    if errors:
        kind = InputError if any(isinstance(error, InputError) for error in errors) else LimitError
        problems = [problem for error in errors for problem in error.problems]
        raise kind(problems[: context.config.max_problems], sum(error.total for error in errors))


def _check_part(context: Context, revision: revisions.Revision, scoring: ScoringConfig, part: revisions.Part) -> None:
    with context.store.read() as db:
        loaded = load_part(db, revision, part.name, scoring.spec)
    pointer = f"/parts/{part.name}/gold"
    evaluation = Evaluation(scoring.spec, loaded.text, loaded.items, context.config.limits, pointer, part.name)
    gold = evaluation.gold
    if not len(gold):
        detail = "Gold has no sentence. Send a text with at least one."
        raise InputError([Problem(code="no-sentences", pointer=pointer, part=part.name, detail=detail)])
    evaluation.check_gold_words()
    inputs = blind_inputs(gold, evaluation.items.words)
    packed = {input_name(part.position, name): artifacts.pack_json(body) for name, body in inputs.items()}
    packed[blocks_name(part.position)] = packed_documents(evaluation)
    with context.store.write() as db:
        key = benchmark_key(db, revision.benchmark_id)
    keys = sentence_keys(gold, key)
    with context.store.write() as db:
        # an earlier attempt may have stored some of it, two workers may have the same run, and a deleted benchmark
        # keeps nothing of its gold
        run = runs.get(db, revision.id, lock=True)
        if run is None or run.final:
            raise Cancelled(revision.id)
        artifacts.drop_below(db, revision.id, input_name(part.position, ""))
        artifacts.drop_below(db, revision.id, blocks_name(part.position))
        artifacts.put(db, revision.id, packed)
        digest = keyed_digest(key, loaded.digest)
        checked = revisions.Part(part.name, part.position, len(gold), word_count(gold), digest)
        revisions.save_part(db, revision.id, checked, keys)
    keep_gold(context, revision, part, loaded.digest, evaluation.read_gold)


def _rescore(context: Context, run: runs.Run, revision: revisions.Revision) -> Ending | None:
    """Score submissions until each has a record under the revision. None when the time of this step is over."""
    end = monotonic() + min(STEP_SECONDS, 0.5 * context.config.max_job_seconds)
    with context.store.read() as db:
        benchmark = benchmarks.get(db, revision.benchmark_id)
    if benchmark is None or benchmark.deleted_at is not None:
        return None
    if benchmark.active_revision is None:
        return _switch(context, revision)
    if revision.state != revisions.RESCORING:
        with context.store.write() as db:
            revisions.begin_rescoring(db, revision.id)
    scorer: Scorer | None = None
    while True:
        with context.store.read() as db:
            waiting = score_records.unscored(db, revision.benchmark_id, revision.number, PAGE)
            total = submissions.count(db, revision.benchmark_id, state=runs.SUCCEEDED)
            left = score_records.unscored_count(db, revision.benchmark_id, revision.number)
        if not waiting:
            return None if _tested_ahead(context, run, revision, total) else _switch(context, revision)
        scorer = scorer or Scorer(context, revision)
        for done, submission_id in enumerate(waiting, total - left):
            _rescore_one(context, run, scorer, submission_id, (done, total))
            if monotonic() > end:
                with context.store.write() as db:
                    runs.requeue(db, run)
                return None


def _rescore_one(context: Context, run: runs.Run, scorer: Scorer, submission_id: str, at: tuple[int, int]) -> None:
    """Score one submission and keep its record; a second time gives the same record."""
    with context.store.read() as db:
        submission = submissions.get(db, submission_id)
    if submission is None or submission.deleted_at is not None:
        return
    scored = scorer.score(submission, lambda *_: None, always=True)
    with context.store.write() as db:
        if not runs.note_progress(db, run.id, at[0] + 1, at[1], "scoring submissions again"):
            raise Cancelled(run.id)
        runs.reset_attempts(db, run.id)
        current = submissions.get(db, submission_id, lock=True)
        if scored.record is not None and current is not None and current.deleted_at is None:
            score_records.save(db, scored.record, scored.packed)
            place_on_ladder(db, access.benchmark_of(db, current.benchmark_id), scorer.revision, current)
    context.queue.wake(run.id)


def _tested_ahead(context: Context, run: runs.Run, revision: revisions.Revision, total: int) -> bool:
    """Let the run wait until the board under a revision is tested, so that it is when the revision becomes active.

    Returns:
        False for a dry run, and where that was done or could not be done before.
    """
    if revision.dry_run:
        return False
    with context.store.write() as db:
        scheduled = schedule_ahead(db, context, boards.BoardRun(revision.benchmark_id, revision.number))
        if scheduled:
            runs.note_progress(db, run.id, total, total, "scored again, now testing their differences")
            runs.requeue(db, run, context.now() + runs.LONGEST_HOLD)
    queue_runs(context, scheduled)
    return bool(scheduled)


def _switch(context: Context, revision: revisions.Revision) -> Ending:
    """Make the revision active and store whose rank changes; outdated where a submission has no record."""

    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        benchmark = benchmarks.get(db, revision.benchmark_id)
        if benchmark is None:
            return ()
        first = benchmark.active_revision is None
        if not first and score_records.unscored(db, benchmark.id, revision.number, 1):
            raise Outdated
        changes = _rank_changes(db, benchmark, revision, shown_share(benchmark, now))
        if revision.dry_run:
            revisions.set_state(db, revision.id, revisions.READY, moved=changes)
            _record(db, context, "revision.ready", revision)
            return ()
        revisions.supersede(db, benchmark.id, revision.number)
        revisions.set_state(db, revision.id, revisions.ACTIVE, moved=changes, activated_at=now)
        benchmarks.activate(db, benchmark.id, revision.number, now)
        _record(db, context, "revision.active", revision)
        # under the first revision there is nothing to compare yet
        return () if first else schedule_board_comparison(db, context, benchmark.id)

    def after() -> None:
        if revision.dry_run:
            _drop_records(context, revision)

    return Ending(runs.SUCCEEDED, save, lock=revision.benchmark_id, after=after)


def _drop_records(context: Context, revision: revisions.Revision) -> None:
    """Delete the scores under a revision that never became active, a few at a time."""
    while True:
        with context.store.write() as db:
            if not score_records.drop_revision(db, revision.benchmark_id, revision.number, DROPPED_AT_ONCE):
                score_records.drop_ladders_under(db, revision.benchmark_id, revision.number)
                return


def _record(db: Connection, context: Context, kind: str, revision: revisions.Revision) -> None:
    data = {"revision": revision.number, "dry_run": revision.dry_run}
    events.record_event(db, context, kind, revision.benchmark_id, subject=revision.id, data=data)


def _rank_changes(
    db: Connection, benchmark: benchmarks.Benchmark, revision: revisions.Revision, share: str | None
) -> list[dict[str, object]]:
    """List what changes on the board of a share with this revision; nothing before there is an active one."""
    active = revisions.active(db, benchmark)
    if active is None:
        return []
    sides = []
    for each in (active, revision):
        scoring = scoring_config(each.scoring)
        entry, score = scoring.main
        its, asked = score_records.of_benchmark(benchmark.id), (scoring.addresses, scoring.main_score)
        seen = [score_records.Asked(benchmark.id, each.number, of, *asked) for of in shares_of(benchmark)]
        known = [score_records.macro_of(db, its, of_it) for of_it in seen]
        entries = boards.standings(db, benchmark.id, each.number, known[0], withdrawn_from=benchmark.closed_from)
        if not benchmark.leaderboard["ladder"]:
            entries = systems_together(entries, boards.system_members(db, benchmark.id, each.number, known[0]))
        if not scoring.charges(entry):
            entries = incomplete_last(entries, revisions.parts_of(db, each.id))
        if benchmark.leaderboard["ladder"]:
            entries = top_rungs(entries)
        sides.append(Side(entries, score.higher_is_better, known[-1] if share == PRIVATE else None))
    return rank_changes(benchmark.leaderboard["pick"], *sides)
