"""Show and list comparisons: what may be asked of gold, by whom, with which settings, and who may read the answer.

Organisers ask what they like. A team asks the benchmark's own question about the rows of the board, or about two of its
own submissions. All other callers read boards; the comparison behind a board is part of it.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import cast

from sqlalchemy import Connection

from service import errors, render
from service.caller import Caller
from service.context import Context
from service.contract.common import PageQuery
from service.contract.comparisons import ComparisonLabel, ComparisonRequest, StoredComparison
from service.policy import figures, gate
from service.policy.release import Release
from service.store import benchmarks, boards, comparisons, runs, score_records, submissions
from service.store.benchmarks import Benchmark
from service.store.comparisons import Comparison, Question
from service.store.submissions import Submission
from service.usecases.access import benchmark_of, storable, team_of
from service.usecases.boards.compare import board_question
from service.usecases.boards.ranking import BOARD_SETTINGS, Board, board_of, comparison_id, rows_of, tested_of
from service.usecases.boards.viewing import released
from service.usecases.runs import Page, Shown, moment, shown_members, wait_for
from treescore.core.params import Json
from treescore.errors import Problem, ScoringError
from treescore.evaluation.benchmark import COMMAND
from treescore.render.forms import render_comparisons
from treescore.significance import Settings, parse_settings

NOT_COMPARABLE = "not-comparable"


def reader_of(context: Context, benchmark: Benchmark, caller: Caller) -> Release:
    """Return what a caller sees of the boards behind comparisons.

    Raises:
        Forbidden: the caller's level shows no comparisons.
    """
    release = Release.of(benchmark, caller, context.now(), board=True)
    release.require_level(gate.Level.SCORES, "comparisons")
    return release


def require_asker(caller: Caller, slug: str) -> None:
    """Refuse all callers but organisers and the benchmark's teams.

    Raises:
        Unauthorized: no token.
        Forbidden: a token of no team of this benchmark.
    """
    caller.require("submit")
    if not caller.organises(slug) and team_of(caller, slug) is None:
        raise errors.Forbidden(
            f"Comparisons are asked by the teams and organisers of {slug!r}. All others read its leaderboard."
        )


def chosen_settings(caller: Caller, benchmark: Benchmark, request: ComparisonRequest) -> Settings | None:
    """Return the settings that an organiser chose; None for the board's own, the only ones that teams may ask with.

    Raises:
        Unprocessable: a value is malformed.
        Forbidden: a team asks with other settings.
    """
    given = request.settings
    own = asdict(BOARD_SETTINGS) | {name: benchmark.leaderboard[name] for name in ("margin", "unit")}
    own["level"] = BOARD_SETTINGS.own_level
    try:
        settings = parse_settings(given)
    except ScoringError as error:
        raise errors.unprocessable(error) from error
    asked = asdict(settings) | {"level": settings.own_level}
    other = [name for name in given if asked[name] != own[name]]
    if caller.organises(benchmark.id):
        return settings if other else None
    for name in other:
        shown = "null" if own[name] is None else repr(own[name])
        rule = f"A comparison on this benchmark has `{name}` {shown}."
        raise figures.fixed_question(f"Only organisers choose `{name}`. {rule} Leave it out.")
    return None


class Reach:
    """The submissions of one board that a caller may ask and read about.

    Args:
        db: the transaction.
        board: with the benchmark's own pick, as the caller sees it.
        caller: who asks or reads.
        benchmark: of the board.
        release: what the caller sees of boards.
    """

    def __init__(self, db: Connection, board: Board, caller: Caller, benchmark: Benchmark, release: Release) -> None:
        self._db = db
        self._benchmark = benchmark
        self._of_boards = release
        self._caller = caller
        self._team = team_of(caller, board.benchmark_id)
        self._board = board
        rows = rows_of(db, board)
        self.rows = frozenset(row.entry.id for row in rows)
        own = [row.entry.id for row in rows if self._team is not None and row.entry.team_id == self._team]
        self._own_rows = frozenset(own)
        self._any_own = benchmark.leaderboard["margin"] is not None
        self.behind = comparison_id(board_question(db, board, rows, tested_of(db, board, rows)[0]))

    def knows(self, submission: Submission | None) -> bool:
        """Return whether the caller may know of a submission: its team may, and all callers of a row of the board."""
        if submission is None or submission.benchmark_id != self._board.benchmark_id:
            return False
        if submission.deleted_at is not None:
            return False
        return self._caller.organises(self._board.benchmark_id) or submission.id in self.rows or self._owns(submission)

    def held(self, ids: Sequence[str]) -> set[str]:
        """Return those of the submissions whose scores a ladder holds for the caller."""
        return score_records.held(self._db, ids, self._board.revision.number) if self._of_boards.held else set()

    def require_shown(self) -> Release:
        """Return what the caller sees of the board.

        Raises:
            Forbidden: not the score, the part, the revision or the share.
        """
        board, about = self._board, self._of_boards.about(self._board.share)
        release = released(self._db, self._benchmark, about, board.revision, board.tracks)
        release.require(board.score, board.part)
        return release

    @property
    def shown(self) -> bool:
        """Whether the caller sees the score, the part, the revision and the share."""
        try:
            return self.require_shown().tested
        except errors.Forbidden:
            return False

    def may_ask(self, known: Collection[Submission]) -> bool:
        """Return whether a team may ask about these: rows of the board, or two of its own.

        One of the two is its row, unless the benchmark has a margin: which of two versions is not worse is asked before
        either is picked.
        """
        ids = {submission.id for submission in known}
        if self._caller.organises(self._board.benchmark_id) or ids <= self.rows:
            return True
        return len(ids) == 2 and all(map(self._owns, known)) and (self._any_own or bool(ids & self._own_rows))

    def _owns(self, submission: Submission) -> bool:
        return self._team is not None and submission.team_id == self._team


def reach_of(db: Connection, caller: Caller, release: Release, question: Question) -> Reach:
    """Return the reach of a caller on the board that a question is about."""
    benchmark = benchmark_of(db, question["benchmark"])
    board = board_of(
        db, benchmark, score=question["score"], part=question["part"], revision=question["revision"],
        until=release.until, share=question.get("share"), track=question.get("parts"),
    )  # fmt: skip
    return Reach(db, board, caller, benchmark, release)


def asked_about(db: Connection, reach: Reach, asked: Sequence[str]) -> list[str]:
    """Return the submissions of a question, checked.

    Raises:
        Unprocessable: one is repeated, unknown to the caller, or has no scores.
        Forbidden: a team may not compare these with each other.
    """
    if len(set(asked)) < len(asked):
        raise errors.invalid("repeated-submission", "/submissions", "A submission is repeated. Name each once.")
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
        raise errors.unprocessable(ScoringError(problems))
    if not reach.may_ask([known[each] for each in asked]):
        raise errors.Forbidden(
            "A team compares rows of the leaderboard with each other, or two of its own submissions, one of which is "
            "its row of the leaderboard unless the benchmark has a margin. Take the ids of rows from the leaderboard.",
            slug=NOT_COMPARABLE,
        )
    return list(asked)


_READ_AT_ONCE = 50
MARGIN = "margin"
"""Member of the test of non-inferiority beside the names of the systems."""


@dataclass(frozen=True, slots=True)
class Visible:
    """A comparison that a caller may see.

    Attributes:
        comparison: the question with its answer.
        known: its submissions by id.
        release: what the caller sees of the board.
    """

    comparison: Comparison
    known: Mapping[str, Submission]
    release: Release


def visible_comparison(db: Connection, context: Context, caller: Caller, name: str) -> Visible:
    """Return a comparison that the caller may see.

    Raises:
        NotFound: it does not exist, was deleted, or is neither the caller's nor behind a board that the caller sees.
        Gone: it was deleted, and the caller is an organiser.
        Forbidden: the caller's team asked it, and the benchmark does not show it any more.
    """
    comparison = _stored_comparison(db, context, caller, name) if storable(name) else None
    unknown = errors.NotFound(f"Unknown comparison {name}.")
    if comparison is None:
        raise unknown
    benchmark = benchmark_of(db, comparison.benchmark_id)
    if not gate.knows(benchmark, caller):
        raise unknown
    known = submissions.many(db, comparison.question["submissions"])
    release = Release.of(benchmark, caller, context.now(), board=True)
    if release.organiser:
        return Visible(comparison, known, release)
    team = team_of(caller, benchmark.id)
    asked = team is not None and bool(comparisons.asked_by(db, [name], team))
    # an id follows from its question: a refusal would tell who guesses it that the board asks the question, so which
    # submissions are its rows
    if not asked and not release.shows(gate.Level.SCORES):
        raise unknown
    release.require_level(gate.Level.SCORES, "comparisons")
    reach = reach_of(db, caller, release, comparison.question)
    if not asked and not reach.shown:
        raise unknown
    release = reach.require_shown()
    if not _readable(comparison, known, reach, asked=asked):
        raise unknown
    return Visible(comparison, known, release)


def _readable(comparison: Comparison, known: Mapping[str, Submission], reach: Reach, *, asked: bool) -> bool:
    """Return whether a caller may read a comparison: the board's, or one that its team asked and may still know of."""
    if reach.behind == comparison.id:
        return True
    compared = comparison.question["submissions"]
    return asked and not reach.held(compared) and all(reach.knows(known.get(each)) for each in compared)


