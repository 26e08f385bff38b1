"""Submissions, their state, and validations of outputs; what the reports to organisers read of them.

A validation is a row of its own, because it counts as an attempt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, or_, select, true, update

from service.store import artifacts, score_records, tables, texts
from service.store.runs import CANCELLED, FAILED, QUEUED, SUCCEEDED, UNFINISHED
from service.store.tables import json_text, one, record_of, records, runs, submission_outputs, submissions, validations

SYSTEM, BASELINE = "system", "baseline"
_WRITTEN = ("failures", "links")
"""Columns of JSON."""
NOTHING_SAID = {"name": "", "notes": None, "links": None, "withdrawn_reason": None}
"""Columns of what people say of a submission, once it is erased."""
_WITH_OUTPUTS = select(submissions, submission_outputs.c.outputs).join(submission_outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One row. Its outputs are stored as texts named `outputs/<part>` or `outputs/<part>/<field>`.

    Attributes:
        id: `sub_...`, also the id of the run of its first attempt.
        benchmark_id: the slug.
        team_id: None for a baseline of the organisers.
        name, notes, links: for people.
        role: `system` or `baseline`.
        created_at: when it was stored.
        utc_day: the day to whose quota it is charged.
        run_id: of the current attempt.
        attempt: number of the current attempt, from 1.
        state: `queued` until it is final; the run says whether it is running.
        failure_kind: of a failed one.
        finished_at: when it became final.
        outputs: part -> digest, bytes, sentences, words, ANNOTATION.
        outputs_digest: of all outputs together.
        failures: failure documents of the failed attempts, oldest first.
        chosen: whether the team chose it for the leaderboard.
        withdrawn_at, deleted_at, output_deleted_at: when it was withdrawn or deleted, or its outputs were.
        run_of: the submission of whose system it is another training run; None for the first or only one.
        withdrawn_reason: what an organiser who withdrew it tells its team.
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
    attempt: int = 1
    state: str
    failure_kind: str | None = None
    finished_at: datetime | None = None
    outputs: Mapping[str, Mapping[str, object]]
    outputs_digest: str
    failures: Sequence[Mapping[str, object]] = ()
    chosen: bool = False
    withdrawn_at: datetime | None = None
    deleted_at: datetime | None = None
    output_deleted_at: datetime | None = None
    run_of: str | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    withdrawn_reason: str | None = None

    @property
    def on_board(self) -> bool:
        """Whether it is on the leaderboard: the rule of `on_board` for one submission."""
        return self.state == SUCCEEDED and self.withdrawn_at is None and self.deleted_at is None


def on_board(
    benchmark_id: str, until: datetime | None = None, withdrawn_from: datetime | None = None
) -> ColumnElement[bool]:
    """Select the submissions on a leaderboard.

    Args:
        benchmark_id: the slug.
        until: as it was at that moment.
        withdrawn_from: also those that were withdrawn at this moment or later.
    """
    c = submissions.c
    there = c.withdrawn_at.is_(None)
    return and_(
        c.benchmark_id == benchmark_id,
        c.state == SUCCEEDED,
        there if withdrawn_from is None else or_(there, c.withdrawn_at >= withdrawn_from),
        c.deleted_at.is_(None),
        true() if until is None else c.finished_at <= until,
    )


class BoardEntry(NamedTuple):
    """A submission on the leaderboard, with what decides about its row.

    Attributes:
        id: of the submission; ids sort by time.
        team_id: None for a baseline.
        role: `system` or `baseline`.
        chosen: whether its team chose it.
        value: the score that ranks; None where it has none.
        covered: sentences with a scored output in each part of the revision; None without a record.
        lacking: positions of the parts without a score, of a system of those that any run lacks; None without a record.
        ranks_last: whether it stands below all complete ones, because it lacks sentences that its score leaves out.
        rung: of its team's ladder; 0 where the ladder holds its scores, None without a place on one.
        runs: the training runs of its system, itself included, whose mean the value is; empty for a single one.
        spread: standard deviation of their values.
        finished_at: when it was scored; of a system, when its newest run on the board was.
        withdrawn: whether it was withdrawn after closing: it can be picked, and its team has then no row.
        name, created_at, links: of the submission, to be shown.
    """

    id: str
    team_id: str | None
    role: str
    chosen: bool
    value: float | None
    covered: tuple[int, ...] | None = None
    lacking: Sequence[int] | None = None
    ranks_last: bool = False
    rung: int | None = None
    runs: tuple[str, ...] = ()
    spread: float | None = None
    finished_at: datetime | None = None
    withdrawn: bool = False
    name: str = ""
    created_at: datetime | None = None
    links: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """What a team has used of its quota by submissions."""

    attempts_today: int
    scored_today: int
    scored: int


def add(db: Connection, submission: Submission) -> None:
    """Store a submission. Its run and outputs are stored in the same transaction."""
    written = {name: json_text(getattr(submission, name)) for name in _WRITTEN}
    columns = tables.columns_of(submission, **written)
    outputs = {"submission_id": submission.id, "outputs": json_text(columns.pop("outputs"))}
    db.execute(insert(submissions).values(columns))
    db.execute(insert(submission_outputs).values(outputs))


def get(db: Connection, submission_id: str, *, lock: bool = False) -> Submission | None:
    """Return one submission, deleted or not, or None. `lock` keeps others from changing it in this transaction."""
    query = _WITH_OUTPUTS.where(submissions.c.id == submission_id)
    return one(db, query.with_for_update() if lock else query, _submission)


def many(db: Connection, submission_ids: Sequence[str]) -> dict[str, Submission]:
    """Return the submissions that exist, by id."""
    query = _WITH_OUTPUTS.where(submissions.c.id.in_(list(submission_ids)))
    return {row.id: _submission(row) for row in db.execute(query)}


def of_run(db: Connection, run_id: str) -> Submission | None:
    """Return the submission whose current attempt a run is, or None."""
    return one(db, _WITH_OUTPUTS.where(submissions.c.run_id == run_id), _submission)


def listing(
    db: Connection,
    benchmark_id: str,
    before: str | None,
    limit: int,
    *,
    team_id: str | None = None,
    state: str | None = None,
    withdrawn: bool = False,
) -> Sequence[Submission]:
    """List submissions of a benchmark or of one of its teams, newest first, without deleted ones.

    Args:
        db: where.
        benchmark_id: the slug.
        before: the id of the last one of the page before.
        limit: the most that are listed.
        team_id: only those of this team.
        state: only those in this state.
        withdrawn: only those that were taken off the board.
    """
    c = submissions.c
    query = _WITH_OUTPUTS.where(c.benchmark_id == benchmark_id, c.deleted_at.is_(None))
    if withdrawn:
        query = query.where(c.withdrawn_at.is_not(None))
    if state in UNFINISHED:
        query, state = query.where(c.run_id.in_(select(runs.c.id).where(runs.c.state == state))), None
    query = tables.narrowed(query, (c.team_id, team_id), (c.state, state))
    return [_submission(row) for row in db.execute(tables.page_down(query, c.id, before, limit))]


def count(db: Connection, benchmark_id: str, *, state: str | None = None) -> int:
    """Count the submissions that are not deleted."""
    c = submissions.c
    query = select(func.count()).where(c.benchmark_id == benchmark_id, c.deleted_at.is_(None))
    return tables.count(db, tables.narrowed(query, (c.state, state)))


def exist(db: Connection, benchmark_id: str) -> bool:
    """Return whether anything was ever submitted, deleted or not."""
    return db.scalar(select(submissions.c.id).where(submissions.c.benchmark_id == benchmark_id).limit(1)) is not None


def quota_use(db: Connection, benchmark_id: str, team_id: str, utc_day: str, *, blind: bool) -> QuotaUse:
    """Count what is charged to a team's quota, deleted and withdrawn submissions included.

    Free are submissions that failed through an internal error, and those cancelled before a worker claimed them;
    deleting an unfinished one is charged. A submission that is not final, or was cancelled later, counts as scored.
    With `blind`, so does one whose outputs are invalid, so that the quota does not reveal which are.
    """
    c = submissions.c
    cancelled_early = and_(
        c.state == CANCELLED, runs.c.started_at.is_(None), or_(c.deleted_at.is_(None), c.deleted_at > c.finished_at)
    )
    charged = ~or_(cancelled_early, (c.state == FAILED) & (c.failure_kind == "service"))
    scored = charged if blind else charged & (c.state != FAILED)
    today = c.utc_day == utc_day
    numbers = (func.sum(case((each, 1), else_=0)) for each in (charged & today, scored & today, scored))
    query = select(*numbers).select_from(submissions.join(runs, runs.c.id == c.run_id))
    row = db.execute(query.where(c.benchmark_id == benchmark_id, c.team_id == team_id)).one()
    return QuotaUse(*(int(number or 0) for number in row))


def under_way(db: Connection, benchmark_id: str) -> bool:
    """Return whether a submission of a benchmark is queued or being scored."""
    c = submissions.c
    query = select(c.id).join(runs, runs.c.id == c.run_id).where(runs.c.state.in_(UNFINISHED))
    return db.scalar(query.where(c.benchmark_id == benchmark_id).limit(1)) is not None


def recent_seconds(db: Connection, benchmark_id: str, limit: int) -> int:
    """Return the mean whole seconds of the last scored submissions of a benchmark, 1 before there is one."""
    query = (
        select(runs.c.started_at, runs.c.finished_at)
        .join(submissions, submissions.c.run_id == runs.c.id)
        .where(submissions.c.benchmark_id == benchmark_id, submissions.c.state == SUCCEEDED)
        .order_by(submissions.c.id.desc())
        .limit(limit)
    )
    seconds = [(row.finished_at - row.started_at).total_seconds() for row in db.execute(query) if row.started_at]
    return max(1, round(sum(seconds) / len(seconds))) if seconds else 1


def scored_equal(
    db: Connection, benchmark_id: str, team_id: str | None, outputs_digest: str, revision: int
) -> str | None:
    """Return the id of a scored submission of the same team with equal outputs, or None."""
    c = submissions.c
    query = (
        select(c.id)
        .join(records, score_records.record_under(revision))
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
    equal_id: str | None = db.scalar(query)
    return equal_id


def change(db: Connection, submission_id: str, **values: object) -> None:
    """Set columns; `outputs`, `failures` and `links` are given as JSON values."""
    if "outputs" in values:
        outputs = json_text(values.pop("outputs"))
        its = submission_outputs.c.submission_id == submission_id
        db.execute(update(submission_outputs).where(its).values(outputs=outputs))
    columns = {name: json_text(value) if name in _WRITTEN else value for name, value in values.items()}
    db.execute(update(submissions).where(submissions.c.id == submission_id).values(columns))


def unchoose_others(db: Connection, benchmark_id: str, team_id: str, chosen_id: str) -> None:
    """Unset the choice of a team's other submissions: a team has at most one chosen submission."""
    c = submissions.c
    others = (c.benchmark_id == benchmark_id) & (c.team_id == team_id) & (c.id != chosen_id) & c.chosen.is_(True)
    db.execute(update(submissions).where(others).values(chosen=False))


