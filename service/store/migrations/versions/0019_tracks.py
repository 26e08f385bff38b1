"""Tracks: named groups of a benchmark's parts, among its settings."""

from __future__ import annotations

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

BENCHMARKS = sa.table("benchmarks", sa.column("id"), sa.column("settings"))


def upgrade() -> None:
    """Upgrade from 0018. No benchmark had tracks before."""
    for name, stored in op.get_bind().execute(sa.select(BENCHMARKS.c.id, BENCHMARKS.c.settings)).all():
        settings = orjson.loads(stored)
        settings.setdefault("tracks", {})
        where = BENCHMARKS.c.id == name
        op.execute(BENCHMARKS.update().where(where).values(settings=orjson.dumps(settings).decode()))
