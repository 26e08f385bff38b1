"""Store, show and list comparisons: a stored question with its answer; the same question has the same id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import NotFound, TooManyRequests, Unprocessable, invalid, unprocessable
from service.policy import gate
from service.policy.gate import Level
from service.queue import BULK, LIVE
from service.requests import LEADERBOARD, ComparisonRequest, PageQuery
from service.store import benchmarks, boards, comparisons, runs, submissions, teams
from service.store.benchmarks import Benchmark
from service.store.comparisons import Comparison, Question
from service.store.submissions import Submission
from service.usecases.access.access import benchmark_of, team_of
from service.usecases.boards.board import (
    Board,
    board_of,
    board_settings,
    comparison_id,
    question_of,
    rows_of,
    tested_of,
)
from service.usecases.boards.leaderboard import Viewer, viewer_of
from service.usecases.boards.work import keep_asked
from service.usecases.comparisons.work import record_comparison
from service.usecases.runs.views import Page, View, body_view, etag_of, json_view, moment
from service.usecases.runs.waiting import wait_for
from treescore.core.params import Json
from treescore.errors import Problem, ScoringError
from treescore.render import render_comparisons
from treescore.significance import Settings, parse_settings

COMPARISON_KIND = "comparison"
QUICK = 10
QUICK_SHUFFLES = 100_000
"""Systems and shuffles up to which a comparison is queued before re-scoring."""
MOST_WAITING = 50
"""Unanswered comparisons of one benchmark beyond which only organisers add more."""
_READ_AT_ONCE = 50


class Label(TypedDict):
    """Team and name of a submission."""

    team: str | None
    team_name: str | None
    name: str | None


def ask(context: Context, caller: Caller, slug: str, request: ComparisonRequest) -> str:
    """Store a question, unless it is stored already. Return its id.

    Raises:
        Unprocessable: the request is invalid, with pointers.
        Forbidden: the benchmark does not show this caller significance.
        TooManyRequests: too many comparisons are waiting.
    """
    caller.require("submit", "read", "score")
    now = context.now()
    with context.store.write() as db:
        benchmark = benchmark_of(db, slug, caller, lock=True)
        viewer = _viewer(context, benchmark, caller)
        board, asked, whole = _question(db, benchmark, caller, viewer, request)
        name = comparison_id(asked)
        if whole:
            keep_asked(db, board, now)
        run_id = _stored(db, context, caller, board, name, asked)
        if whole and run_id is not None:
            # the board now shows that it waits
            benchmarks.touch_board(db, slug)
    if run_id is not None:
        context.queue.put(run_id, _queue(asked))
    return name


def view_comparison(context: Context, caller: Caller, comparison_id: str, form: str = "json") -> View:
    """Show a comparison; in other formats than JSON once it is answered.

    Raises:
        NotFound: it does not exist, or the caller may not know of one of its submissions.
        Forbidden: the benchmark does not show this caller significance.
        Unprocessable: the comparison is not answered, so that only JSON can show it.
    """
    with context.store.read() as db:
        comparison, known, viewer = visible_comparison(db, context, caller, comparison_id)
        run = runs.get(db, comparison.run_id)
        labels = _labels(db, comparison.benchmark_id, known.values(), viewer, caller)
    document = gate.comparison_view(viewer.level, _document(comparison, run, labels, viewer.level))
    if form == "json":
        final = run is None or run.final
        return json_view(document, final=final, state=str(document["state"]))
    answer = comparison.document or {}
    if answer.get("comparison") is None:
        raise Unprocessable(f"The comparison {comparison_id} is {document['state']}. Only JSON can show that.")
    shown = render_comparisons([_labelled(answer["comparison"], labels)], form)
    return body_view(shown.content, shown.media_type)


def wait_for_comparison(
    context: Context, caller: Caller, comparison_id: str, seconds: float, etag: str | None = None
) -> View:
    """Show a comparison once it is answered, or differs from `etag`, or the time is over."""
    with context.store.read() as db:
        comparison, _, _ = visible_comparison(db, context, caller, comparison_id)
    return wait_for(
        context, comparison.run_id, lambda: view_comparison(context, caller, comparison_id), seconds, etag
    )  # fmt: skip


def list_comparisons(context: Context, caller: Caller, slug: str, query: PageQuery) -> Page:
    """List the comparisons of a benchmark whose submissions the caller may all know of, by id."""
    items: list[dict[str, object]] = []
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        viewer = _viewer(context, benchmark, caller)
        after, more = query.cursor, True
        while more and len(items) <= query.limit:
            rows = comparisons.listing(db, slug, after, _READ_AT_ONCE)
            under_way = runs.many(db, [row.run_id for row in rows])
            more = len(rows) == _READ_AT_ONCE
            for row in rows:
                known = submissions.many(db, row.question["submissions"])
                if all(_may_see(caller, viewer, known.get(each)) for each in row.question["submissions"]):
                    items.append(_head(row, under_way.get(row.run_id)))
                after = row.id
                if len(items) > query.limit:
                    break
    return Page(items[: query.limit], str(items[query.limit - 1]["id"]) if len(items) > query.limit else None)


def visible_comparison(
    db: Connection, context: Context, caller: Caller, comparison_id: str
) -> tuple[Comparison, dict[str, Submission], Viewer]:
    """Return a comparison that the caller may see, and its submissions.

    Raises:
        NotFound: it does not exist, or the caller may not know of one of its submissions.
        Forbidden: the benchmark does not show this caller significance.
    """
    comparison = comparisons.get(db, comparison_id)
    benchmark = None if comparison is None else benchmark_of(db, comparison.benchmark_id)
    if comparison is None or benchmark is None or not gate.knows(benchmark, caller):
        raise NotFound(f"Unknown comparison {comparison_id}.")
    viewer = _viewer(context, benchmark, caller)
    known = submissions.many(db, comparison.question["submissions"])
    if not all(_may_see(caller, viewer, known.get(each)) for each in comparison.question["submissions"]):
        raise NotFound(f"Unknown comparison {comparison_id}.")
    return comparison, known, viewer


def _viewer(context: Context, benchmark: Benchmark, caller: Caller) -> Viewer:
    viewer = viewer_of(benchmark, caller, context.now())
    gate.require(viewer.level, Level.SCORES, "comparisons")
    return viewer


def _may_see(caller: Caller, viewer: Viewer, submission: Submission | None) -> bool:
    """Return whether a caller may know of a submission's scores: organisers, its team, all who see it on the board."""
    if submission is None or submission.deleted_at is not None:
        return caller.organiser and submission is not None
    if caller.organiser or (
        submission.team_id is not None and team_of(caller, submission.benchmark_id) == submission.team_id
    ):
        return True
    if not submission.on_board or submission.finished_at is None:
        return False
    return viewer.until is None or submission.finished_at <= viewer.until


