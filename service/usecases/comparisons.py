"""Comparisons: a stored question with its answer; the same question has the same id.

The worker's half computes the answer and saves it once.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from service import queue, requests
from service.caller import Caller
from service.context import Context
from service.contract.comparisons import ComparisonRequest, StoredComparison
from service.errors import Conflict, Forbidden, Gone, NotFound, TooManyRequests, invalid, unprocessable
from service.policy.release import Release
from service.store import benchmarks, boards, comparisons, runs
from service.store.benchmarks import Benchmark
from service.usecases import comparison_views
from service.usecases.access import benchmark_of, team_of
from service.usecases.boards import compare, ranking
from service.usecases.boards.ranking import comparison_id
from service.usecases.boards.work import keep_asked
from service.usecases.events import record_event
from service.usecases.runs import Ending, Failure, Progress, QueuedRun, add_run
from service.usecases.scoring import shares
from service.usecases.submissions import views
from treescore.errors import ScoringError
from treescore.significance import Settings, units


def work(context: Context, run: runs.Run, _progress: Progress) -> Ending | None:
    """Answer a claimed question. Invalid settings for these submissions are an answer too: a failure of kind `input`.

    Raises:
        ScoringError: the submissions cannot be compared as asked.
    """
    with context.store.read() as db:
        comparison = comparisons.of_run(db, run.id)
    if comparison is None:
        return None
    document = compare.compare_submissions(context, comparison.question)
    return _answer(context, comparison, runs.SUCCEEDED, {"comparison": document, "failure": None})


def fail(context: Context, run: runs.Run, failure: Failure) -> Ending:
    """Save a failure as the answer."""
    with context.store.read() as db:
        comparison = comparisons.of_run(db, run.id)
    if comparison is None:
        return Ending(runs.FAILED)
    return _answer(context, comparison, runs.FAILED, {"comparison": None, "failure": failure.record()})


def record_comparison(
    db: Connection, context: Context, kind: str, comparison: comparisons.Comparison, *, actor: str | None = None
) -> None:
    """Record an event of a comparison, one for each team that asked it; without a team it is the organisers'."""
    asked = comparisons.askers(db, comparison.id)
    for team_id in sorted(team for team in asked if team is not None) or (None,):
        record_event(db, context, kind, comparison.benchmark_id, actor=actor, team_id=team_id, subject=comparison.id)


def _answer(context: Context, comparison: comparisons.Comparison, state: str, answer: dict[str, object]) -> Ending:
    def save(db: Connection, _now: datetime) -> Sequence[QueuedRun]:
        comparisons.save_answer(db, comparison.id, answer)
        # a board may show this comparison as pending
        benchmarks.touch_board(db, comparison.benchmark_id)
        kind = "comparison.done" if state == runs.SUCCEEDED else "comparison.failed"
        record_comparison(db, context, kind, comparison)
        return ()

    return Ending(state, save, lock=comparison.benchmark_id)


COMPARISON_KIND = "comparison"
QUICK = 10
"""Systems up to which a comparison is queued before re-scoring."""
MOST_WAITING = 50
"""Unanswered comparisons of one benchmark beyond which only organisers add more."""


def ask(context: Context, caller: Caller, slug: str, request: ComparisonRequest) -> str:
    """Store a question, unless it is stored already. Return its id.

    Raises:
        Unprocessable: the request is invalid, with pointers.
        Unauthorized, Forbidden: the benchmark does not show this caller significance, or the caller may not ask this.
        TooManyRequests: too many comparisons are waiting, too many runs of the caller are queued, or the team's quota
            is used up.
    """
    with context.store.write() as db:
        benchmark = benchmark_of(db, slug, caller, lock=True)
        comparison_views.require_asker(caller, slug)
        release = comparison_views.reader_of(context, benchmark, caller)
        board, asked = _question(db, benchmark, caller, release, request)
        name = comparison_id(asked)
        whole = request.submissions == requests.LEADERBOARD
        free = False
        if whole:  # the service compares the rows of some boards by default
            own = ranking.board_of(db, benchmark, until=board.until, share=board.share)
            free = board.key in {each.key for each in ranking.standard_boards(own)}
        _meter(db, context, caller, benchmark, name, free=free)
        if whole:
            keep_asked(db, board, context.now())
        run_id = _stored_question(db, context, caller, board, name, asked)
        if whole and run_id is not None:
            # the board now shows that it waits
            benchmarks.touch_board(db, slug)
    if run_id is not None:
        context.queue.put(run_id, _queue(asked))
    return name


