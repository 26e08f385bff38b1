"""Idempotency keys: which request created which resource, so that a repeated request finds it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from service.store.tables import idempotency


def find(db: Connection, owner: str, key: str) -> tuple[str, str] | None:
    """Return the digest of the request under a key and the id of its resource, or None."""
    query = select(idempotency.c.digest, idempotency.c.resource).where(
        idempotency.c.owner == owner, idempotency.c.key == key
    )
    row = db.execute(query).one_or_none()
    return None if row is None else (row.digest, row.resource)


def add(db: Connection, owner: str, key: str, digest: str, resource: str, now: datetime) -> None:
    """Store a request under its key. The primary key refuses a second one."""
    db.execute(insert(idempotency).values(owner=owner, key=key, digest=digest, resource=resource, created_at=now))


def drop_before(db: Connection, moment: datetime) -> None:
    """Delete keys older than a moment."""
    db.execute(delete(idempotency).where(idempotency.c.created_at < moment))
