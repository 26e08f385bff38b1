"""A key for each job that was made without a token."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0005. Earlier jobs have no key: only organisers change those of nobody."""
    op.add_column("jobs", sa.Column("key_hash", sa.String(64), comment="of the key that changes an anonymous job"))
