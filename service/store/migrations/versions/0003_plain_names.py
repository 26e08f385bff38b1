"""Plain names: what scores are made by is called `scoring`."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.alter_column("revisions", "ruler", new_column_name="scoring")
