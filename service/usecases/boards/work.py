"""The comparisons behind a leaderboard, made by a worker whenever the board changes, also by another active revision.

At most one run of a revision's board is unfinished at any time. The board's version counts what changes while it works,
and at its end the run sees whether another one is needed. While submissions are under way the run is held in the store,
for a bounded time. So many submissions at once cost one comparison.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection

from service import logs, monitoring, queue, requests
from service.caller import new_id, principal_of
from service.context import Context
from service.policy.figures import rank_value, shares_of, shown_share
from service.store import benchmarks, boards, revisions, runs, score_records, submissions
from service.store.benchmarks import Benchmark
from service.usecases.boards import ranking
from service.usecases.boards.compare import board_question, compare_submissions
from service.usecases.runs import Ending, Failure, Progress, QueuedRun

BOARD_KIND = "board"
HOLD = timedelta(minutes=1)
"""The longest wait of a comparison for submissions that are under way, where the one before took a quarter of it."""
HOLD_RUNS = 4
"""How many times the last comparison a longer one waits: five times its time passes between the ends of two."""
NAMED = 1000
"""New submissions that the line of a board names."""
MOST_ASKED = 16
"""Maximum number of boards whose comparisons are kept up to date for one revision, and for each share of a split."""

log = logs.Log("boards")


@dataclass(frozen=True, slots=True)
class _Compared:
    """The comparison of one board, `fresh` unless it was kept because the tested rows are the same.

    `new` are the submissions that the comparison before this one did not have.
    """

    board: ranking.Board
    body: boards.BoardBody
    fresh: bool
    new: frozenset[str]


def schedule_board_comparison(db: Connection, context: Context, benchmark_id: str) -> Sequence[QueuedRun]:
    """Schedule new comparisons of a board, in the transaction that changes the board.

    While submissions of the benchmark are under way the run is held, so that many at once cost one comparison. The end
    of the last of them lets it begin; if they do not end, its moment comes, and the sweeper wakes a worker.

    Returns:
        The run to be queued after the transaction. Nothing where it is held, where an unfinished run will see the
        change, and where no revision is active.
    """
    benchmark = benchmarks.get(db, benchmark_id)
    if benchmark is None or benchmark.active_revision is None or benchmark.deleted_at is not None:
        return ()
    board = boards.BoardRun(benchmark_id, benchmark.active_revision)
    arriving = submissions.under_way(db, benchmark_id)
    unfinished = boards.unfinished_run(db, *board)
    if unfinished is not None:
        return () if arriving or not runs.let_begin(db, unfinished) else (QueuedRun(unfinished, queue.BULK),)
    not_before = None
    if arriving:  # workers spend at most a fifth of their time on one board
        hold = HOLD_RUNS * timedelta(seconds=boards.last_seconds(db, board))
        not_before = context.now() + min(max(HOLD, hold), runs.LONGEST_HOLD)
    added = _add_run(db, context, board, not_before)
    return () if arriving else (added,)


def _add_run(db: Connection, context: Context, board: boards.BoardRun, not_before: datetime | None = None) -> QueuedRun:
    now = context.now()
    run_id = new_id("brd", now)
    runs.add(db, run_id, BOARD_KIND, queue.BULK, now, principal_of(board.benchmark_id), not_before=not_before)
    boards.set_run(db, board, run_id)
    return QueuedRun(run_id, queue.BULK)


def schedule_ahead(db: Connection, context: Context, board: boards.BoardRun) -> Sequence[QueuedRun]:
    """Schedule the comparisons of a board under a revision that is to become active, so that it has them then.

    The revision's run begins again when they are made, or cannot be. Nothing is scheduled a second time.
    """
    return () if boards.had_run(db, board) else (_add_run(db, context, board),)


def _let_revision_begin(db: Connection, board: boards.BoardRun) -> Sequence[QueuedRun]:
    """Let a revision's run begin that waits for the comparisons of its board."""
    revision = revisions.get(db, *board)
    if revision is None or not runs.let_begin(db, revision.id):
        return ()
    return (QueuedRun(revision.id, queue.BULK),)


def let_board_begin(db: Connection, benchmark_id: str) -> Sequence[QueuedRun]:
    """Let a held comparison begin where a submission that ended without scores was the last one under way."""
    benchmark = benchmarks.get(db, benchmark_id)
    if benchmark is None or benchmark.active_revision is None or submissions.under_way(db, benchmark_id):
        return ()
    held = boards.unfinished_run(db, benchmark_id, benchmark.active_revision)
    return () if held is None or not runs.let_begin(db, held) else (QueuedRun(held, queue.BULK),)


def board_changed(db: Connection, context: Context, benchmark_id: str) -> Sequence[QueuedRun]:
    """Count a change of a board and schedule its comparisons; return the run to queue with `queue_runs`."""
    benchmarks.touch_board(db, benchmark_id)
    return schedule_board_comparison(db, context, benchmark_id)


