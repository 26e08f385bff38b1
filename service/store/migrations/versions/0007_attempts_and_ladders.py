"""Validations as attempts, and ladders."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

BENCHMARKS = sa.table("benchmarks", sa.column("id"), sa.column("settings"))


def upgrade() -> None:
    """Upgrade from 0006."""
    op.create_table(
        "validations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("team_id", sa.String(length=64), nullable=False),
        sa.Column("utc_day", sa.String(length=10), nullable=False, comment="the day to whose quota it is charged"),
        sa.Column("refunded", sa.Boolean(), nullable=False, comment="it failed through an internal error"),
        sa.ForeignKeyConstraint(["id"], ["runs.id"], name=op.f("fk_validations_id")),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_validations_benchmark_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validations")),
        comment="validations of teams, which count as attempts; the id is that of the job",
    )
    op.create_index("ix_validations_team", "validations", ["benchmark_id", "team_id", "utc_day"])
    op.create_table(
        "ladders",
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("team_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("rung", sa.Integer(), nullable=False, comment="scores released so far"),
        sa.Column("counts", sa.LargeBinary(), nullable=False, comment="zstd: those of the last released score"),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_ladders_benchmark_id")),
        sa.PrimaryKeyConstraint("benchmark_id", "team_id", "revision", name=op.f("pk_ladders")),
        comment="the shown best of each team under a ladder; it outlives the submission",
    )
    op.add_column("scores", sa.Column("rung", sa.Integer(), nullable=True, comment="of a ladder; 0: it is held"))
    _add_setting()


def _add_setting() -> None:
    """Benchmarks that exist have no ladder."""
    connection = op.get_bind()
    for row in connection.execute(sa.select(BENCHMARKS.c.id, BENCHMARKS.c.settings)).all():
        settings = json.loads(row.settings)
        settings["leaderboard"].setdefault("ladder", False)
        connection.execute(
            BENCHMARKS.update()
            .where(BENCHMARKS.c.id == row.id)
            .values(settings=json.dumps(settings, ensure_ascii=False, separators=(",", ":")))
        )
