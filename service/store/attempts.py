"""The scored submissions of teams: everything that a team has picked from, on the board or not."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, true

from service.store.runs import SUCCEEDED
from service.store.score_records import HELD
from service.store.tables import scores, submissions


class Attempt(NamedTuple):
    """A scored submission of a team.

    Attributes:
        id: of the submission.
        team_id: of its team.
        run_of: the submission of whose system it is another training run.
        deleted: whether its counts are gone.
        held: whether a ladder holds its scores.
    """

    id: str
    team_id: str
    run_of: str | None
    deleted: bool
    held: bool = False


def of_teams(
    db: Connection, benchmark_id: str, revision: int, team_ids: Collection[str], until: datetime | None = None
) -> list[Attempt]:
    """List what teams have had scored under a revision, oldest first; withdrawn and deleted submissions too.

    Args:
        db: the transaction.
        benchmark_id: the slug.
        revision: number of the revision.
        team_ids: of the teams.
        until: leaves out submissions that were scored later.
    """
    c = submissions.c
    query = (
        select(c.id, c.team_id, c.run_of, c.deleted_at, scores.c.rung)
        .join(scores, _attempt_record(revision), isouter=True)
        .where(_scored(benchmark_id, until), c.team_id.in_(list(team_ids)))
        .order_by(c.id)
    )
    return [
        Attempt(row.id, row.team_id, row.run_of, row.deleted_at is not None, held=row.rung == HELD)
        for row in db.execute(query)
    ]


def counted(db: Connection, benchmark_id: str, revision: int, until: datetime | None = None) -> dict[str, int]:
    """Count for each team what `of_teams` lists."""
    team = submissions.c.team_id
    query = (
        select(team, func.count().label("number"))
        .join(scores, _attempt_record(revision), isouter=True)
        .where(_scored(benchmark_id, until), team.is_not(None))
        .group_by(team)
    )
    return {row.team_id: row.number for row in db.execute(query)}


def _attempt_record(revision: int) -> ColumnElement[bool]:
    return (scores.c.submission_id == submissions.c.id) & (scores.c.revision == revision)


def _scored(benchmark_id: str, until: datetime | None) -> ColumnElement[bool]:
    """Select what has a record, or lost it by being deleted: its team has seen its scores."""
    c = submissions.c
    return and_(
        c.benchmark_id == benchmark_id,
        c.state == SUCCEEDED,
        or_(scores.c.submission_id.is_not(None), c.deleted_at.is_not(None)),
        true() if until is None else c.finished_at <= until,
    )
