"""Teams of a benchmark, and invites: secrets, hashed, with which strangers make teams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from service.store.tables import columns_of, invites, one, record_of, teams

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


@dataclass(frozen=True, slots=True)
class Invite:
    """One row.

    Attributes:
        id: `inv_...`.
        benchmark_id: of the benchmark.
        hash: of the secret, which is not stored.
        created_at: when it was made.
        expires_at: when it ends.
        teams_at_most: how many teams it may make.
        teams: how many it has made.
        deleted_at: when the organisers withdrew it.
    """

    id: str
    benchmark_id: str
    hash: str
    created_at: datetime
    expires_at: datetime
    teams_at_most: int
    teams: int = 0
    deleted_at: datetime | None = None


def add_invite(db: Connection, invite: Invite) -> None:
    """Store a new invite."""
    db.execute(insert(invites).values(columns_of(invite)))


def invite_by_hash(db: Connection, hashed: str) -> Invite | None:
    """Return the invite with this hash of its secret, withdrawn or not, or None."""
    return one(db, select(invites).where(invites.c.hash == hashed), lambda row: record_of(Invite, row))


def invites_of(db: Connection, benchmark_id: str, before: str | None, limit: int) -> Sequence[Invite]:
    """List the invites of a benchmark, newest first, without withdrawn ones."""
    query = select(invites).where(invites.c.benchmark_id == benchmark_id, invites.c.deleted_at.is_(None))
    if before is not None:
        query = query.where(invites.c.id < before)
    return [record_of(Invite, row) for row in db.execute(query.order_by(invites.c.id.desc()).limit(limit))]


def use_invite(db: Connection, invite_id: str) -> bool:
    """Count one more team; False where the invite has made all that it may."""
    c = invites.c
    result = db.execute(update(invites).where(c.id == invite_id, c.teams < c.teams_at_most).values(teams=c.teams + 1))
    return result.rowcount == 1


def withdraw_invite(db: Connection, benchmark_id: str, invite_id: str, now: datetime) -> bool:
    """Mark an invite as withdrawn; True where the benchmark had it. The row stays, so that its secret answers 410."""
    c = invites.c
    result = db.execute(
        update(invites)
        .where(c.benchmark_id == benchmark_id, c.id == invite_id, c.deleted_at.is_(None))
        .values(deleted_at=now)
    )
    return result.rowcount == 1
