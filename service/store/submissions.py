"""Submissions: who sent what, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, case, func, insert, or_, select, update

from service.store import artifacts, score_records, texts
from service.store.runs import CANCELLED, FAILED, QUEUED, SUCCEEDED
from service.store.tables import runs, scores, submissions

SYSTEM, BASELINE = "system", "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One row. Its outputs are owned texts named `outputs/<part>` or `outputs/<part>/<field>`.

    Attributes:
        id: `sub_...`, also the id of its first attempt's run.
        benchmark_id: the slug.
        team_id: None for a baseline of the organisers.
        name, notes: for people.
        role: `system` or `baseline`.
        created_at: when it was stored.
        utc_day: the day whose quota it uses.
        run_id: of the current attempt.
        state: `queued` until it is final; the run says whether it is running.
        failure_kind: of a failed one.
        finished_at: when it became final.
        outputs: part -> digest, bytes, sentences, words.
        outputs_digest: of all outputs together.
        failures: failure documents of the failed attempts, oldest first.
        chosen: whether the team chose it for the board.
        withdrawn_at, deleted_at, output_deleted_at: when that happened.
    """

    id: str
    benchmark_id: str
    team_id: str | None
    name: str
    notes: str | None
    role: str
    created_at: datetime
    utc_day: str
    run_id: str
    state: str
    failure_kind: str | None = None
    finished_at: datetime | None = None
    outputs: Mapping[str, Mapping[str, Any]]
    outputs_digest: str
    failures: Sequence[Mapping[str, Any]] = ()
    chosen: bool = False
    withdrawn_at: datetime | None = None
    deleted_at: datetime | None = None
    output_deleted_at: datetime | None = None

    @property
    def on_board(self) -> bool:
        """Whether it may stand on the leaderboard once it has scores."""
        return self.state == SUCCEEDED and self.withdrawn_at is None and self.deleted_at is None


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides whether and where a submission stands on the board."""

    id: str
    team_id: str | None
    role: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Used:
    """What a team has used of its quota. Service faults and cancelled submissions are free."""

    attempts_today: int
    scored_today: int
    scored: int


def add(db: Connection, submission: Submission) -> None:
    """Store a submission; its run and outputs are stored beside it in the same transaction."""
    db.execute(
        insert(submissions).values(
            id=submission.id,
            benchmark_id=submission.benchmark_id,
            team_id=submission.team_id,
            name=submission.name,
            notes=submission.notes,
            role=submission.role,
            created_at=submission.created_at,
            utc_day=submission.utc_day,
            run_id=submission.run_id,
            state=submission.state,
            failure_kind=submission.failure_kind,
            finished_at=submission.finished_at,
            outputs=orjson.dumps(submission.outputs).decode(),
            outputs_digest=submission.outputs_digest,
            failures=orjson.dumps(submission.failures).decode(),
            chosen=submission.chosen,
        )
    )


def get(db: Connection, submission_id: str, *, lock: bool = False) -> Submission | None:
    """One submission, deleted or not, or None. With `lock` nobody else changes it before the transaction ends."""
    query = select(submissions).where(submissions.c.id == submission_id)
    row = db.execute(query.with_for_update() if lock else query).one_or_none()
    return None if row is None else _submission(row)


def many(db: Connection, submission_ids: Sequence[str]) -> dict[str, Submission]:
    """Those of these ids that there are."""
    query = select(submissions).where(submissions.c.id.in_(list(submission_ids)))
    return {row.id: _submission(row) for row in db.execute(query)}


def of_run(db: Connection, run_id: str) -> Submission | None:
    """The submission whose current attempt this run is, or None."""
    row = db.execute(select(submissions).where(submissions.c.run_id == run_id)).one_or_none()
    return None if row is None else _submission(row)


def listing(
    db: Connection,
    benchmark_id: str,
    before: str | None,
    limit: int,
    *,
    team_id: str | None = None,
    state: str | None = None,
) -> Sequence[Submission]:
    """Submissions of a benchmark (of one team where it is named), newest first; deleted ones left out."""
    query = select(submissions).where(submissions.c.benchmark_id == benchmark_id, submissions.c.deleted_at.is_(None))
    if team_id is not None:
        query = query.where(submissions.c.team_id == team_id)
    if before is not None:
        query = query.where(submissions.c.id < before)
    if state is not None:
        query = query.where(submissions.c.state == state)
    return [_submission(row) for row in db.execute(query.order_by(submissions.c.id.desc()).limit(limit))]


def standings(db: Connection, benchmark_id: str) -> Sequence[Standing]:
    """Everything that may stand on the board, oldest first."""
    c = submissions.c
    query = (
        select(c.id, c.team_id, c.role, c.chosen)
        .where(
            c.benchmark_id == benchmark_id,
            c.state == SUCCEEDED,
            c.withdrawn_at.is_(None),
            c.deleted_at.is_(None),
        )
        .order_by(c.id)
    )
    return [Standing(row.id, row.team_id, row.role, row.chosen) for row in db.execute(query)]


def count(db: Connection, benchmark_id: str, *, state: str | None = None) -> int:
    """How many there are that were not deleted."""
    query = select(func.count()).where(submissions.c.benchmark_id == benchmark_id, submissions.c.deleted_at.is_(None))
    if state is not None:
        query = query.where(submissions.c.state == state)
    return int(db.scalar(query) or 0)


def used(db: Connection, benchmark_id: str, team_id: str, utc_day: str, *, blind: bool) -> Used:
    """What a team's quota has been used for, deleted and withdrawn submissions included.

    Those that are not final yet count as if they were going to be scored; with `blind` also those whose outputs do
    not fit, so that the quota does not tell which they are.
    """
    c = submissions.c
    charged = ~or_(c.state == CANCELLED, (c.state == FAILED) & (c.failure_kind == "service"))
    scored = charged if blind else c.state.in_((QUEUED, SUCCEEDED))
    today = c.utc_day == utc_day
    row = db.execute(
        select(
            func.coalesce(func.sum(case((charged & today, 1), else_=0)), 0),
            func.coalesce(func.sum(case((scored & today, 1), else_=0)), 0),
            func.coalesce(func.sum(case((scored, 1), else_=0)), 0),
        ).where(c.benchmark_id == benchmark_id, c.team_id == team_id)
    ).one()
    return Used(int(row[0]), int(row[1]), int(row[2]))


def recent_seconds(db: Connection, benchmark_id: str, limit: int, default: float = 1.0) -> float:
    """How long the last few scored submissions of a benchmark took, on the mean."""
    query = (
        select(runs.c.started_at, runs.c.finished_at)
        .join(submissions, submissions.c.run_id == runs.c.id)
        .where(submissions.c.benchmark_id == benchmark_id, submissions.c.state == SUCCEEDED)
        .order_by(submissions.c.id.desc())
        .limit(limit)
    )
    found = [(row.finished_at - row.started_at).total_seconds() for row in db.execute(query) if row.started_at]
    return sum(found) / len(found) if found else default


def scored_equal(
    db: Connection, benchmark_id: str, team_id: str | None, outputs_digest: str, revision: int
) -> str | None:
    """The id of a scored submission of one team with the very same outputs, or None."""
    c = submissions.c
    query = (
        select(c.id)
        .join(scores, (scores.c.submission_id == c.id) & (scores.c.revision == revision))
        .where(
            c.benchmark_id == benchmark_id,
            c.outputs_digest == outputs_digest,
            c.team_id.is_(None) if team_id is None else c.team_id == team_id,
            c.state == SUCCEEDED,
            c.deleted_at.is_(None),
        )
        .order_by(c.id.desc())
        .limit(1)
    )
    found: str | None = db.scalar(query)
    return found


def change(db: Connection, submission_id: str, **values: Any) -> None:
    """Set columns; `outputs` and `failures` as JSON values."""
    ready = dict(values)
    for name in ("outputs", "failures"):
        if name in ready:
            ready[name] = orjson.dumps(ready[name]).decode()
    db.execute(update(submissions).where(submissions.c.id == submission_id).values(**ready))


def unchoose_others(db: Connection, benchmark_id: str, team_id: str, chosen_id: str) -> None:
    """A team has at most one chosen submission."""
    c = submissions.c
    db.execute(
        update(submissions)
        .where(c.benchmark_id == benchmark_id, c.team_id == team_id, c.id != chosen_id, c.chosen.is_(True))
        .values(chosen=False)
    )


def anonymise(db: Connection, benchmark_id: str, team_id: str, now: datetime) -> list[str]:
    """Drop names, notes, outputs and all artifacts but counts of a team's submissions; scores stay.

    Unfinished ones are cancelled: the ids of their runs.
    """
    c = submissions.c
    own = (c.benchmark_id == benchmark_id) & (c.team_id == team_id)
    rows = db.execute(select(c.id, c.run_id, c.state).where(own)).all()
    ids = [row.id for row in rows]
    texts.drop(db, ids)
    artifacts.drop_but(db, ids, "/counts/")
    score_records.strip(db, ids)
    db.execute(
        update(submissions)
        .where(own)
        .values(name="", notes=None, outputs="{}", outputs_digest="", failures="[]", output_deleted_at=now)
    )
    db.execute(update(submissions).where(own, c.state == QUEUED).values(state=CANCELLED, finished_at=now))
    return [row.run_id for row in rows if row.state == QUEUED]


def with_old_outputs(db: Connection, before: datetime, limit: int) -> Sequence[str]:
    """Submissions that ended before a moment and whose outputs are still kept."""
    c = submissions.c
    query = select(c.id).where(c.finished_at < before, c.output_deleted_at.is_(None), c.deleted_at.is_(None))
    return list(db.scalars(query.limit(limit)))


def drop_outputs(db: Connection, submission_ids: Sequence[str], now: datetime) -> None:
    """Forget outputs, keep scores: from now on they are Gone."""
    texts.drop(db, submission_ids)
    db.execute(update(submissions).where(submissions.c.id.in_(submission_ids)).values(output_deleted_at=now))


def erase(db: Connection, submission_ids: Sequence[str], now: datetime) -> None:
    """Drop outputs, names and everything made of them; what is left is the fact that there was one (410)."""
    texts.drop(db, submission_ids)
    artifacts.drop(db, submission_ids)
    score_records.drop(db, submission_ids)
    db.execute(
        update(submissions)
        .where(submissions.c.id.in_(submission_ids))
        .values(deleted_at=now, output_deleted_at=now, name="", notes=None, chosen=False)
    )


def _submission(row: Any) -> Submission:
    return Submission(
        id=row.id,
        benchmark_id=row.benchmark_id,
        team_id=row.team_id,
        name=row.name,
        notes=row.notes,
        role=row.role,
        created_at=row.created_at,
        utc_day=row.utc_day,
        run_id=row.run_id,
        state=row.state,
        failure_kind=row.failure_kind,
        finished_at=row.finished_at,
        outputs=orjson.loads(row.outputs),
        outputs_digest=row.outputs_digest,
        failures=orjson.loads(row.failures),
        chosen=row.chosen,
        withdrawn_at=row.withdrawn_at,
        deleted_at=row.deleted_at,
        output_deleted_at=row.output_deleted_at,
    )