def _stored_comparison(db: Connection, context: Context, caller: Caller, name: str) -> Comparison | None:
    """Return a comparison that was asked or is behind a board; None for unknown and deleted ones.

    Raises:
        Gone: it was deleted, and the caller is an organiser.
    """
    asked = comparisons.get(db, name)
    if asked is not None and asked.deleted_at is not None and caller.organises(asked.benchmark_id):
        raise errors.Gone(f"The comparison {name} was deleted.")
    if asked is not None:
        return asked if asked.deleted_at is None else None
    kept = boards.of_comparison(db, name)
    if kept is None or kept.body["question"] is None or kept.body["comparison"] is None:
        return None
    question = kept.body["question"]
    run = None if kept.run_id is None else runs.get(db, kept.run_id)
    return Comparison(
        id=name,
        benchmark_id=question["benchmark"],
        revision=question["revision"],
        question=question,
        run_id=kept.run_id or "",
        document={"comparison": dict(kept.body["comparison"]), "failure": None},
        created_at=context.now() if run is None else run.created_at,
    )


def view_comparison(context: Context, caller: Caller, name: str, form: str = "json") -> Shown[StoredComparison]:
    """Show a comparison; in other formats than JSON once it is answered.

    Raises:
        NotFound: it does not exist, or the caller may not see it.
        Forbidden: the benchmark does not show this caller significance.
        Unprocessable: the comparison is not answered, so that only JSON can show it.
    """
    with context.store.read() as db:
        seen = visible_comparison(db, context, caller, name)
        run = runs.get(db, seen.comparison.run_id)
        labels = _labels(db, seen, caller)
    document = gate.comparison_view(
        seen.release.level, _document(context, seen, run, labels), by_part=not seen.release.hidden
    )
    if form == "json":
        final = run is None or run.final
        return Shown(cast("StoredComparison", document), final=final, state=str(document["state"]))
    if "pairs" not in document:
        raise errors.Unprocessable(f"The comparison {name} is {document['state']}. Only JSON can show that.")
    shares = render.percent_of([str(document["score"])], form)
    shown = render_comparisons([labelled(document, shown_names(labels))], form, shares=shares)
    return Shown(None, shown.content, content_type=shown.media_type)


