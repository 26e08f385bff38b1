"""Comparisons asked for: a stored question with an answer, and the same question has the same id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import NotFound, TooManyRequests, Unprocessable, unprocessable
from service.policy import gate
from service.policy.gate import Level
from service.queue import BULK, LIVE
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
from service.usecases.runs.views import Page, View, etag_of, json_view, moment
from service.usecases.runs.waiting import wait_for
from treescore.errors import Problem, ScoringError
from treescore.render import FORMATS, render_comparisons
from treescore.significance import PARAMS, Settings, parse_settings

COMPARISON_KIND = "comparison"
MOST_SYSTEMS = 100
QUICK = 10
QUICK_SHUFFLES = 100_000
"""Systems and shuffles up to which a comparison goes before re-scoring."""
MOST_WAITING = 50
"""Unanswered questions of one benchmark beyond which only organisers ask more."""
LEADERBOARD = "leaderboard"
MEMBERS = ("score", "submissions", "part", "revision", "pick", *PARAMS)
_READ_AT_ONCE = 50


def ask(context: Context, caller: Caller, slug: str, question: Mapping[str, Any]) -> str:
    """Store a question, unless it is there: its id.

    Args:
        context: the parts to work with.
        caller: who asks.
        slug: of the benchmark.
        question: `submissions` (ids, or `leaderboard`), `score`, `part`, `revision`, `pick` (of a leaderboard), and the
            settings of the significance module.

    Raises:
        Unprocessable: the question makes no sense, with pointers.
        NotFound: a submission is not the caller's to know of.
        Forbidden: the benchmark shows this caller no significance.
        TooManyRequests: too many questions wait already.
    """
    caller.require("submit", "read", "score")
    now = context.now()
    with context.store.write() as db:
        benchmark = benchmark_of(db, slug, lock=True)
        viewer = _viewer(context, benchmark, caller)
        board, asked, whole = _understood(db, benchmark, caller, viewer, question)
        name = comparison_id(asked)
        if whole:
            keep_asked(db, board, now)
        run_id = _stored(db, context, caller, board, name, asked)
        if whole and run_id is not None:
            # the board says now that it waits
            benchmarks.touch_board(db, slug)
    if run_id is not None:
        context.queue.put(run_id, _queue(asked))
    return name


def view_comparison(context: Context, caller: Caller, comparison_id: str, form: str = "json") -> View:
    """A comparison as it stands; other forms than JSON once it is answered.

    Raises:
        NotFound: there is none, or a submission of it is not the caller's to know of.
        Forbidden: the benchmark shows this caller no significance.
        Unprocessable: no such format, or no answer to show in it.
    """
    if form not in FORMATS:
        raise Unprocessable(f"There is no format {form!r}. There are: {', '.join(FORMATS)}.")
    with context.store.read() as db:
        comparison, known, viewer = found(db, context, caller, comparison_id)
        run = runs.get(db, comparison.run_id)
        labels = _labels(db, comparison.benchmark_id, known.values(), viewer, caller)
    document = gate.comparison_view(viewer.level, _document(comparison, run, labels, viewer.level))
    if form == "json":
        final = run is None or run.final
        return json_view(document, final=final, state=str(document["state"]))
    answer = comparison.document or {}
    if answer.get("comparison") is None:
        raise Unprocessable(f"The comparison {comparison_id} is {document['state']}; only JSON shows that.")
    shown = render_comparisons([_labelled(answer["comparison"], labels)], form)
    return View(shown.content, etag_of(shown.content), content_type=shown.media_type)


def wait_for_comparison(
    context: Context, caller: Caller, comparison_id: str, seconds: float, etag: str | None = None
) -> View:
    """The comparison once it is answered, or has moved on from `etag`, or when time is over."""
    with context.store.read() as db:
        comparison, _, _ = found(db, context, caller, comparison_id)
    return wait_for(
        context, comparison.run_id, lambda: view_comparison(context, caller, comparison_id), seconds, etag
    )  # fmt: skip


def list_comparisons(context: Context, caller: Caller, slug: str, cursor: str | None, limit: int) -> Page:
    """Comparisons of a benchmark whose submissions the caller may know of all, by id."""
    items: list[dict[str, Any]] = []
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug)
        viewer = _viewer(context, benchmark, caller)
        after, more = cursor, True
        while more and len(items) <= limit:
            rows = comparisons.listing(db, slug, after, _READ_AT_ONCE)
            under_way = runs.many(db, [row.run_id for row in rows])
            more = len(rows) == _READ_AT_ONCE
            for row in rows:
                known = submissions.many(db, row.question["submissions"])
                if all(_may_see(caller, viewer, known.get(each)) for each in row.question["submissions"]):
                    items.append(_head(row, under_way.get(row.run_id)))
                after = row.id
                if len(items) > limit:
                    break
    return Page(items[:limit], items[limit - 1]["id"] if len(items) > limit else None)


def found(
    db: Connection, context: Context, caller: Caller, comparison_id: str
) -> tuple[Comparison, dict[str, Submission], Viewer]:
    """A comparison that the caller may see, and its submissions.

    Raises:
        NotFound: there is none, or a submission of it is not the caller's to know of.
        Forbidden: the benchmark shows this caller no significance.
    """
    comparison = comparisons.get(db, comparison_id)
    if comparison is None:
        raise NotFound(f"There is no comparison {comparison_id}.")
    benchmark = benchmark_of(db, comparison.benchmark_id)
    viewer = _viewer(context, benchmark, caller)
    known = submissions.many(db, comparison.question["submissions"])
    if not all(_may_see(caller, viewer, known.get(each)) for each in comparison.question["submissions"]):
        raise NotFound(f"There is no comparison {comparison_id}.")
    return comparison, known, viewer


def _viewer(context: Context, benchmark: Benchmark, caller: Caller) -> Viewer:
    viewer = viewer_of(benchmark, caller, context.now())
    gate.require(viewer.level, Level.SCORES, "comparisons")
    return viewer


def _may_see(caller: Caller, viewer: Viewer, submission: Submission | None) -> bool:
    """Whether a caller may know of a submission's scores: organisers, its team, and whoever sees it on the board."""
    if submission is None or submission.deleted_at is not None:
        return caller.organiser and submission is not None
    if caller.organiser or (
        submission.team_id is not None and team_of(caller, submission.benchmark_id) == submission.team_id
    ):
        return True
    if not submission.on_board or submission.finished_at is None:
        return False
    return viewer.until is None or submission.finished_at <= viewer.until


