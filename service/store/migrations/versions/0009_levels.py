"""What the feedback levels need: digests of sentences, public reasons, the scores that a benchmark lists."""

from __future__ import annotations

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

BENCHMARKS = sa.table("benchmarks", sa.column("id"), sa.column("settings"))


def upgrade() -> None:
    """Upgrade from 0008. Gold that was checked before keeps its digest and has none of its sentences."""
    op.add_column(
        "parts",
        sa.Column(
            "sentence_keys",
            sa.LargeBinary(),
            nullable=True,
            comment="zstd: keyed digests of the columns of each sentence",
        ),
    )
    op.add_column("revisions", sa.Column("public_reason", sa.Text(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        op.execute("COMMENT ON COLUMN revisions.reason IS 'for organisers'")
    for name, stored in op.get_bind().execute(sa.select(BENCHMARKS.c.id, BENCHMARKS.c.settings)).all():
        settings = orjson.loads(stored)
        settings["leaderboard"] = {"scores": None, **settings["leaderboard"]}
        where = BENCHMARKS.c.id == name
        op.execute(BENCHMARKS.update().where(where).values(settings=orjson.dumps(settings).decode()))
