"""Pieces of large submissions, which all idle workers score."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0015."""
    op.create_table(
        "pieces",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("run_id", sa.String(64), sa.ForeignKey("runs.id", name="fk_pieces_run_id"), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("version", sa.String(40), nullable=False, comment="of the program"),
        sa.Column("first", sa.Integer, nullable=False, comment="position of its first part"),
        sa.Column("last", sa.Integer, nullable=False, comment="position after its last part"),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("done", sa.Integer, nullable=False, comment="parts"),
        sa.Column("holder", sa.String(64), comment="what names the work on it in Redis; null where it is free"),
        sa.Column("body", sa.LargeBinary, comment="zstd: the result; null until there is one"),
        comment="parts of a large submission under way, deleted when its run ends",
    )
    op.create_index("ix_pieces_run_id", "pieces", ["run_id"])
