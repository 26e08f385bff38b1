"""Random keys of this store, created on first use and never sent."""

from __future__ import annotations

import secrets as random

from sqlalchemy import Connection, select

from service.store.tables import secrets
from service.store.texts import insert_or_ignore

KEY_BYTES = 32


def get_or_make(db: Connection, name: str) -> bytes:
    """Return the key of this name, and create it the first time, which needs a writing transaction."""
    query = select(secrets.c.value).where(secrets.c.name == name)
    stored: bytes | None = db.scalar(query)
    if stored is not None:
        return stored
    # two may do this at once: both return the key that was stored first
    db.execute(insert_or_ignore(db, secrets), {"name": name, "value": random.token_bytes(KEY_BYTES)})
    winner: bytes = db.execute(query).scalar_one()
    return winner