def _question(
    db: Connection, benchmark: Benchmark, caller: Caller, viewer: Viewer, request: ComparisonRequest
) -> tuple[Board, Question, bool]:
    """Return the board, the question in its one form, and whether it is about the whole leaderboard."""
    whole = request.submissions == LEADERBOARD
    board = board_of(
        db, benchmark, score=request.score, part=request.part, revision=request.revision, pick=request.pick,
        until=viewer.until if whole else None,
    )  # fmt: skip
    if whole:
        ids, _ = tested_of(db, board, rows_of(db, board))
        if len(ids) < 2:
            raise invalid(
                "too-few-submissions",
                "/submissions",
                "The leaderboard has fewer than two submissions that can be compared.",
            )
    else:
        ids = _listed(db, benchmark, caller, viewer, request.submissions)
    try:
        defaults = board_settings(board, len(ids)) if whole else Settings()
        base = {"shuffles": defaults.shuffles, "resamples": defaults.resamples}
        settings = parse_settings({**base, **request.settings})
    except ScoringError as error:
        raise unprocessable(error) from error
    return board, question_of(board, ids, settings), whole


def _listed(
    db: Connection, benchmark: Benchmark, caller: Caller, viewer: Viewer, asked: Sequence[str]
) -> list[str]:  # fmt: skip
    if len(set(asked)) < len(asked):
        raise invalid("repeated-submission", "/submissions", "A submission is repeated. Name each once.")
    known = submissions.many(db, asked)
    problems = []
    for index, each in enumerate(asked):
        submission = known.get(each)
        pointer = f"/submissions/{index}"
        if (
            submission is None
            or submission.benchmark_id != benchmark.id
            or submission.deleted_at is not None
            or not _may_see(caller, viewer, submission)
        ):
            detail = f"Unknown submission {each!r}."
            problems.append(Problem(code="unknown-submission", pointer=pointer, detail=detail))
        elif submission.state != runs.SUCCEEDED:
            detail = f"The submission {each} has no scores. It is {submission.state}."
            problems.append(Problem(code="no-scores", pointer=pointer, detail=detail))
    if problems:
        raise unprocessable(ScoringError(problems))
    return list(asked)


