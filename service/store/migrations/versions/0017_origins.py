"""Runs know the request and the span that they come from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade from 0016. Of earlier runs nothing is known."""
    op.add_column("runs", sa.Column("request_id", sa.String(128), comment="the request it comes from, for the log"))
    trace = "the span it comes from: traceparent of W3C Trace Context"
    op.add_column("runs", sa.Column("trace", sa.String(64), comment=trace))
