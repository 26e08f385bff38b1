"""Invites: secrets, hashed, with which strangers make teams of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from service.store.records import columns_of, one, record_of
from service.store.tables import invites


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


def add(db: Connection, invite: Invite) -> None:
    """Store a new invite."""
    db.execute(insert(invites).values(columns_of(invite)))


def by_hash(db: Connection, hashed: str) -> Invite | None:
    """Return the invite with this hash of its secret, withdrawn or not, or None."""
    return one(db, select(invites).where(invites.c.hash == hashed), lambda row: record_of(Invite, row))


def listing(db: Connection, benchmark_id: str, before: str | None, limit: int) -> Sequence[Invite]:
    """List the invites of a benchmark, newest first, without withdrawn ones."""
    query = select(invites).where(invites.c.benchmark_id == benchmark_id, invites.c.deleted_at.is_(None))
    if before is not None:
        query = query.where(invites.c.id < before)
    return [record_of(Invite, row) for row in db.execute(query.order_by(invites.c.id.desc()).limit(limit))]


def use(db: Connection, invite_id: str) -> bool:
    """Count one more team; False where the invite has made all that it may."""
    c = invites.c
    result = db.execute(update(invites).where(c.id == invite_id, c.teams < c.teams_at_most).values(teams=c.teams + 1))
    return result.rowcount == 1


def withdraw(db: Connection, benchmark_id: str, invite_id: str, now: datetime) -> bool:
    """Mark an invite as withdrawn; True where the benchmark had it. The row stays, so that its secret answers 410."""
    c = invites.c
    result = db.execute(
        update(invites)
        .where(c.benchmark_id == benchmark_id, c.id == invite_id, c.deleted_at.is_(None))
        .values(deleted_at=now)
    )
    return result.rowcount == 1
