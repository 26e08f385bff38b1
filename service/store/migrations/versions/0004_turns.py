"""Runs have principals and turns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0003. Runs that wait keep their order: all are in turn 0, the oldest first."""
    for column in (
        sa.Column("principal", sa.String(length=160), nullable=False, server_default="", comment="whose work it is"),
        sa.Column(
            "precedence", sa.Integer(), nullable=False, server_default="0", comment="lower ones begin first in a queue"
        ),
        sa.Column(
            "turn", sa.Integer(), nullable=False, server_default="0", comment="lower ones begin first in a precedence"
        ),
    ):
        op.add_column("runs", column)
    op.execute(
        "UPDATE runs SET precedence = 1, principal = coalesce((SELECT owner FROM jobs WHERE jobs.id = runs.id), '') "
        "WHERE kind = 'job'"
    )
    op.create_index("ix_runs_next", "runs", ["queue", "state", "precedence", "turn", "created_at"])
    op.create_index("ix_runs_principal_state", "runs", ["principal", "state", "queue", "precedence", "turn"])
    op.create_index("ix_runs_started_at", "runs", ["started_at"])
    op.create_table(
        "turns",
        sa.Column("queue", sa.String(length=10), nullable=False),
        sa.Column("precedence", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("principal", sa.String(length=160), nullable=False, comment="empty for the last turn of all"),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("queue", "precedence", "principal", name=op.f("pk_turns")),
        comment="the last turn that was begun, by principal",
    )
