"""Read what leaderboards show: scores of submissions on the board, their systems, the comparisons behind the ranks.

A system has several training runs: submissions of one team that name the first one by `run_of`. The attempts of a team
are all its scored submissions: everything that it has picked from, on the board or not.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypedDict

import orjson
from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, or_, select, true

from service.store import artifacts, comparisons, score_records
from service.store.runs import SUCCEEDED, UNFINISHED
from service.store.submissions import BoardEntry, links_of, on_board
from service.store.tables import batches, board_comparisons, board_runs, records, runs, submissions, time_of
from treescore.core.params import Json


def attempt_counts(
    db: Connection, benchmark_id: str, revision: int, until: datetime | None = None, *, taken_back: bool = False
) -> dict[str, int]:
    """Count what each team has had scored under a revision; withdrawn, deleted and held submissions too.

    Args:
        db: the transaction.
        benchmark_id: the slug.
        revision: number of the revision.
        until: leaves out submissions that were scored later.
        taken_back: counts for those teams alone that withdrew or deleted any.
    """
    c = submissions.c
    query = (
        select(c.team_id, func.count())
        .join(records, score_records.record_under(revision), isouter=True)
        .where(_scored_attempt(benchmark_id, until), c.team_id.is_not(None))
        .group_by(c.team_id)
        .having(func.count(c.withdrawn_at) + func.count(c.deleted_at) > 0 if taken_back else true())
    )
    return dict(db.execute(query).cursor.fetchall())


def _scored_attempt(benchmark_id: str, until: datetime | None) -> ColumnElement[bool]:
    """Select what has a record, or lost it by being deleted: its team has seen its scores."""
    c = submissions.c
    return and_(
        c.benchmark_id == benchmark_id,
        c.state == SUCCEEDED,
        or_(records.c.submission_id.is_not(None), c.deleted_at.is_not(None)),
        true() if until is None else c.finished_at <= until,
    )


class BoardRun(NamedTuple):
    """The board whose comparisons a run makes."""

    benchmark_id: str
    revision: int


class RequestedBoard(TypedDict):
    """A board that a caller requested; of a split test set the boards of both shares."""

    score: str
    part: str | None
    pick: str


class BoardBody(TypedDict):
    """The stored comparison of one board.

    Attributes:
        id: of the question; None before it is answered.
        question: of the comparison; None before there is one.
        asked: None for a board that is compared by default.
        untested: submission -> why it was not tested.
        comparison: a significance document; None where fewer than two rows are tested.
    """

    id: str | None
    question: comparisons.Question | None
    asked: RequestedBoard | None
    untested: dict[str, str]
    comparison: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class BoardComparison:
    """One row.

    Attributes:
        run_id: of the run that computed it; None before the first run ends.
        board_version: the version of the board that was compared.
        body: what was compared.
    """

    run_id: str | None
    board_version: int
    body: BoardBody


MOST_ENTRIES = 10_000
"""Rows of boards that a process remembers, some kilobyte each."""


def standings(
    db: Connection,
    benchmark_id: str,
    revision: int,
    values: Mapping[str, float | None],
    *,
    until: datetime | None = None,
    scored_only: bool = True,
    withdrawn_from: datetime | None = None,
) -> list[BoardEntry]:
    """List everything on the board, oldest first.

    Args:
        db: the transaction.
        benchmark_id: the slug.
        revision: number of the revision.
        values: the score that ranks, by submission.
        until: leaves out submissions that were scored later.
        scored_only: leaves out submissions without a record under the revision.
        withdrawn_from: lists also, as withdrawn, what was withdrawn at this moment or later.
    """
    c = submissions.c
    query = (
        select(
            c.id, c.team_id, c.role, c.chosen, c.finished_at, c.withdrawn_at.is_not(None), c.name, c.created_at,
            c.links, records.c.covered, records.c.lacking, records.c.rung,
        )
        .join(records, score_records.record_under(revision), isouter=not scored_only)
        .where(on_board(benchmark_id, until, withdrawn_from))
        .order_by(c.id)
    )  # fmt: skip
    return [_entry(row)._replace(value=values.get(row[0])) for row in db.execute(query).cursor.fetchall()]


@lru_cache(maxsize=MOST_ENTRIES)
def _entry(row: tuple[Any, ...]) -> BoardEntry:
    """Make an entry without its value of a row of the driver: of a changed board most are as before."""
    name, team, role, chosen, finished_at, withdrawn, title, created_at, links, covered, lacking, rung = row
    return BoardEntry(
        name, team, role, bool(chosen), None, score_records.numbers_of(covered), score_records.numbers_of(lacking),
        rung=rung, finished_at=time_of(finished_at), withdrawn=bool(withdrawn), name=title,
        created_at=time_of(created_at), links=links_of(links),
    )  # fmt: skip


def lacking_of(db: Connection, submission_ids: Sequence[str], revision: int) -> dict[str, Sequence[int]]:
    """Return the positions of the parts without a score, of those of the submissions that have a record."""
    c = records.c
    found: dict[str, Sequence[int]] = {}
    for some in batches(submission_ids):
        query = select(c.submission_id, c.lacking).where(c.revision == revision, c.submission_id.in_(some))
        found |= {row.submission_id: orjson.loads(row.lacking) for row in db.execute(query)}
    return found


def get(db: Connection, benchmark_id: str, revision: int, key: str) -> BoardComparison | None:
    """Return one comparison, or None."""
    c = board_comparisons.c
    return _comparison(db, (c.benchmark_id == benchmark_id) & (c.revision == revision) & (c.key == key))


def of_comparison(db: Connection, comparison_id: str) -> BoardComparison | None:
    """Return a board's comparison by the id of its question, or None."""
    return _comparison(db, board_comparisons.c.comparison_id == comparison_id)