def keep_asked(db: Connection, board: ranking.Board, now: datetime) -> None:
    """Keep the comparison of a board up to date from now on, because a caller has asked for it."""
    number = board.revision.number
    known = boards.keys(db, board.benchmark_id, number)
    if board.key in known or len(known) >= MOST_ASKED * (2 if board.share else 1):
        return
    asked = boards.RequestedBoard(score=board.score, part=board.part, pick=board.pick)
    body = boards.BoardBody(id=None, question=None, asked=asked, untested={}, comparison=None)
    boards.save(db, board.benchmark_id, number, board.key, boards.BoardComparison(None, 0, body), now)


def work(context: Context, run: runs.Run, progress: Progress) -> Ending:
    """Compare the rows of a revision's boards where they differ from the stored ones; save everything at once."""
    with context.store.read() as db:
        board_run = boards.of_run(db, run.id)
        benchmark = None if board_run is None else benchmarks.get(db, board_run.benchmark_id)
    if board_run is None or benchmark is None or benchmark.deleted_at is not None:
        return Ending(runs.SUCCEEDED)
    with context.store.read() as db:
        known = boards.keys(db, benchmark.id, board_run.revision)
        before = boards.last_began(db, board_run)
        to_compare = _boards_to_compare(db, context, benchmark, board_run.revision)
    compared: list[_Compared] = []
    for board, asked in to_compare:
        progress.note(len(compared), len(to_compare), f"comparing {board.score}")
        compared.append(_compared(context, board, asked))
    progress.measures(board.scored_by[0].metric.name for board, _ in to_compare)
    ending = _ending(context, run, benchmark, board_run.revision, known, compared)
    new = frozenset().union(*(each.new for each in compared))
    return replace(ending, after=lambda: _note_new(context, board_run, new, before))


def fail(context: Context, run: runs.Run, _failure: Failure) -> Ending:
    """Give up: the rows stay without significance until the board changes again."""
    with context.store.read() as db:
        board_run = boards.of_run(db, run.id)
    if board_run is None:
        return Ending(runs.FAILED)

    def save(db: Connection, _now: datetime) -> Sequence[QueuedRun]:
        benchmarks.touch_board(db, board_run.benchmark_id)
        return _let_revision_begin(db, board_run)

    return Ending(runs.FAILED, save, lock=board_run.benchmark_id)


def _boards_to_compare(
    db: Connection, context: Context, benchmark: Benchmark, revision: int
) -> list[tuple[ranking.Board, boards.RequestedBoard | None]]:
    """Return the boards to compare, standard and requested ones, each also as it was frozen, with the request.

    Of a split test set the boards of both shares are compared at all times, so that closing needs no work. A revision
    that is not active yet takes over what was requested under the active one.
    """
    shares, stored = shares_of(benchmark), revisions.get(db, benchmark.id, revision)
    standard = ranking.board_of(db, benchmark, revision=stored)
    active = standard.revision.state in revisions.READABLE
    number = revision if active else benchmark.active_revision or revision
    live: dict[str, tuple[ranking.Board, boards.RequestedBoard | None]] = {
        board.key: (board, None)
        for share in shares
        for board in ranking.standard_boards(replace(standard, share=share))
    }
    for key in boards.keys(db, benchmark.id, number):
        kept = boards.get(db, benchmark.id, number, key)
        asked = None if kept is None else kept.body["asked"]
        # a track may be gone since, a score with the revision before
        if asked is None or key in live or asked["score"] not in standard.scoring.addresses:
            continue
        if standard.has_part(asked["part"]):
            board = ranking.board_of(db, benchmark, revision=stored, **asked)
            live |= {each.key: (each, asked) for each in (replace(board, share=share) for share in shares)}
    frozen_at = benchmark.frozen_at
    if frozen_at is None or context.now() < frozen_at:
        return list(live.values())
    seen = shown_share(benchmark, frozen_at)
    frozen = [(replace(board, until=frozen_at), None) for board, _ in live.values() if board.share == seen]
    return [*live.values(), *frozen]


def _compared(context: Context, board: ranking.Board, asked: boards.RequestedBoard | None) -> _Compared:
    """Compare the rows of a board, unless the stored comparison is of the same rows."""
    with context.store.read() as db:
        rows = ranking.rows_of(db, board)
        ids, untested = ranking.tested_of(db, board, rows)
        question = board_question(db, board, rows, ids)
        kept = boards.get(db, board.benchmark_id, board.revision.number, board.key)
    body = boards.BoardBody(
        id=ranking.comparison_id(question), question=question, asked=asked, untested=untested, comparison=None
    )
    fresh = kept is None or kept.body["id"] != body["id"]
    if kept is not None and not fresh:
        body["comparison"] = kept.body["comparison"]
    elif len(ids) > 1:
        body["comparison"] = compare_submissions(context, question)
    return _Compared(board, body, fresh=fresh, new=_new_of(ids, kept))


