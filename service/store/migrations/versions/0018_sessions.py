"""Sessions of browsers on the pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0017."""
    op.create_table(
        "sessions",
        sa.Column("hash", sa.String(64), primary_key=True, comment="of the value of the cookie"),
        sa.Column("token_hash", sa.String(64), nullable=False, comment="of the token that was pasted"),
        sa.Column("token_id", sa.String(64), nullable=False),
        sa.Column("csrf", sa.String(64), nullable=False, comment="value that forms carry"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False, comment="to the minute"),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("as_benchmark", sa.String(64)),
        sa.Column("as_team", sa.String(64)),
        comment="signed-in browsers; as_*: the team through whose eyes an organiser looks",
    )
    op.create_index("ix_sessions_token_hash", "sessions", ["token_hash"])
