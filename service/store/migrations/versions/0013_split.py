"""Split test sets: the figures over the private share, beside those over the public one."""

from __future__ import annotations

import orjson
import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

BENCHMARKS = sa.table("benchmarks", sa.column("id"), sa.column("settings"))
COLUMNS = (
    (
        "private_main",
        sa.Float(),
        "main over the private share; main, figures, document are then of the public",
    ),
    ("private_figures", sa.LargeBinary(), "figures over the private share; null where there is none"),
    ("private_metrics", sa.LargeBinary(), "JSON, zstd: what the private share changes in the document"),
)


def upgrade() -> None:
    """Upgrade from 0012. No test set was split before."""
    for name, kind, comment in COLUMNS:
        op.add_column("scores", sa.Column(name, kind, nullable=True, comment=comment))
    for name, stored in op.get_bind().execute(sa.select(BENCHMARKS.c.id, BENCHMARKS.c.settings)).all():
        settings = orjson.loads(stored)
        settings["leaderboard"].setdefault("split", None)
        where = BENCHMARKS.c.id == name
        op.execute(BENCHMARKS.update().where(where).values(settings=orjson.dumps(settings).decode()))
