"""Bearer tokens, hashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, insert, or_, select, update

from service.store.database import Store
from service.store.records import columns_of, one, record_of
from service.store.tables import tokens


@dataclass(frozen=True, slots=True)
class Token:
    """One row. The token itself is not stored, only its hash."""

    id: str
    hash: str
    scopes: str
    name: str | None
    created_at: datetime
    team_id: str | None = None
    benchmark_id: str | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


def add(db: Connection, token: Token) -> None:
    """Store a new token."""
    db.execute(insert(tokens).values(columns_of(token)))


class TokenFacts(NamedTuple):
    """The columns of a token that authentication needs."""

    id: str
    scopes: str
    team_id: str | None
    benchmark_id: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


_FACTS = select(*(tokens.c[name] for name in TokenFacts._fields)).where(tokens.c.hash == bindparam("hashed"))


def by_hash(store: Store, hashed: str) -> TokenFacts | None:
    """Return the token with this hash, or None. Every request needs it: a fast lookup."""
    row = store.lookup(_FACTS, hashed=hashed)
    return None if row is None else TokenFacts(*row)


def by_id(db: Connection, token_id: str) -> Token | None:
    """Return one token, or None."""
    return one(db, select(tokens).where(tokens.c.id == token_id), lambda row: record_of(Token, row))


def listing(db: Connection, before: str | None, limit: int) -> Sequence[Token]:
    """List tokens before a given id, newest first."""
    query = select(tokens).order_by(tokens.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(tokens.c.id < before)
    return [record_of(Token, row) for row in db.execute(query)]


def every(db: Connection) -> Sequence[Token]:
    """List all tokens, newest first."""
    return [record_of(Token, row) for row in db.execute(select(tokens).order_by(tokens.c.id.desc()))]


def valid(db: Connection, now: datetime) -> Sequence[Token]:
    """List the tokens that are neither revoked nor expired, newest first."""
    in_time = or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now)
    query = select(tokens).where(tokens.c.revoked_at.is_(None), in_time).order_by(tokens.c.id.desc())
    return [record_of(Token, row) for row in db.execute(query)]


def note_use(db: Connection, token_id: str, now: datetime) -> None:
    """Store when a token was last used."""
    db.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=now))


def revoke(db: Connection, token_id: str, now: datetime) -> bool:
    """Revoke a token; True where it existed and was not revoked."""
    result = db.execute(
        update(tokens).where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None)).values(revoked_at=now)
    )
    return result.rowcount == 1


def revoke_all(db: Connection, benchmark_id: str, team_id: str | None, now: datetime) -> None:
    """Revoke the tokens of a team, or of all teams of a benchmark."""
    statement = update(tokens).where(tokens.c.benchmark_id == benchmark_id, tokens.c.revoked_at.is_(None))
    if team_id is not None:
        statement = statement.where(tokens.c.team_id == team_id)
    db.execute(statement.values(revoked_at=now))