def _queue(question: Question) -> str:
    quick = len(question["submissions"]) <= QUICK and question["settings"]["shuffles"] <= QUICK_SHUFFLES
    return LIVE if quick else BULK


def _stored(
    db: Connection, context: Context, caller: Caller, board: Board, name: str, question: Question
) -> str | None:
    """Store a question, with its answer if the board has it. Return the run to queue, or None."""
    now = context.now()
    known = comparisons.get(db, name)
    if known is not None:
        run = runs.get(db, known.run_id)
        failure = (known.document or {}).get("failure")
        if run is None or run.state != runs.FAILED or (failure or {}).get("kind") == "input":
            return None
        run_id = f"{name}-{known.attempt + 1}"
        runs.add(db, run_id, COMPARISON_KIND, _queue(question), now)
        comparisons.begin_attempt(db, name, run_id, known.attempt + 1)
        return run_id
    if not caller.organiser and comparisons.unanswered(db, board.benchmark_id) >= MOST_WAITING:
        raise TooManyRequests(
            f"The limit of {MOST_WAITING} waiting comparisons of this benchmark is reached. Retry later.",
            slug="too-many-comparisons",
            title="Too many comparisons are waiting",
            headers={"Retry-After": "10"},
        )
    runs.add(db, name, COMPARISON_KIND, _queue(question), now)
    asked = Comparison(name, board.benchmark_id, board.revision.number, question, name, None, now)
    comparisons.add(db, asked)
    record_comparison(db, context, "comparison.created", asked, actor=caller.owner)
    kept = boards.get(db, board.benchmark_id, board.revision.number, board.key)
    if kept is None or kept.body["id"] != name or kept.body["comparison"] is None:
        return name
    # the board's own comparison has the same question
    answer = {"comparison": kept.body["comparison"], "failure": None}
    runs.finish(db, name, runs.SUCCEEDED, now)
    comparisons.save_answer(db, name, answer, etag_of(orjson.dumps(answer)))
    record_comparison(db, context, "comparison.done", asked)
    return None


def _head(comparison: Comparison, run: runs.Run | None) -> dict[str, object]:
    question = comparison.question
    return {
        "id": comparison.id,
        "benchmark": comparison.benchmark_id,
        "revision": comparison.revision,
        "state": runs.SUCCEEDED if run is None else run.state,
        "created_at": moment(comparison.created_at),
        "finished_at": moment(None if run is None else run.finished_at),
        "score": question["score"],
        "part": question["part"],
        "submissions": question["submissions"],
        "settings": question["settings"],
    }


def _document(
    comparison: Comparison, run: runs.Run | None, labels: Mapping[str, Label], level: Level
) -> dict[str, Json]:
    """Show the whole answer: `systems` and `pairs` name submissions by their ids."""
    answer = comparison.document or {}
    return {
        **(answer.get("comparison") or {}),
        **_head(comparison, run),
        "progress": None if run is None else run.progress,
        "labels": labels,
        "failure": gate.failure_view(level, answer["failure"]) if answer.get("failure") else None,
    }


def _labels(
    db: Connection, benchmark_id: str, known: Iterable[Submission], viewer: Viewer, caller: Caller
) -> dict[str, Label]:
    """Return team and name of each submission, if the viewer sees them on the board or it is the caller's own."""
    known = list(known)
    own = team_of(caller, benchmark_id)
    ids = {each.team_id for each in known if each.team_id is not None and (viewer.named or each.team_id == own)}
    names = teams.names(db, benchmark_id, ids)
    return {
        each.id: Label(
            team=each.team_id if each.team_id in names else None,
            team_name=names.get(each.team_id or ""),
            name=each.name if each.team_id is None or each.team_id in names else None,
        )
        for each in known
    }


def _labelled(document: Mapping[str, Json], labels: Mapping[str, Label]) -> dict[str, Json]:
    """Return a comparison for people: names instead of ids, with ids if two names are equal."""
    words: dict[str, str] = {}
    for each, label in labels.items():
        said = ": ".join(part for part in (label["team_name"], label["name"]) if part)
        words[each] = said or each
    counted = Counter(words.values())
    shown = {each: f"{said} ({each})" if counted[said] > 1 else said for each, said in words.items()}
    return {
        **document,
        "systems": [{**system, "name": shown[system["name"]]} for system in document["systems"]],
        "pairs": [{**pair, "a": shown[pair["a"]], "b": shown[pair["b"]]} for pair in document["pairs"]],
        "untested": [{**each, "name": shown[each["name"]]} for each in document["untested"]],
    }