def forget_outputs(db: Connection, submission_ids: Sequence[str]) -> None:
    """Delete what is said of outputs that are gone."""
    its = submission_outputs.c.submission_id.in_(submission_ids)
    db.execute(update(submission_outputs).where(its).values(outputs="{}"))
    gone = {"outputs_digest": "", "failures": "[]"}
    db.execute(update(submissions).where(submissions.c.id.in_(submission_ids)).values(gone))


def anonymise(db: Connection, benchmark_id: str, team_id: str, now: datetime) -> list[str]:
    """Delete names, notes, outputs and all artifacts but counts of a team's submissions; scores stay.

    Returns:
        The ids of the runs of unfinished submissions, which are cancelled.
    """
    c = submissions.c
    of_team = (c.benchmark_id == benchmark_id) & (c.team_id == team_id)
    rows = db.execute(select(c.id, c.run_id, c.state).where(of_team)).all()
    ids = [row.id for row in rows]
    texts.drop(db, ids)
    artifacts.drop_all_but_counts(db, ids)
    score_records.strip(db, ids)
    forget_outputs(db, ids)
    said = {**NOTHING_SAID, "output_deleted_at": now}
    db.execute(update(submissions).where(of_team).values(said))
    db.execute(update(submissions).where(of_team, c.state == QUEUED).values(state=CANCELLED, finished_at=now))
    return [row.run_id for row in rows if row.state == QUEUED]