def _new_of(ids: Sequence[str], kept: boards.BoardComparison | None) -> frozenset[str]:
    if kept is None:
        return frozenset(ids)
    before = kept.body["question"]
    return frozenset() if before is None else frozenset(ids).difference(before["submissions"])


def _ending(
    context: Context, run: runs.Run, seen: Benchmark, revision: int, known: Sequence[str], compared: Sequence[_Compared]
) -> Ending:
    """Replace the comparisons that were known when the run began; schedule another run if the board has changed."""

    def save(db: Connection, now: datetime) -> Sequence[QueuedRun]:
        # every change of the board holds the benchmark's row: it finds the run finished, or is seen here
        current = benchmarks.get(db, seen.id)
        if current is None:
            return ()
        boards.remove(db, seen.id, revision, known)
        for each in compared:
            comparison = boards.BoardComparison(run.id, seen.board_version, each.body)
            boards.save(db, seen.id, revision, each.board.key, comparison, now)
        # counting the private share's comparisons early would tell that its rows differ
        counted = shown_share(current, now)
        if any(each.fresh and each.board.share in (requests.PUBLIC, counted) for each in compared):
            benchmarks.touch_board(db, seen.id)
        begun = _let_revision_begin(db, boards.BoardRun(seen.id, revision))
        if current.board_version == seen.board_version:
            return begun
        return [*begun, *schedule_board_comparison(db, context, seen.id)]

    return Ending(runs.SUCCEEDED, save, lock=seen.id)


def _note_new(context: Context, board: boards.BoardRun, new: frozenset[str], before: datetime | None) -> None:
    """Measure how late the boards have their new scores, and name the new submissions in the log.

    Scores from before the last comparison began may be new on a board too, where a team has picked another submission.
    """
    if not new:
        return
    with context.store.read() as db:
        last = score_records.last_made(db, board.revision, new)
    if last is not None and (before is None or last >= before):
        seconds = (context.now() - last).total_seconds()
        context.meters.observe(monitoring.BOARDS, seconds)
        log.info(
            "board", benchmark=board.benchmark_id, submissions=sorted(new)[:NAMED], number=len(new), seconds=seconds
        )


class Side(NamedTuple):
    """The submissions on the board with their main scores under one revision, oldest first.

    Attributes:
        entries: with the scores by which they are picked.
        higher_is_better: of the score.
        private: the scores of the rows over the private share, where it is shown: they are ranked by these.
    """

    entries: Sequence[submissions.BoardEntry]
    higher_is_better: bool
    private: Mapping[str, float | None] | None = None


def rank_changes(pick: str, before: Side, after: Side) -> list[dict[str, object]]:
    """List the teams and baselines whose submission, rank or main score changes, the largest changes first."""
    old, new = rows_by_team(pick, before), rows_by_team(pick, after)
    pairs = [(old.get(key), new.get(key)) for key in {**old, **new}]
    changed = [(was, now) for was, now in pairs if was != now]
    changed.sort(key=_distance, reverse=True)
    return [_document(was, now) for was, now in changed]


def rows_by_team(pick: str, side: Side) -> dict[str, ranking.BoardRow]:
    """Return the rows of a board by team; by submission for baselines and where all submissions are shown.

    They are picked and ranked as on the board, and have exact scores.
    """
    higher = side.higher_is_better
    seen = [entry._replace(value=rank_value(entry.value)) for entry in side.entries]
    chosen = [each for each in ranking.picked(seen, pick, higher_is_better=higher) if not each.withdrawn]
    exact = {entry.id: entry for entry in side.entries}
    if side.private is not None:
        exact = {each.id: ranking.entry_with_values(each, side.private) for each in chosen}
        chosen = [each._replace(value=rank_value(exact[each.id].value)) for each in chosen]
    rows = ranking.ranked(chosen, higher_is_better=higher)
    return {
        row.entry.id if pick == "all" else ranking.team_key(row.entry): row._replace(entry=exact[row.entry.id])
        for row in rows
    }


def _document(was: ranking.BoardRow | None, now: ranking.BoardRow | None) -> dict[str, object]:
    before, after = (None if row is None else row.entry for row in (was, now))
    entry = after or before
    return {
        "team": entry and entry.team_id,
        "submission": after and after.id,
        "submission_before": before and before.id,
        "rank_before": was and was.rank,
        "rank_after": now and now.rank,
        "score_before": before and before.value,
        "score_after": after and after.value,
        "difference": _difference(was, now),
    }


def _difference(was: ranking.BoardRow | None, now: ranking.BoardRow | None) -> float | None:
    before, after = (None if row is None else row.entry.value for row in (was, now))
    return None if before is None or after is None else after - before


def _distance(change: tuple[ranking.BoardRow | None, ranking.BoardRow | None]) -> tuple[int, float]:
    before, after = (None if row is None else row.rank for row in change)
    steps = 1 if before is None or after is None else abs(before - after)
    return steps, abs(_difference(*change) or 0.0)