def _comparison(db: Connection, where: ColumnElement[bool]) -> BoardComparison | None:
    c = board_comparisons.c
    row = db.execute(select(c.run_id, c.board_version, c.document).where(where).limit(1)).one_or_none()
    return None if row is None else BoardComparison(row.run_id, row.board_version, _body_of(row.document))


@lru_cache(maxsize=4)
def _body_of(packed: bytes) -> BoardBody:
    """Read a stored comparison, which stays as it is: a board that changes is read with it until there is a new one."""
    body: BoardBody = artifacts.unpack_json(packed)
    return body


def save(
    db: Connection, benchmark_id: str, revision: int, key: str, comparison: BoardComparison, now: datetime
) -> None:
    """Store a comparison and delete the one before."""
    remove(db, benchmark_id, revision, [key])
    board = {"benchmark_id": benchmark_id, "revision": revision, "key": key}
    made = {"run_id": comparison.run_id, "board_version": comparison.board_version, "created_at": now}
    body = {"comparison_id": comparison.body["id"], "document": artifacts.pack_json(comparison.body)}
    db.execute(insert(board_comparisons).values(board | made | body))


def last_scored(db: Connection, submission_ids: Collection[str]) -> datetime:
    """Return when the newest of submissions was scored; at least one of them was."""
    c = submissions.c
    query = select(func.max(c.finished_at, type_=c.finished_at.type)).where(c.id.in_(list(submission_ids)))
    last: datetime = db.execute(query).scalar_one()
    return last


def keys(db: Connection, benchmark_id: str, revision: int) -> list[str]:
    """List the keys of the stored comparisons of a revision's boards."""
    c = board_comparisons.c
    query = select(c.key).where(c.benchmark_id == benchmark_id, c.revision == revision)
    return list(db.scalars(query.order_by(c.created_at)))


def remove(db: Connection, benchmark_id: str, revision: int, removed_keys: Sequence[str]) -> None:
    """Delete comparisons."""
    c = board_comparisons.c
    removed = (c.benchmark_id == benchmark_id) & (c.revision == revision) & c.key.in_(removed_keys)
    db.execute(delete(board_comparisons).where(removed))


def set_run(db: Connection, board: BoardRun, run_id: str) -> None:
    """Note which run makes the comparisons of a board from now on."""
    db.execute(delete(board_runs).where(_board(board)))
    db.execute(insert(board_runs).values(**board._asdict(), run_id=run_id))


def had_run(db: Connection, board: BoardRun) -> bool:
    """Return whether a run has made the comparisons of a board, or was to make them."""
    return db.scalar(select(board_runs.c.run_id).where(_board(board))) is not None


def of_run(db: Connection, run_id: str) -> BoardRun | None:
    """Return the board that a run works for, or None where another run has replaced it."""
    query = select(board_runs.c.benchmark_id, board_runs.c.revision).where(board_runs.c.run_id == run_id)
    row = db.execute(query).one_or_none()
    return None if row is None else BoardRun(row.benchmark_id, row.revision)


def unfinished_run(db: Connection, benchmark_id: str, revision: int) -> str | None:
    """Return the id of the unfinished run that makes a board's comparisons, or None."""
    query = (
        select(runs.c.id)
        .join(board_runs, board_runs.c.run_id == runs.c.id)
        .where(_board(BoardRun(benchmark_id, revision)), runs.c.state.in_(UNFINISHED))
    )
    run_id: str | None = db.scalar(query)
    return run_id


def last_seconds(db: Connection, board: BoardRun) -> float:
    """Return how long the last run took that has made a board's comparisons; 0 before there is one."""
    query = (
        select(runs.c.started_at, runs.c.finished_at)
        .join(board_runs, board_runs.c.run_id == runs.c.id)
        .where(_board(board), runs.c.started_at.is_not(None), runs.c.finished_at.is_not(None))
    )
    row = db.execute(query).one_or_none()
    return 0.0 if row is None else max(0.0, (row.finished_at - row.started_at).total_seconds())


