"""Bearer tokens, hashed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from service.store.database import Store
from service.store.tables import tokens


def add(db: Connection, row: dict[str, Any]) -> None:
    """Store a token's row (its hash, never the token)."""
    db.execute(insert(tokens).values(row))


class Known(NamedTuple):
    """What a token says of its bearer, and until when."""

    id: str
    scopes: str
    team_id: str | None
    benchmark_id: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


_KNOWN = select(*(tokens.c[name] for name in Known._fields)).where(tokens.c.hash == bindparam("hashed"))


def known(store: Store, hashed: str) -> Known | None:
    """The token with this hash, as quickly as can be; None where there is none."""
    row = store.lookup(_KNOWN, hashed=hashed)
    return None if row is None else Known(*row)


def by_id(db: Connection, token_id: str) -> Any | None:
    """The row of a token, or None."""
    return db.execute(select(tokens).where(tokens.c.id == token_id)).one_or_none()


def listing(db: Connection, before: str | None, limit: int) -> Sequence[Any]:
    """All tokens, newest first, from before a given id."""
    query = select(tokens).order_by(tokens.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(tokens.c.id < before)
    return db.execute(query).all()


def note_use(db: Connection, token_id: str, now: datetime) -> None:
    """Remember when it was last used."""
    db.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=now))


def revoke(db: Connection, token_id: str, now: datetime) -> bool:
    """End a token; True where it was there and not yet ended."""
    result = db.execute(
        update(tokens).where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None)).values(revoked_at=now)
    )
    return result.rowcount == 1


def revoke_of(db: Connection, benchmark_id: str, team_id: str | None, now: datetime) -> None:
    """End the tokens of a team, or of all teams of a benchmark."""
    statement = update(tokens).where(tokens.c.benchmark_id == benchmark_id, tokens.c.revoked_at.is_(None))
    if team_id is not None:
        statement = statement.where(tokens.c.team_id == team_id)
    db.execute(statement.values(revoked_at=now))