def with_old_outputs(db: Connection, before: datetime, limit: int) -> Sequence[str]:
    """List submissions that ended before a moment and still have their outputs."""
    c = submissions.c
    query = select(c.id).where(c.finished_at < before, c.output_deleted_at.is_(None), c.deleted_at.is_(None))
    return list(db.scalars(query.limit(limit)))


def drop_outputs(db: Connection, submission_ids: Sequence[str], now: datetime) -> None:
    """Delete outputs, and keep scores."""
    texts.drop(db, submission_ids)
    db.execute(update(submissions).where(submissions.c.id.in_(submission_ids)).values(output_deleted_at=now))


def erase(db: Connection, submission_ids: Sequence[str], now: datetime) -> None:
    """Delete outputs, names and everything derived from them. The row stays, so that the id answers 410."""
    texts.drop(db, submission_ids)
    artifacts.drop(db, submission_ids)
    score_records.drop(db, submission_ids)
    erased = {**NOTHING_SAID, "deleted_at": now, "output_deleted_at": now, "chosen": False}
    db.execute(update(submissions).where(submissions.c.id.in_(submission_ids)).values(erased))


def _submission(row: tables.AnyRow) -> Submission:
    outputs, failures = orjson.loads(row.outputs), orjson.loads(row.failures)
    return record_of(Submission, row, outputs=outputs, failures=failures, links=links_of(row.links))


def links_of(column: str | None) -> dict[str, str]:
    """Return the links that a column holds; none of a deleted submission."""
    return {} if column is None else orjson.loads(column)


_JOINED = validations.join(runs, runs.c.id == validations.c.id).join(tables.jobs, tables.jobs.c.id == validations.c.id)