def wait_for_comparison(
    context: Context, caller: Caller, name: str, seconds: float, etag: str | None = None
) -> Shown[StoredComparison]:  # fmt: skip
    """Show a comparison once it is answered, or differs from `etag`, or the time is over."""
    with context.store.read() as db:
        run_id = visible_comparison(db, context, caller, name).comparison.run_id
    return wait_for(context, run_id, lambda: view_comparison(context, caller, name), seconds, etag)


def list_comparisons(context: Context, caller: Caller, slug: str, query: PageQuery) -> Page:
    """List the comparisons of a benchmark that the caller may see and that were asked, by id."""
    items: list[dict[str, object]] = []
    with context.store.read() as db:
        benchmark = benchmark_of(db, slug, caller)
        release = reader_of(context, benchmark, caller)
        after, more = query.cursor, True
        while more and len(items) <= query.limit:
            rows = comparisons.listing(db, slug, after, _READ_AT_ONCE)
            more = len(rows) == _READ_AT_ONCE
            after = rows[-1].id if rows else after
            under_way = runs.many(db, [row.run_id for row in rows])
            seen = _visible_of(db, caller, release, benchmark, rows)
            items += [_head(context, row, under_way.get(row.run_id)) for row in seen]
    return Page(items[: query.limit], str(items[query.limit - 1]["id"]) if len(items) > query.limit else None)


def _visible_of(
    db: Connection, caller: Caller, release: Release, benchmark: Benchmark, rows: Sequence[Comparison]
) -> Sequence[Comparison]:
    """Return those of some comparisons that the caller may see."""
    if release.organiser:
        return rows
    team = team_of(caller, benchmark.id)
    asked = set() if team is None else comparisons.asked_by(db, [row.id for row in rows], team)
    reaches: dict[tuple[object, ...], Reach] = {}
    seen = []
    for row in rows:
        question = row.question
        members = (question["score"], question["part"], tuple(question.get("parts", ())), question.get("share"))
        about = (row.revision, *members)
        if about not in reaches:
            reaches[about] = reach_of(db, caller, release, row.question)
        known = submissions.many(db, row.question["submissions"])
        if reaches[about].shown and _readable(row, known, reaches[about], asked=row.id in asked):
            seen.append(row)
    return seen


