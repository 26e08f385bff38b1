"""The worker's half of a submission: score it under the active revision and save everything at once.

All idle workers score pieces of a large submission; the worker of its run joins the results. Whichever worker scores a
piece, the joined result is to the byte what one worker alone makes. The run's own worker takes pieces too, so that a
submission never waits for another to begin. Where Redis does not answer, it does all that have no result.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from service.context import Context
from service.errors import TYPES, problems_counted
from service.policy.documents import CLOSED
from service.queue import REDIS_ERRORS, Pulse
from service.store import benchmarks, revisions, runs, score_records, submissions
from service.store.submissions import Submission
from service.usecases import access, events
from service.usecases.boards.work import board_changed, let_board_begin
from service.usecases.runs import Cancelled, Ending, Failure, Outdated, PieceProgress, Progress, QueuedRun
from service.usecases.scoring.part_scorer import Scored, Scorer, pack_results, unpack_results
from service.usecases.scoring.shares import place_on_ladder
from treescore.core.version import __version__

PIECES = 16
"""A piece has at least a sixteenth of `spread_bytes`: 2 MB of CoNLL-U, some 30,000 words. So two workers end within a
sixteenth of the time of each other, and a run that comes in between waits for a fraction of a second, while a piece
costs two small transactions."""
LOOK_AGAIN = 2.0
"""Seconds after which the run's worker looks whether those that hold pieces still live."""


def score_together(context: Context, run: runs.Run, scorer: Scorer, submission: Submission) -> Scored | None:
    """Score a large submission of a claimed run with the workers that are idle; None where it is small, or alone.

    Raises:
        Cancelled: the run has ended.
    """
    spans = _spans(context, scorer.parts, submission)
    others = _others(context, run) if len(spans) > 1 else 0
    if not others and not (spans and run.attempts > 1):
        return None
    revision = scorer.revision.number
    with context.store.write(durable=False) as db:
        current = runs.get(db, run.id, lock=True)
        if current is None or current.final:
            raise Cancelled(run.id)
        runs.plan_pieces(db, run.id, revision, __version__, spans)
        free = [piece_id for piece_id, holder in runs.unfinished_pieces(db, run.id).items() if holder is None]
    # the first is for this worker; the wake-ups wait behind those of queued runs
    context.queue.put_all(free[1 : 1 + others], run.queue)
    _work_off(context, run, scorer, submission)
    with context.store.read() as db:
        packed = runs.piece_results(db, run.id, revision)
    results = [result for body in packed for result in unpack_results(body)]
    if len(results) != len(scorer.parts):
        raise Cancelled(run.id)
    return scorer.join(submission, results)


def score_piece(context: Context, piece: runs.Piece) -> None:
    """Score a claimed piece in another worker than the run's own.

    Raises:
        Cancelled: the run has ended, or the piece went to another worker.
    """
    with context.store.read() as db:
        submission = submissions.of_run(db, piece.run_id)
        revision = None if submission is None else revisions.get(db, submission.benchmark_id, piece.revision)
    if submission is None or revision is None or submission.deleted_at is not None:
        raise Cancelled(piece.run_id)
    progress = PieceProgress(context, piece.run_id, piece.id)
    body = _packed_piece(Scorer(context, revision), submission, piece, progress)
    with context.store.write(durable=False) as db:
        runs.save_piece(db, piece, body)
    context.queue.wake(channel(piece.run_id))


def channel(run_id: str) -> str:
    """Return the name under which the worker of a run is woken when one of its pieces is done, or given back."""
    return f"{run_id}/pieces"


def spans_of(sizes: Sequence[int], least: int) -> Iterator[tuple[int, int]]:
    """Yield first and last (not included) of consecutive parts that have `least` bytes together, then of the rest."""
    first = size = 0
    for last, each in enumerate(sizes, 1):
        size += each
        if size >= least or last == len(sizes):
            yield first, last
            first, size = last, 0


def _spans(context: Context, parts: Sequence[revisions.Part], submission: Submission) -> list[tuple[int, int]]:
    """Return the pieces of a submission; none where it is small."""
    threshold = context.config.spread_bytes
    sizes = [_size(submission.outputs.get(part.name, {})) for part in parts]
    if not threshold or sum(sizes) < threshold:
        return []
    return list(spans_of(sizes, max(1, threshold // PIECES)))


def _size(output: Mapping[str, object]) -> int:
    size = output.get("bytes", 0)
    return size if isinstance(size, int) else 0


def _others(context: Context, run: runs.Run) -> int:
    """Return how many other workers could help; 0 without Redis."""
    try:
        return max(0, context.queue.workers(run.queue) - 1)
    except REDIS_ERRORS:
        return 0


def _work_off(context: Context, run: runs.Run, scorer: Scorer, submission: Submission) -> None:
    """Score pieces until each has a result.

    Raises:
        Cancelled: the run has ended.
    """
    progress = PieceProgress(context, run.id, run.id)
    alone = False
    while True:
        with context.store.write(durable=False) as db:
            piece = runs.take_piece(db, run.id, also_held=alone)
        while piece is not None:
            body = _packed_piece(scorer, submission, piece, progress)
            with context.store.write(durable=False) as db:
                runs.save_piece(db, piece, body)
                piece = runs.take_piece(db, run.id, also_held=alone)
        with context.store.read() as db:
            if not runs.unfinished_pieces(db, run.id):
                return
        alone = not _await_others(context, run)


def _packed_piece(scorer: Scorer, submission: Submission, piece: runs.Piece, progress: PieceProgress) -> bytes:
    """Return the packed results of a piece."""
    progress.piece = piece
    results = scorer.score_parts(submission, scorer.parts[piece.first : piece.last], progress.note)
    return pack_results(results)


def _await_others(context: Context, run: runs.Run) -> bool:
    """Wait until the others have done their pieces, or one of these is free again. Return False without Redis."""
    pulse = Pulse(context.queue)
    try:
        with context.queue.listen(channel(run.id)) as listener:
            while True:
                with context.store.read() as db:
                    left = runs.unfinished_pieces(db, run.id)
                if not left or None in left.values():
                    return True
                if not listener.wait(LOOK_AGAIN):
                    _take_back_lost(context, pulse.held() - {run.id}, left)
    except REDIS_ERRORS:
        return False


def _take_back_lost(context: Context, at_work: set[str], left: Mapping[str, str | None]) -> None:
    """Free the pieces whose worker sends no heartbeat. What this run holds, an earlier attempt of it has begun."""
    lost = {piece_id: holder for piece_id, holder in left.items() if holder not in at_work}
    if lost:
        with context.store.write(durable=False) as db:
            runs.give_pieces_back(db, lost)


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
    scored = score_together(context, run, scorer, submission) or scorer.score(submission, progress.note)
    return _scored_ending(context, submission, revision, scored)


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
    events.record_event(db, context, kind, submission.benchmark_id, team_id=submission.team_id, subject=submission.id)
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
