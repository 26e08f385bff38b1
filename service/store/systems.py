"""Systems of several training runs: submissions of one team that name the first one by `run_of`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, or_, select, true

from service.store.boards import number_of, value_at
from service.store.figures import Span
from service.store.runs import SUCCEEDED
from service.store.score_records import coverage_of
from service.store.tables import scores, submissions


class Named(NamedTuple):
    """A submission that has a name, and what it says of its system."""

    id: str
    run_of: str | None


def named(db: Connection, benchmark_id: str, team_id: str | None, name: str) -> list[Named]:
    """List the submissions of a team, or the baselines, that have a name and are not deleted; oldest first."""
    c = submissions.c
    query = select(c.id, c.run_of).where(
        c.benchmark_id == benchmark_id, _team(team_id), c.name == name, c.deleted_at.is_(None)
    )
    return [Named(row.id, row.run_of) for row in db.execute(query.order_by(c.id))]


def run_with_outputs(db: Connection, system: str, outputs_digest: str) -> str | None:
    """Return a run of a system, deleted or not, that has equal outputs; None without one."""
    c = submissions.c
    query = select(c.id).where(or_(c.id == system, c.run_of == system), c.outputs_digest == outputs_digest)
    found: str | None = db.scalar(query.limit(1))
    return found


def of_submissions(db: Connection, ids: Collection[str]) -> dict[str, str]:
    """Return for each submission the first one of its system."""
    c = submissions.c
    query = select(c.id, func.coalesce(c.run_of, c.id).label("system")).where(c.id.in_(list(ids)))
    return {row.id: row.system for row in db.execute(query)}


def names(db: Connection, ids: Collection[str]) -> dict[str, str]:
    """Return the names of submissions; that of a deleted one is its id."""
    c = submissions.c
    return {row.id: row.name or row.id for row in db.execute(select(c.id, c.name).where(c.id.in_(list(ids))))}


class Member(NamedTuple):
    """A scored submission of a system with several.

    Attributes:
        id: of the submission.
        system: the first submission of its system.
        deleted, withdrawn: whether it was.
        value: one of its scores; None where undefined, and for what is not scored under the revision.
        covered: sentences with a scored output in each part; None without a record.
        scored: whether it has a record under the revision.
    """

    id: str
    system: str
    deleted: bool
    withdrawn: bool
    value: float | None
    covered: Sequence[int] | None
    scored: bool


def members(
    db: Connection, benchmark_id: str, revision: int, span: Span | None = None, *, until: datetime | None = None
) -> list[Member]:
    """List the submissions of systems with several of them, on the board or not, oldest first.

    Args:
        db: the transaction.
        benchmark_id: the slug.
        revision: number of the revision whose scores are read.
        span: where the score is in the figures; None for the main score.
        until: leaves out submissions that were scored later.
    """
    c = submissions.c
    further = select(c.run_of).where(c.benchmark_id == benchmark_id, c.run_of.is_not(None))
    query = (
        select(
            c.id, func.coalesce(c.run_of, c.id).label("system"), c.deleted_at, c.withdrawn_at, scores.c.covered,
            value_at(span).label("value"), scores.c.submission_id.label("record"),
        )
        .join(scores, (scores.c.submission_id == c.id) & (scores.c.revision == revision), isouter=True)
        .where(
            c.benchmark_id == benchmark_id, c.state == SUCCEEDED, or_(c.run_of.is_not(None), c.id.in_(further)),
            true() if until is None else c.finished_at <= until,
        )
        .order_by(c.id)
    )  # fmt: skip
    return [
        Member(
            row.id, row.system, row.deleted_at is not None, row.withdrawn_at is not None, number_of(row.value),
            coverage_of(row.covered), row.record is not None,
        )
        for row in db.execute(query)
    ]  # fmt: skip


def _team(team_id: str | None) -> ColumnElement[bool]:
    return submissions.c.team_id.is_(None) if team_id is None else submissions.c.team_id == team_id
