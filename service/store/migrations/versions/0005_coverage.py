"""Coverage of score records."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision. Records from before it do not know what they cover."""
    with op.batch_alter_table("scores") as batch_op:
        batch_op.add_column(
            sa.Column(
                "covered",
                sa.Text(),
                nullable=True,
                comment="JSON: sentences with a scored output, part by part; null if not known",
            )
        )