def _understood(
    db: Connection, benchmark: Benchmark, caller: Caller, viewer: Viewer, question: Mapping[str, Any]
) -> tuple[Board, Question, bool]:
    """The question in its one form, and whether it is about the whole leaderboard."""
    unknown = [
        Problem(code="unknown-member", pointer=f"/{name}", detail=f"A question has: {', '.join(MEMBERS)}.")
        for name in question
        if name not in MEMBERS
    ]
    if unknown:
        raise unprocessable(ScoringError(unknown))
    asked = question.get("submissions")
    whole = asked == LEADERBOARD
    board = board_of(
        db, benchmark, score=question.get("score"), part=question.get("part"), revision=question.get("revision"),
        pick=question.get("pick"), until=viewer.until if whole else None,
    )  # fmt: skip
    if whole:
        ids, _ = tested_of(db, board, rows_of(db, board))
        if len(ids) < 2:
            raise _wrong("too-few-submissions", "There are not two submissions on the board that can be compared.")
    else:
        ids = _listed(db, benchmark, caller, viewer, asked)
    try:
        settings = _settings(question, board_settings(board, len(ids)) if whole else Settings())
    except ScoringError as error:
        raise unprocessable(error) from error
    return board, question_of(board, ids, settings), whole


def _settings(question: Mapping[str, Any], defaults: Settings) -> Settings:
    given = {name: question[name] for name in PARAMS if question.get(name) is not None}
    base = {name: getattr(defaults, name) for name in ("shuffles", "resamples")}
    return parse_settings({**base, **given})


