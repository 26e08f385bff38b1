"""Training runs of one system."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0011. Each submission from before is a system of its own."""
    op.add_column(
        "submissions",
        sa.Column(
            "run_of",
            sa.String(64),
            nullable=True,
            comment="the submission of whose system it is another training run",
        ),
    )
