"""Teams of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from service.store.records import columns_of, one, record_of
from service.store.tables import teams

ERASED_NAME = ""
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Team:
    """One row. An erased team has neither name nor contact."""

    benchmark_id: str
    id: str
    name: str
    contact: str | None
    created_at: datetime
    erased_at: datetime | None


def add(db: Connection, team: Team) -> None:
    """Store a new team. The primary key refuses an id that exists."""
    db.execute(insert(teams).values(columns_of(team)))


def get(db: Connection, benchmark_id: str, team_id: str, *, lock: bool = False) -> Team | None:
    """Return one team, erased or not, or None. `lock` keeps others from counting its quota in this transaction."""
    query = select(teams).where(teams.c.benchmark_id == benchmark_id, teams.c.id == team_id)
    return one(db, query.with_for_update() if lock else query, lambda row: record_of(Team, row))


def existing(db: Connection, benchmark_id: str, team_ids: Sequence[str]) -> set[str]:
    """Return which of some ids teams have, erased or not."""
    found: set[str] = set()
    for start in range(0, len(team_ids), _BATCH):
        some = team_ids[start : start + _BATCH]
        found.update(db.scalars(select(teams.c.id).where(teams.c.benchmark_id == benchmark_id, teams.c.id.in_(some))))
    return found


def listing(db: Connection, benchmark_id: str, after: str | None, limit: int) -> Sequence[Team]:
    """List teams by id, after a given one, without erased ones."""
    query = select(teams).where(teams.c.benchmark_id == benchmark_id, teams.c.erased_at.is_(None))
    if after is not None:
        query = query.where(teams.c.id > after)
    return [record_of(Team, row) for row in db.execute(query.order_by(teams.c.id).limit(limit))]


def names(db: Connection, benchmark_id: str, team_ids: Iterable[str]) -> dict[str, str]:
    """Return the names of teams that are not erased, by id."""
    query = select(teams.c.id, teams.c.name).where(
        teams.c.benchmark_id == benchmark_id, teams.c.id.in_(list(team_ids)), teams.c.erased_at.is_(None)
    )
    return {row.id: row.name for row in db.execute(query)}


def erase(db: Connection, benchmark_id: str, team_id: str, now: datetime) -> None:
    """Delete a team's name and contact. Its id stays, so that no other team can take over its rows."""
    db.execute(
        update(teams)
        .where(teams.c.benchmark_id == benchmark_id, teams.c.id == team_id)
        .values(name=ERASED_NAME, contact=None, erased_at=now)
    )
