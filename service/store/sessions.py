"""Sessions of browsers: the cookie's hash, and the hash of the token that was pasted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from service.store.database import Store
from service.store.records import columns_of
from service.store.tables import sessions


@dataclass(frozen=True, slots=True)
class Session:
    """One row. Neither the cookie's value nor the token is stored, only their hashes.

    Attributes:
        hash: of the cookie's value.
        token_hash: of the token; the session ends with the token.
        token_id: of the token.
        csrf: the value that forms of this session carry.
        created_at: when the token was pasted.
        seen_at: when the session was last used, to the minute.
        expires_at: when it ends, however much it is used.
        as_benchmark, as_team: the team through whose eyes an organiser looks.
    """

    hash: str
    token_hash: str
    token_id: str
    csrf: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    as_benchmark: str | None = None
    as_team: str | None = None


_BY_HASH = select(*(sessions.c[name] for name in Session.__slots__)).where(sessions.c.hash == bindparam("hashed"))


def add(db: Connection, session: Session) -> None:
    """Store a new session."""
    db.execute(insert(sessions).values(columns_of(session)))


def by_hash(store: Store, hashed: str) -> Session | None:
    """Return the session with this hash, or None. Every page needs it: a fast lookup."""
    row = store.lookup(_BY_HASH, hashed=hashed)
    return None if row is None else Session(*row)


def note_use(db: Connection, hashed: str, now: datetime) -> None:
    """Store when a session was last used."""
    db.execute(update(sessions).where(sessions.c.hash == hashed).values(seen_at=now))


def look_as(db: Connection, hashed: str, benchmark_id: str | None, team_id: str | None) -> None:
    """Store the team through whose eyes an organiser looks; None for the organiser's own."""
    changed = update(sessions).where(sessions.c.hash == hashed)
    db.execute(changed.values(as_benchmark=benchmark_id, as_team=team_id))


def drop(db: Connection, hashed: str) -> None:
    """Delete a session."""
    db.execute(delete(sessions).where(sessions.c.hash == hashed))


def drop_expired(db: Connection, now: datetime) -> None:
    """Delete the sessions that have expired."""
    db.execute(delete(sessions).where(sessions.c.expires_at < now))