def stored_pairs(
    context: Context, caller: Caller, slug: str, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], StoredComparison]:
    """Return what is stored of pairs of submissions by the main score, as the caller may see it; nothing is asked.

    Raises:
        NotFound: unknown benchmark.
        Forbidden: the caller's level shows no comparisons.
    """
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        release = comparison_views.reader_of(context, benchmark, caller)
        board = ranking.board_of(db, benchmark, until=release.until, share=release.share)
        rows = ranking.rows_of(db, board)
        tested, _ = ranking.tested_of(db, board, rows)
        behind = comparison_id(compare.board_question(db, board, rows, tested))
        names = {
            pair: behind
            if set(pair) <= set(tested)
            else comparison_id(compare.listed_question(db, board, rows, pair, None))
            for pair in pairs
        }
    found = {}
    for name in set(names.values()):
        try:
            found[name] = comparison_views.view_comparison(context, caller, name).document
        except (NotFound, Gone):
            continue
    return {pair: found[name] for pair, name in names.items() if name in found}


def delete_comparison(context: Context, caller: Caller, name: str) -> None:
    """Delete a comparison: for a team what it asked, for organisers any. What it cost stays counted.

    A team's comparison that the board shows, or that others asked too, stays for them.

    Raises:
        NotFound: it does not exist, or the caller may not see it.
        Forbidden: the caller did not ask it.
        Conflict: for an organiser, where only the board has it.
    """
    caller.require("submit")
    now = context.now()
    with context.store.write() as db:
        comparison = comparison_views.visible_comparison(db, context, caller, name).comparison
        benchmark_of(db, comparison.benchmark_id, lock=True)
        team = team_of(caller, comparison.benchmark_id)
        if not caller.organises(comparison.benchmark_id):
            if team is None or not comparisons.asked_by(db, [name], team):
                raise Forbidden("Comparisons are deleted by the team that asked them and by organisers.")
            comparisons.drop_ask(db, name, team, now)
            if comparisons.askers(db, name) or boards.of_comparison(db, name) is not None:
                return
        elif comparisons.get(db, name) is None:
            raise Conflict(f"The comparison {name} is the leaderboard's. It is replaced when the leaderboard changes.")
        comparisons.erase(db, [name], now)
        runs.finish(db, comparison.run_id, runs.CANCELLED, now)
    context.queue.stop(comparison.run_id)


def rate_limits(context: Context, caller: Caller, slug: str) -> Mapping[str, str]:
    """Return the RateLimit headers of the caller's quota of questions."""
    return views.rate_limits(context, caller, slug, views.QUESTIONS)


def _question(
    db: Connection, benchmark: Benchmark, caller: Caller, release: Release, request: ComparisonRequest
) -> tuple[ranking.Board, comparisons.Question]:
    """Return the board, and the question in its one form."""
    settings = comparison_views.chosen_settings(caller, benchmark, request)
    release.require_pick(benchmark, request.pick)
    board = ranking.board_of(
        db, benchmark, score=request.score, part=request.part, revision=request.revision, pick=request.pick,
        until=release.until, share=release.share,
    )  # fmt: skip
    reach = comparison_views.Reach(db, board, caller, benchmark, release)
    reach.require_shown()
    _require_unit(db, board, settings)
    rows = ranking.rows_of(db, board)
    if request.submissions != requests.LEADERBOARD:
        question = compare.listed_question(
            db, board, rows, comparison_views.asked_about(db, reach, request.submissions), settings
        )
        _require_runs(request, question)
        return board, question
    ids, _ = ranking.tested_of(db, board, rows)
    if len(ids) < 2:
        detail = "The leaderboard has fewer than two submissions that can be compared."
        raise invalid("too-few-submissions", "/submissions", detail)
    question = compare.board_question(db, board, rows, ids, settings)
    _require_runs(request, question)
    return board, question


