"""Validations of outputs by teams: one row each, because they count as attempts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select, update

from service.store.runs import CANCELLED
from service.store.tables import jobs, runs, validations

_JOINED = validations.join(runs, runs.c.id == validations.c.id).join(jobs, jobs.c.id == validations.c.id)


def add(db: Connection, validation_id: str, benchmark_id: str, team_id: str, utc_day: str) -> None:
    """Store that a team validates outputs. Its run and its job are stored in the same transaction."""
    db.execute(
        insert(validations).values(
            id=validation_id, benchmark_id=benchmark_id, team_id=team_id, utc_day=utc_day, refunded=False
        )
    )


def refund(db: Connection, validation_id: str) -> None:
    """Charge a validation to no quota: it failed through an internal error."""
    db.execute(update(validations).where(validations.c.id == validation_id).values(refunded=True))


def charged(db: Connection, benchmark_id: str, team_id: str, utc_day: str) -> int:
    """Count the validations of a day that are charged to a team, those of deleted jobs included."""
    query = (
        select(func.count())
        .select_from(_JOINED)
        .where(_charged(benchmark_id), validations.c.team_id == team_id, validations.c.utc_day == utc_day)
    )
    return int(db.scalar(query) or 0)


def by_team(db: Connection, benchmark_id: str, team_ids: Sequence[str]) -> dict[str, int]:
    """Count the validations of these teams on all days that are charged, by team."""
    team = validations.c.team_id
    query = (
        select(team, func.count().label("number"))
        .select_from(_JOINED)
        .where(_charged(benchmark_id), team.in_(team_ids))
        .group_by(team)
    )
    return {row.team_id: int(row.number) for row in db.execute(query)}


def _charged(benchmark_id: str) -> ColumnElement[bool]:
    """Leave out validations that were cancelled before they started, and those that failed through an internal error.

    Deleting a job cancels it too; that is charged.
    """
    cancelled_early = and_(
        runs.c.state == CANCELLED,
        runs.c.started_at.is_(None),
        or_(jobs.c.deleted_at.is_(None), jobs.c.deleted_at > runs.c.finished_at),
    )
    return and_(validations.c.benchmark_id == benchmark_id, ~validations.c.refunded, ~cancelled_early)
