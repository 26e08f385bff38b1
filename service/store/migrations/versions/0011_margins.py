"""The margin of non-inferiority and the units of a benchmark's tests: none and `auto` for those that exist."""

from __future__ import annotations

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

BENCHMARKS = sa.table("benchmarks", sa.column("id"), sa.column("settings"))


def upgrade() -> None:
    """Upgrade from 0010."""
    for name, stored in op.get_bind().execute(sa.select(BENCHMARKS.c.id, BENCHMARKS.c.settings)).all():
        settings = orjson.loads(stored)
        settings["leaderboard"] = {"margin": None, "unit": "auto", **settings["leaderboard"]}
        where = BENCHMARKS.c.id == name
        op.execute(BENCHMARKS.update().where(where).values(settings=orjson.dumps(settings).decode()))
