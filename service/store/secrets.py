"""Random keys of this store: made when first needed, never sent anywhere."""

from __future__ import annotations

import secrets as random

from sqlalchemy import Connection, select

from service.store.tables import secrets
from service.store.texts import insert_or_ignore

KEY_BYTES = 32


def get_or_make(db: Connection, name: str) -> bytes:
    """The key of this name; needs a writing transaction the first time."""
    query = select(secrets.c.value).where(secrets.c.name == name)
    known: bytes | None = db.scalar(query)
    if known is not None:
        return known
    # whoever comes second takes what the first one made
    db.execute(insert_or_ignore(db, secrets), {"name": name, "value": random.token_bytes(KEY_BYTES)})
    made: bytes = db.execute(query).scalar_one()
    return made
