"""Large submissions: all idle workers score pieces of them; the worker of the submission's run joins the results.

Whichever worker scores a piece, the joined result is to the byte what one worker alone makes. The run's own worker
takes pieces too, so that a submission never waits for another to begin. Where Redis does not answer, it does all that
have no result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from service.context import Context
from service.queue import REDIS_ERRORS
from service.store import pieces, revisions, runs, submissions, texts
from service.store.pieces import Piece
from service.store.revisions import Part
from service.store.runs import Run
from service.store.submissions import Submission
from service.usecases.runs.progress import Cancelled, PieceProgress
from service.usecases.scoring.part_results import pack_results, smaller_texts, unpack_results
from service.usecases.scoring.part_scorer import Scored, Scorer
from treescore.core.version import __version__

PIECES = 16
"""A piece has at least a sixteenth of `spread_bytes`: 2 MB of CoNLL-U, some 30,000 words. So two workers end within a
sixteenth of the time of each other, and a run that comes in between waits for a fraction of a second, while a piece
costs two small transactions."""
LOOK_AGAIN = 2.0
"""Seconds after which the run's worker looks whether those that hold pieces still live."""


def score_together(context: Context, run: Run, scorer: Scorer, submission: Submission) -> Scored | None:
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
        pieces.plan(db, run.id, revision, __version__, spans)
        free = [piece_id for piece_id, holder in pieces.unfinished(db, run.id).items() if holder is None]
    # the first is for this worker; the wake-ups wait behind those of queued runs
    context.queue.put_all(free[1 : 1 + others], run.queue)
    _work_off(context, run, scorer, submission)
    with context.store.read() as db:
        packed = pieces.results(db, run.id, revision)
    results = [result for body in packed for result in unpack_results(body)]
    if len(results) != len(scorer.parts):
        raise Cancelled(run.id)
    return scorer.join(submission, results)


def score_piece(context: Context, piece: Piece) -> None:
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
    body, smaller = _packed_piece(Scorer(context, revision), submission, piece, progress)
    with context.store.write(durable=False) as db:
        pieces.save(db, piece, body)
        texts.replace(db, smaller)
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


def _spans(context: Context, parts: Sequence[Part], submission: Submission) -> list[tuple[int, int]]:
    """Return the pieces of a submission; none where it is small."""
    threshold = context.config.spread_bytes
    sizes = [_size(submission.outputs.get(part.name, {})) for part in parts]
    if not threshold or sum(sizes) < threshold:
        return []
    return list(spans_of(sizes, max(1, threshold // PIECES)))


def _size(output: Mapping[str, object]) -> int:
    size = output.get("bytes", 0)
    return size if isinstance(size, int) else 0


def _others(context: Context, run: Run) -> int:
    """Return how many other workers could help; 0 without Redis."""
    try:
        return max(0, context.queue.workers(run.queue) - 1)
    except REDIS_ERRORS:
        return 0


def _work_off(context: Context, run: Run, scorer: Scorer, submission: Submission) -> None:
    """Score pieces until each has a result.

    Raises:
        Cancelled: the run has ended.
    """
    progress = PieceProgress(context, run.id, run.id)
    alone = False
    while True:
        with context.store.write(durable=False) as db:
            piece = pieces.take(db, run.id, also_held=alone)
        while piece is not None:
            body, smaller = _packed_piece(scorer, submission, piece, progress)
            with context.store.write(durable=False) as db:
                pieces.save(db, piece, body)
                texts.replace(db, smaller)
                piece = pieces.take(db, run.id, also_held=alone)
        with context.store.read() as db:
            if not pieces.unfinished(db, run.id):
                return
        alone = not _await_others(context, run)


def _packed_piece(
    scorer: Scorer, submission: Submission, piece: Piece, progress: PieceProgress
) -> tuple[bytes, Mapping[str, bytes]]:
    """Return the packed results of a piece, and its texts in fewer bytes."""
    progress.piece = piece
    results = scorer.score_parts(submission, scorer.parts[piece.first : piece.last], progress.note)
    return pack_results(results), smaller_texts(results)


def _await_others(context: Context, run: Run) -> bool:
    """Wait until the others have done their pieces, or one of these is free again. Return False without Redis."""
    try:
        with context.queue.listen(channel(run.id)) as listener:
            while True:
                with context.store.read() as db:
                    left = pieces.unfinished(db, run.id)
                if not left or None in left.values():
                    return True
                if not listener.wait(LOOK_AGAIN):
                    _take_back_lost(context, run, left)
    except REDIS_ERRORS:
        return False


def _take_back_lost(context: Context, run: Run, left: Mapping[str, str | None]) -> None:
    """Free the pieces whose worker sends no heartbeat. What this run holds, an earlier attempt of it has begun."""
    at_work = context.queue.held() - {run.id}
    lost = {piece_id: holder for piece_id, holder in left.items() if holder not in at_work}
    if lost:
        with context.store.write(durable=False) as db:
            pieces.give_back(db, lost)