def _require_unit(db: Connection, board: ranking.Board, settings: Settings | None) -> None:
    """Refuse whole parts as units where the score is not a mean of enough, and documents where gold marks none.

    Raises:
        Unprocessable: the test set does not have the unit.
    """
    if settings is None or settings.unit not in ("part", "block"):
        return
    try:
        if settings.unit == "part":
            units.require_parts(1 if board.part == requests.POOLED else len(board.chosen_parts))
        else:
            stored = shares.stored_documents(db, board.revision.id, board.chosen_parts)
            units.require_documents(known=any(map(any, stored)))
    except ScoringError as error:
        raise unprocessable(error) from error


def _require_runs(request: ComparisonRequest, question: comparisons.Question) -> None:
    """Refuse training runs that are asked to be random where no system has two.

    Raises:
        Unprocessable: none has.
    """
    if request.settings.get("runs") == "random" and not question.get("runs"):
        detail = (
            'The setting runs "random" needs a system with two training runs or more: submit another run with run_of. '
            "Or leave out runs."
        )
        raise invalid("no-training-runs", "/runs", detail)


def _meter(
    db: Connection, context: Context, caller: Caller, benchmark: Benchmark, name: str, *, free: bool
) -> None:  # fmt: skip
    """Note who asks, and charge a new question to the quota of the team.

    Raises:
        TooManyRequests: the quota is used up.
    """
    now = context.now()
    team = None if caller.organises(benchmark.id) else team_of(caller, benchmark.id)
    if team in comparisons.askers(db, name):
        return
    charged = not (free or caller.organises(benchmark.id))
    if charged and team is not None:
        benchmarks.get_team(db, benchmark.id, team, lock=True)
        views.require_question(views.questions_of(db, benchmark, team, now), now)
    comparisons.note_ask(db, name, benchmark.id, team, views.utc_day(now), now, charged=charged)


def _queue(question: comparisons.Question) -> str:
    return queue.LIVE if len(question["submissions"]) <= QUICK else queue.BULK


def _stored_question(
    db: Connection, context: Context, caller: Caller, board: ranking.Board, name: str, question: comparisons.Question
) -> str | None:
    """Store a question, with its answer if the board has it. Return the run to queue, or None."""
    now = context.now()
    known = comparisons.get(db, name)
    if known is not None and not _open(db, known):
        return None
    if not caller.organises(board.benchmark_id) and comparisons.unanswered(db, board.benchmark_id) >= MOST_WAITING:
        raise TooManyRequests(
            f"The limit of {MOST_WAITING} waiting comparisons of this benchmark is reached. Retry later.",
            slug="too-many-comparisons",
            headers={"Retry-After": "10"},
        )
    if known is not None:
        run_id = f"{name}-{known.attempt + 1}"
        add_run(db, context, caller, run_id, COMPARISON_KIND, _queue(question), now)
        comparisons.begin_attempt(db, name, run_id, known.attempt + 1)
        return run_id
    add_run(db, context, caller, name, COMPARISON_KIND, _queue(question), now)
    asked = comparisons.Comparison(name, board.benchmark_id, board.revision.number, question, name, None, now)
    comparisons.add(db, asked)
    record_comparison(db, context, "comparison.created", asked, actor=caller.owner)
    kept = boards.of_comparison(db, name)
    if kept is None or kept.body["comparison"] is None:
        return name
    # the board's own comparison has the same question
    runs.finish(db, name, runs.SUCCEEDED, now)
    comparisons.save_answer(db, name, {"comparison": kept.body["comparison"], "failure": None})
    record_comparison(db, context, "comparison.done", asked)
    return None


def _open(db: Connection, known: comparisons.Comparison) -> bool:
    """Return whether a known question needs another attempt: its answer was deleted, or the service failed."""
    if known.deleted_at is not None:
        return True
    run = runs.get(db, known.run_id)
    failure = (known.document or {}).get("failure") or {}
    return run is not None and run.state == runs.FAILED and failure.get("kind") != "input"
