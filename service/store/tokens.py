"""Who calls and what was asked before: bearer tokens, sessions of browsers, idempotency keys.

Tokens are stored hashed. A session is the cookie's hash, and the hash of the token that was pasted. An idempotency key
says which request created which resource, so that a repeated request finds it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from service.store.database import Store
from service.store.tables import columns_of, idempotency, one, page_down, record_of, sessions, tokens


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


_TOKEN_BY_HASH = select(*(tokens.c[name] for name in Token.__slots__)).where(tokens.c.hash == bindparam("hashed"))


def by_hash(store: Store, hashed: str) -> Token | None:
    """Return the token with this hash, or None. Every request needs it: a fast lookup."""
    row = store.lookup(_TOKEN_BY_HASH, hashed=hashed)
    return None if row is None else Token(*row)


def by_id(db: Connection, token_id: str) -> Token | None:
    """Return one token, or None."""
    return one(db, select(tokens).where(tokens.c.id == token_id), lambda row: record_of(Token, row))


def listing(db: Connection, before: str | None, limit: int) -> Sequence[Token]:
    """List tokens before a given id, newest first."""
    return [record_of(Token, row) for row in db.execute(page_down(select(tokens), tokens.c.id, before, limit))]


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
    valid_one = (tokens.c.id == token_id) & tokens.c.revoked_at.is_(None)
    return db.execute(update(tokens).where(valid_one).values(revoked_at=now)).rowcount == 1


def revoke_all(db: Connection, benchmark_id: str, team_id: str | None, now: datetime) -> None:
    """Revoke the tokens of a team, or of all teams of a benchmark."""
    statement = update(tokens).where(tokens.c.benchmark_id == benchmark_id, tokens.c.revoked_at.is_(None))
    if team_id is not None:
        statement = statement.where(tokens.c.team_id == team_id)
    db.execute(statement.values(revoked_at=now))


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


_SESSION_BY_HASH = select(*(sessions.c[name] for name in Session.__slots__)).where(
    sessions.c.hash == bindparam("hashed")
)


def add_session(db: Connection, session: Session) -> None:
    """Store a new session."""
    db.execute(insert(sessions).values(columns_of(session)))


def session_by_hash(store: Store, hashed: str) -> Session | None:
    """Return the session with this hash, or None. Every page needs it: a fast lookup."""
    row = store.lookup(_SESSION_BY_HASH, hashed=hashed)
    return None if row is None else Session(*row)


def note_session_use(db: Connection, hashed: str, now: datetime) -> None:
    """Store when a session was last used."""
    db.execute(update(sessions).where(sessions.c.hash == hashed).values(seen_at=now))


def look_as(db: Connection, hashed: str, benchmark_id: str | None, team_id: str | None) -> None:
    """Store the team through whose eyes an organiser looks; None for the organiser's own."""
    changed = update(sessions).where(sessions.c.hash == hashed)
    db.execute(changed.values(as_benchmark=benchmark_id, as_team=team_id))


def drop_session(db: Connection, hashed: str) -> None:
    """Delete a session."""
    db.execute(delete(sessions).where(sessions.c.hash == hashed))


def drop_expired_sessions(db: Connection, now: datetime) -> None:
    """Delete the sessions that have expired."""
    db.execute(delete(sessions).where(sessions.c.expires_at < now))


def find_key(db: Connection, owner: str, key: str) -> tuple[str, str] | None:
    """Return the digest of the request under a key and the id of its resource, or None."""
    query = select(idempotency.c.digest, idempotency.c.resource).where(
        idempotency.c.owner == owner, idempotency.c.key == key
    )
    row = db.execute(query).one_or_none()
    return None if row is None else (row.digest, row.resource)


def add_key(db: Connection, owner: str, key: str, digest: str, resource: str, now: datetime) -> None:
    """Store a request under its key. The primary key refuses a second one."""
    db.execute(insert(idempotency).values(owner=owner, key=key, digest=digest, resource=resource, created_at=now))


def drop_keys_before(db: Connection, moment: datetime) -> None:
    """Delete keys older than a moment."""
    db.execute(delete(idempotency).where(idempotency.c.created_at < moment))