def _head(context: Context, comparison: Comparison, run: runs.Run | None) -> dict[str, object]:
    question = comparison.question
    ended = None if run is None or run.finished_at is None else gate.whole_second(run.finished_at)
    days = context.config.retain_comparisons_days
    return {
        **shown_members(comparison, "id", "benchmark_id", "revision"),
        "state": runs.SUCCEEDED if run is None else run.state,
        "created_at": moment(gate.whole_second(comparison.created_at)),
        "finished_at": moment(ended),
        "expires_at": moment(ended + timedelta(days=days)) if ended is not None and days else None,
        "score": question["score"],
        "part": question["part"],
        "split": question.get("share"),
        "submissions": question["submissions"],
        "settings": question["settings"],
    }


def _document(
    context: Context, seen: Visible, run: runs.Run | None, labels: Mapping[str, ComparisonLabel]
) -> dict[str, Json]:
    """Return the whole answer: `systems` and `pairs` name submissions by their ids."""
    answer = seen.comparison.document or {}
    computed = answer.get("comparison") or {}
    return {
        **computed,
        **_head(context, seen.comparison, run),
        "progress": None if run is None else run.progress,
        "labels": labels,
        "command": COMMAND if "question" in computed else None,
        "failure": gate.failure_view(seen.release.level, answer["failure"]) if answer.get("failure") else None,
    }


def _labels(db: Connection, seen: Visible, caller: Caller) -> dict[str, ComparisonLabel]:
    """Return team and name of each submission, if the viewer sees them on the board or it is the caller's own."""
    slug = seen.comparison.benchmark_id
    known = list(seen.known.values())
    own = team_of(caller, slug)
    ids = {each.team_id for each in known if each.team_id is not None and (seen.release.named or each.team_id == own)}
    names = benchmarks.team_names(db, slug, ids)
    return {
        each.id: ComparisonLabel(
            team=each.team_id if each.team_id in names else None,
            team_name=names.get(each.team_id or ""),
            name=each.name if each.team_id is None or each.team_id in names else None,
        )
        for each in known
    }


_ID = re.compile(r"\bsub_\w+")


def labelled(document: Mapping[str, Json], shown: Mapping[str, str]) -> dict[str, Json]:
    """Return a comparison for people: what `shown_names` returned instead of ids."""
    return {
        **document,
        "systems": [{**system, "name": shown[system["name"]]} for system in document["systems"]],
        "pairs": [_renamed(pair, shown) for pair in document["pairs"]],
        "untested": [{**each, "name": shown[each["name"]]} for each in document["untested"]],
        **{name: [said_with(shown, words) for words in document[name]] for name in ("warnings", "notes")},
    }


def said_with(shown: Mapping[str, str], words: str) -> str:
    """Return a sentence with names instead of the ids of submissions."""
    return _ID.sub(lambda found: shown.get(found[0], found[0]), render.plain(words))


def shown_names(labels: Mapping[str, ComparisonLabel], *, short: bool = False) -> dict[str, str]:
    """Return what people read instead of the ids of submissions: different names for different ones.

    Args:
        labels: of the submissions.
        short: leave out the name of a submission that is its team's only one.
    """
    words: dict[str, str] = {}
    teams = Counter(label["team_name"] for label in labels.values())
    for each, label in labels.items():
        alone = short and teams[label["team_name"]] == 1
        said = ": ".join(part for part in (label["team_name"], None if alone else label["name"]) if part)
        words[each] = said or label["name"] or each
    counted = Counter(words.values())
    counted[MARGIN] += 1  # a name beside those of the two systems
    return {each: f"{said} ({each})" if counted[said] > 1 else said for each, said in words.items()}


def _renamed(pair: Mapping[str, Json], shown: Mapping[str, str]) -> dict[str, Json]:
    """Return a pair with names instead of ids, also those under which it has the tests of each side."""
    renamed = {**pair, "a": shown[pair["a"]], "b": shown[pair["b"]]}
    if pair.get("noninferiority") is not None:
        renamed["noninferiority"] = {shown.get(name, name): value for name, value in pair["noninferiority"].items()}
    return renamed
