"""Runs that are held until a moment: the comparison of a board waits while submissions arrive."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0013. No run was held before."""
    op.add_column(
        "runs", sa.Column("not_before", sa.DateTime(timezone=True), comment="held until then; null: not held")
    )
