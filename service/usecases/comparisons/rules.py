"""What may be asked of gold: by whom, with which settings, about which submissions, and who may read the answer.

Organisers ask what they like. A team asks the benchmark's own question about the rows of the board, or about two of its
own submissions. All other callers read boards; the comparison behind a board is part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

from sqlalchemy import Connection

from service.caller import Caller
from service.context import Context
from service.errors import Forbidden, invalid, unprocessable
from service.policy import ladder
from service.policy.gate import Level, require
from service.policy.questions import fixed
from service.policy.split import require_shown
from service.requests import ComparisonRequest
from service.store import runs, score_records, submissions
from service.store.benchmarks import Benchmark
from service.store.comparisons import Question
from service.store.submissions import Submission
from service.usecases.access.access import benchmark_of, team_of
from service.usecases.boards.board import (
    BOARD_SETTINGS,
    Board,
    board_of,
    comparison_id,
    rows_of,
    tested_of,
)
from service.usecases.boards.considered import board_question
from service.usecases.boards.released import release_of_board, require_board
from service.usecases.boards.viewing import Viewer, viewer_of
from treescore.core.params import Json
from treescore.errors import Problem, ScoringError
from treescore.significance import Settings, parse_settings

NOT_COMPARABLE = "not-comparable"


def reader_of(context: Context, benchmark: Benchmark, caller: Caller) -> Viewer:
    """Return how a caller sees the board behind comparisons.

    Raises:
        Forbidden: the caller's level shows no comparisons.
    """
    viewer = viewer_of(benchmark, caller, context.now())
    require(viewer.level, Level.SCORES, "comparisons")
    return viewer


def require_asker(caller: Caller, slug: str) -> None:
    """Refuse all callers but organisers and the benchmark's teams.

    Raises:
        Unauthorized: no token.
        Forbidden: a token of no team of this benchmark.
    """
    caller.require("submit")
    if not caller.organiser and team_of(caller, slug) is None:
        raise Forbidden(
            f"Comparisons are asked by the teams and organisers of {slug!r}. All others read its leaderboard."
        )


def chosen_settings(caller: Caller, benchmark: Benchmark, request: ComparisonRequest) -> Settings | None:
    """Return the settings that an organiser chose; None for the board's own, the only ones that teams may ask with.

    Raises:
        Unprocessable: a value is malformed.
        Forbidden: a team asks with other settings, or names a seed.
    """
    given = request.settings
    own = asdict(BOARD_SETTINGS) | {name: benchmark.leaderboard[name] for name in ("margin", "unit")}
    base = {name: own[name] for name in ("shuffles", "resamples")}
    try:
        settings = parse_settings({**base, **given})
    except ScoringError as error:
        raise unprocessable(error) from error
    if caller.organiser:
        return settings if any(_differs(name, asdict(settings), own) for name in given) else None
    for name in given:
        if _differs(name, asdict(settings), own):
            rule = (
                "The seed is the service's secret until gold is shown."
                if name == "seed"
                else f"A comparison on this benchmark has `{name}` {'null' if own[name] is None else repr(own[name])}."
            )
            raise fixed(f"Only organisers choose `{name}`. {rule} Leave it out.")
    return None


def _differs(name: str, settings: Mapping[str, Json], own: Mapping[str, Json]) -> bool:
    return name == "seed" or settings[name] != own[name]


class Reach:
    """The submissions of one board that a caller may ask and read about.

    Args:
        db: the transaction.
        board: with the benchmark's own pick, as the caller sees it.
        caller: who asks or reads.
        benchmark: of the board.
        viewer: how the caller sees boards.
    """

    def __init__(self, db: Connection, board: Board, caller: Caller, benchmark: Benchmark, viewer: Viewer) -> None:
        self._db = db
        self._benchmark = benchmark
        self._level = viewer.level
        self._share = viewer.share
        self._caller = caller
        self._team = team_of(caller, board.benchmark_id)
        self._board = board
        rows = rows_of(db, board)
        self.rows = frozenset(row.entry.id for row in rows)
        self._own_rows = frozenset(
            row.entry.id for row in rows if self._team is not None and row.entry.team_id == self._team
        )
        self._any_own = benchmark.leaderboard["margin"] is not None
        self._tested = tested_of(db, board, rows)[0]
        self._behind = comparison_id(board_question(db, board, rows, self._tested))

    def knows(self, submission: Submission | None) -> bool:
        """Return whether the caller may know of a submission: its team may, and all callers of a row of the board."""
        if submission is None or submission.benchmark_id != self._board.benchmark_id:
            return False
        if submission.deleted_at is not None:
            return False
        return self._caller.organiser or submission.id in self.rows or self._owns(submission)

    def held(self, ids: Sequence[str]) -> set[str]:
        """Return those of the submissions whose scores a ladder holds for the caller."""
        if not ladder.holds(self._level, self._benchmark):
            return set()
        return score_records.held(self._db, ids, self._board.revision.number)

    def require_shown(self) -> None:
        """Refuse comparisons where the caller does not see the score, the part, the revision or the share.

        Raises:
            Forbidden: the level or the benchmark does not show it.
        """
        if not self._caller.organiser:
            require_shown(self._board.share, self._share)
        require_board(self._db, self._benchmark, self._board, self._level)

    @property
    def by_part(self) -> bool:
        """Whether the caller sees figures of every part."""
        return not release_of_board(self._db, self._benchmark, self._board, self._level).hidden

    @property
    def shown(self) -> bool:
        """Whether the caller sees the score, the part, the revision and the share."""
        try:
            self.require_shown()
        except Forbidden:
            return False
        return True

    def may_ask(self, known: Collection[Submission]) -> bool:
        """Return whether a team may ask about these: rows of the board, or two of its own.

        One of the two is its row, unless the benchmark has a margin: which of two versions is not worse is asked before
        either is picked.
        """
        ids = {submission.id for submission in known}
        if self._caller.organiser or ids <= self.rows:
            return True
        return len(ids) == 2 and all(map(self._owns, known)) and (self._any_own or bool(ids & self._own_rows))

    def is_behind(self, name: str) -> bool:
        """Return whether a comparison is the one that the board shows."""
        return self._behind == name

    def _owns(self, submission: Submission) -> bool:
        return self._team is not None and submission.team_id == self._team


def reach_of(db: Connection, caller: Caller, viewer: Viewer, question: Question) -> Reach:
    """Return the reach of a caller on the board that a question is about."""
    benchmark = benchmark_of(db, question["benchmark"])
    board = board_of(
        db, benchmark, score=question["score"], part=question["part"], revision=question["revision"],
        until=viewer.until, share=question.get("share"), track=question.get("parts"),
    )  # fmt: skip
    return Reach(db, board, caller, benchmark, viewer)


def asked_about(db: Connection, reach: Reach, asked: Sequence[str]) -> list[str]:
    """Return the submissions of a question, checked.

    Raises:
        Unprocessable: one is repeated, unknown to the caller, or has no scores.
        Forbidden: a team may not compare these with each other.
    """
    if len(set(asked)) < len(asked):
        raise invalid("repeated-submission", "/submissions", "A submission is repeated. Name each once.")
    known = submissions.many(db, asked)
    held = reach.held(asked)
    problems = []
    for index, each in enumerate(asked):
        submission = known.get(each)
        pointer = f"/submissions/{index}"
        if submission is None or not reach.knows(submission):
            detail = f"Unknown submission {each!r}."
            problems.append(Problem(code="unknown-submission", pointer=pointer, detail=detail))
        elif each in held:
            detail = f"The ladder of this benchmark holds the scores of {each}, so that they cannot be compared."
            problems.append(Problem(code="held", pointer=pointer, detail=detail))
        elif submission.state != runs.SUCCEEDED:
            detail = f"The submission {each} has no scores. It is {submission.state}."
            problems.append(Problem(code="no-scores", pointer=pointer, detail=detail))
    if problems:
        raise unprocessable(ScoringError(problems))
    if not reach.may_ask([known[each] for each in asked]):
        raise Forbidden(
            "A team compares rows of the leaderboard with each other, or two of its own submissions, one of which is "
            "its row of the leaderboard unless the benchmark has a margin. Take the ids of rows from the leaderboard.",
            slug=NOT_COMPARABLE,
        )
    return list(asked)