def add_validation(db: Connection, validation_id: str, benchmark_id: str, team_id: str, utc_day: str) -> None:
    """Store that a team validates outputs. Its run and its job are stored in the same transaction."""
    row = {"id": validation_id, "benchmark_id": benchmark_id, "team_id": team_id, "utc_day": utc_day}
    db.execute(insert(validations).values(**row, refunded=False))


def refund_validation(db: Connection, validation_id: str) -> None:
    """Charge a validation to no quota: it failed through an internal error."""
    db.execute(update(validations).where(validations.c.id == validation_id).values(refunded=True))


def charged_validations(db: Connection, benchmark_id: str, team_id: str, utc_day: str) -> int:
    """Count the validations of a day that are charged to a team, those of deleted jobs included."""
    query = (
        select(func.count())
        .select_from(_JOINED)
        .where(_charged_validation(benchmark_id), validations.c.team_id == team_id, validations.c.utc_day == utc_day)
    )
    return tables.count(db, query)


def validations_by_team(db: Connection, benchmark_id: str, team_ids: Sequence[str]) -> dict[str, int]:
    """Count the validations of these teams on all days that are charged, by team."""
    team = validations.c.team_id
    query = (
        select(team, func.count().label("number"))
        .select_from(_JOINED)
        .where(_charged_validation(benchmark_id), team.in_(team_ids))
        .group_by(team)
    )
    return {row.team_id: int(row.number) for row in db.execute(query)}


def _charged_validation(benchmark_id: str) -> ColumnElement[bool]:
    """Leave out validations that were cancelled before they started, and those that failed through an internal error.

    Deleting a job cancels it too; that is charged.
    """
    cancelled_early = and_(
        runs.c.state == CANCELLED,
        runs.c.started_at.is_(None),
        or_(tables.jobs.c.deleted_at.is_(None), tables.jobs.c.deleted_at > runs.c.finished_at),
    )
    return and_(validations.c.benchmark_id == benchmark_id, ~validations.c.refunded, ~cancelled_early)


MOST_SENT = 2_000
"""Submissions of one team that are read; the newest."""


class SentSubmission(NamedTuple):
    """A submission of a team, deleted or not.

    Attributes:
        id: of the submission; ids sort by time.
        outputs_digest: of all outputs together, by part.
        scored: whether it was scored.
        rung: of the team's ladder; 0 where the ladder holds the scores.
        main: its main score under the revision, over the public share of a split test set; None where it is undefined
            or not kept.
        private_main: its main score over the private share; None without a split.
    """

    id: str
    outputs_digest: str
    scored: bool
    rung: int | None
    main: float | None = None
    private_main: float | None = None


def sent_by_team(
    db: Connection,
    team_id: str,
    benchmark_id: str,
    revision: int,
    addresses: Sequence[str],
    score: str,
    shares: Sequence[str | None],
) -> list[SentSubmission]:
    """List a team's submissions, oldest first, with one of the scores of these addresses over each share."""
    c = submissions.c
    query = (
        select(c.id, c.outputs_digest, c.state == SUCCEEDED, records.c.rung)
        .join(records, score_records.record_under(revision), isouter=True)
        .where(c.benchmark_id == benchmark_id, c.team_id == team_id)
        .order_by(c.id.desc())
        .limit(MOST_SENT)
    )
    rows = list(db.execute(query))[::-1]
    its = score_records.of_benchmark(benchmark_id, team_id)
    asked = [score_records.Asked(benchmark_id, revision, share, addresses, score) for share in shares]
    mains = [score_records.macro_of(db, its, each) for each in asked]
    return [SentSubmission(*row, *(found.get(row.id) for found in mains)) for row in rows]


ANNOTATION = "annotation"
"""Member of an output: the digest of what was read of it, equal where other bytes say the same."""


def outputs_of_teams(
    db: Connection, benchmark_id: str, limit: int
) -> list[tuple[str, str, dict[str, tuple[str, str | None]]]]:
    """List the newest submissions of teams, deleted ones included, oldest first: id, team, digests of each part.

    Those are of its bytes, and of its annotation, None where it was not read.
    """
    c = submissions.c
    query = (
        select(c.id, c.team_id, submission_outputs.c.outputs)
        .join(submission_outputs)
        .where(c.benchmark_id == benchmark_id, c.team_id.is_not(None), c.outputs_digest != "")
        .order_by(c.id.desc())
        .limit(limit)
    )
    return [(row.id, row.team_id, _digests(orjson.loads(row.outputs))) for row in list(db.execute(query))[::-1]]


def _digests(outputs: Mapping[str, Mapping[str, str]]) -> dict[str, tuple[str, str | None]]:
    return {part: (of["digest"], of.get(ANNOTATION)) for part, of in outputs.items() if "digest" in of}