def last_began(db: Connection, board: BoardRun) -> datetime | None:
    """Return when the last run began whose comparisons of a board are stored."""
    c = board_comparisons.c
    query = (
        select(func.max(runs.c.started_at, type_=runs.c.started_at.type))
        .join(board_comparisons, c.run_id == runs.c.id)
        .where(c.benchmark_id == board.benchmark_id, c.revision == board.revision)
    )
    began: datetime | None = db.scalar(query)
    return began


def _board(board: BoardRun) -> ColumnElement[bool]:
    return and_(board_runs.c.benchmark_id == board.benchmark_id, board_runs.c.revision == board.revision)


class NamedRun(NamedTuple):
    """A submission that has a name, and what it says of its system."""

    id: str
    run_of: str | None


def runs_named(db: Connection, benchmark_id: str, team_id: str | None, name: str) -> list[NamedRun]:
    """List the submissions of a team, or the baselines, that have a name and are not deleted; oldest first."""
    c = submissions.c
    query = select(c.id, c.run_of).where(
        c.benchmark_id == benchmark_id, _of_team(team_id), c.name == name, c.deleted_at.is_(None)
    )
    return [NamedRun(row.id, row.run_of) for row in db.execute(query.order_by(c.id))]


def run_with_outputs(db: Connection, system: str, outputs_digest: str) -> str | None:
    """Return a run of a system, deleted or not, that has equal outputs; None without one."""
    c = submissions.c
    query = select(c.id).where(or_(c.id == system, c.run_of == system), c.outputs_digest == outputs_digest)
    found: str | None = db.scalar(query.limit(1))
    return found


def systems_of(db: Connection, ids: Collection[str]) -> dict[str, str]:
    """Return for each submission the first one of its system."""
    c = submissions.c
    query = select(c.id, func.coalesce(c.run_of, c.id).label("system")).where(c.id.in_(list(ids)))
    return {row.id: row.system for row in db.execute(query)}


def whole_system(db: Connection, submission_id: str, system: str, until: datetime | None) -> list[str]:
    """List the scored submissions of the system that a submission is a run of, by the first one of the system.

    None where one of them was deleted, so that the system fell apart, and where the submission is not among them.

    Args:
        db: where to read.
        submission_id: of the submission.
        system: the first submission of its system.
        until: leaves out submissions that were scored later.
    """
    c = submissions.c
    query = select(c.id, c.deleted_at).where(
        or_(c.id == system, c.run_of == system),
        c.state == SUCCEEDED,
        true() if until is None else c.finished_at <= until,
    )
    found = {row.id: row.deleted_at for row in db.execute(query)}
    return [*found] if submission_id in found and not any(found.values()) else []


def names_of(db: Connection, ids: Collection[str]) -> dict[str, str]:
    """Return the names of submissions; that of a deleted one is its id."""
    c = submissions.c
    return {row.id: row.name or row.id for row in db.execute(select(c.id, c.name).where(c.id.in_(list(ids))))}


class SystemMember(NamedTuple):
    """A scored submission of a system with several.

    Attributes:
        id: of the submission.
        system: the first submission of its system.
        deleted, withdrawn: whether it was.
        value: the score that ranks; None where it has none.
        covered, lacking: as of BoardEntry; None without a record under the revision.
        finished_at: when it was scored.
    """

    id: str
    system: str
    deleted: bool
    withdrawn: bool
    value: float | None
    covered: Sequence[int] | None
    lacking: Sequence[int] | None
    finished_at: datetime | None = None


def system_members(
    db: Connection, benchmark_id: str, revision: int, values: Mapping[str, float | None], until: datetime | None = None
) -> list[SystemMember]:
    """List the submissions of systems with several of them, on the board or not, oldest first.

    Args:
        db: the transaction.
        benchmark_id: the slug.
        revision: number of the revision.
        values: the score that ranks, by submission.
        until: leaves out submissions that were scored later.
    """
    c = submissions.c
    further = select(c.run_of).where(c.benchmark_id == benchmark_id, c.run_of.is_not(None))
    query = (
        select(
            c.id, func.coalesce(c.run_of, c.id).label("system"), c.deleted_at, c.withdrawn_at, records.c.covered,
            records.c.lacking, c.finished_at,
        )
        .join(records, score_records.record_under(revision), isouter=True)
        .where(
            c.benchmark_id == benchmark_id, c.state == SUCCEEDED, or_(c.run_of.is_not(None), c.id.in_(further)),
            true() if until is None else c.finished_at <= until,
        )
        .order_by(c.id)
    )  # fmt: skip
    return [
        SystemMember(
            row.id, row.system, row.deleted_at is not None, row.withdrawn_at is not None, values.get(row.id),
            score_records.numbers_of(row.covered), score_records.numbers_of(row.lacking), row.finished_at,
        )
        for row in db.execute(query)
    ]  # fmt: skip


def _of_team(team_id: str | None) -> ColumnElement[bool]:
    return submissions.c.team_id.is_(None) if team_id is None else submissions.c.team_id == team_id