def _listed(
    db: Connection, benchmark: Benchmark, caller: Caller, viewer: Viewer, asked: object
) -> list[str]:  # fmt: skip
    if not isinstance(asked, list) or not all(isinstance(each, str) for each in asked):
        raise _wrong("bad-value", 'This is a list of submissions\' ids, or "leaderboard".')
    if len(set(asked)) < len(asked):
        raise _wrong("repeated-submission", "A submission is named twice. Name each once.")
    if not 2 <= len(asked) <= MOST_SYSTEMS:
        raise _wrong("bad-value", f"Name 2 to {MOST_SYSTEMS} submissions.")
    known = submissions.many(db, asked)
    problems = []
    for place, each in enumerate(asked):
        submission = known.get(each)
        pointer = f"/submissions/{place}"
        if (
            submission is None
            or submission.benchmark_id != benchmark.id
            or submission.deleted_at is not None
            or not _may_see(caller, viewer, submission)
        ):
            detail = f"The benchmark has no submission {each!r}."
            problems.append(Problem(code="unknown-submission", pointer=pointer, detail=detail))
        elif submission.state != runs.SUCCEEDED:
            detail = f"The submission {each} has no scores: it is {submission.state}."
            problems.append(Problem(code="no-scores", pointer=pointer, detail=detail))
    if problems:
        raise unprocessable(ScoringError(problems))
    return asked


def _wrong(code: str, detail: str) -> Unprocessable:
    return unprocessable(ScoringError([Problem(code=code, pointer="/submissions", detail=detail)]))


def _queue(question: Question) -> str:
    quick = len(question["submissions"]) <= QUICK and question["settings"]["shuffles"] <= QUICK_SHUFFLES
    return LIVE if quick else BULK


def _stored(
    db: Connection, context: Context, caller: Caller, board: Board, name: str, question: Question
) -> str | None:
    """Store a question with what is known of its answer: the run to be queued, or None."""
    now = context.now()
    known = comparisons.get(db, name)
    if known is not None:
        run = runs.get(db, known.run_id)
        failure = (known.document or {}).get("failure")
        if run is None or run.state != runs.FAILED or (failure or {}).get("kind") == "input":
            return None
        run_id = f"{name}-{known.attempt + 1}"
        runs.add(db, run_id, COMPARISON_KIND, _queue(question), now)
        comparisons.ask_again(db, name, run_id, known.attempt + 1)
        return run_id
    if not caller.organiser and comparisons.waiting(db, board.benchmark_id) >= MOST_WAITING:
        raise TooManyRequests(
            f"{MOST_WAITING} comparisons of this benchmark wait for their answers. Ask again once they have them.",
            slug="too-many-comparisons",
            title="Too many comparisons wait",
            headers={"Retry-After": "10"},
        )
    runs.add(db, name, COMPARISON_KIND, _queue(question), now)
    asked = Comparison(name, board.benchmark_id, board.revision.number, question, name, None, now)
    comparisons.add(db, asked)
    record_comparison(db, context, "comparison.created", asked, actor=caller.owner)
    kept = boards.get(db, board.benchmark_id, board.revision.number, board.key)
    if kept is None or kept.body["id"] != name or kept.body["comparison"] is None:
        return name
    # the board's own comparison asked the very same
    answer = {"comparison": kept.body["comparison"], "failure": None}
    runs.finish(db, name, runs.SUCCEEDED, now)
    comparisons.save_answer(db, name, answer, etag_of(orjson.dumps(answer)))
    record_comparison(db, context, "comparison.done", asked)
    return None


def _head(comparison: Comparison, run: runs.Run | None) -> dict[str, Any]:
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


def _document(comparison: Comparison, run: runs.Run | None, labels: Mapping[str, Any], level: Level) -> dict[str, Any]:
    """The whole answer: `systems` and `pairs` name submissions by their ids."""
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
) -> dict[str, dict[str, str | None]]:
    """Team and name of each submission, where the viewer sees them on the board or it is the caller's own."""
    known = list(known)
    own = team_of(caller, benchmark_id)
    ids = {each.team_id for each in known if each.team_id is not None and (viewer.named or each.team_id == own)}
    names = teams.names(db, benchmark_id, ids)
    return {
        each.id: {
            "team": each.team_id if each.team_id in names else None,
            "team_name": names.get(each.team_id or ""),
            "name": each.name if each.team_id is None or each.team_id in names else None,
        }
        for each in known
    }


def _labelled(document: Mapping[str, Any], labels: Mapping[str, Mapping[str, str | None]]) -> dict[str, Any]:
    """A comparison for people: names instead of ids, the ids where two names are equal."""
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
