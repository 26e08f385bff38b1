"""What organisers and teams say of themselves; invites; a log of deliveries; two secrets of a webhook."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Upgrade from 0019. Deliveries from before that ended are not in the log."""
    op.add_column("submissions", sa.Column("links", sa.Text, comment="JSON: paper, code, model"))
    op.add_column("teams", sa.Column("contact", sa.Text, comment="for organisers"))
    op.create_table(
        "invites",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column(
            "benchmark_id",
            sa.String(64),
            sa.ForeignKey("benchmarks.id", name="fk_invites_benchmark_id"),
            nullable=False,
        ),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("teams_at_most", sa.Integer, nullable=False),
        sa.Column("teams", sa.Integer, nullable=False, comment="that were made with it"),
        sa.Column("deleted_at", MOMENT),
        sa.UniqueConstraint("hash", name="uq_invites_hash"),
        comment="secrets with which strangers make teams, hashed",
    )
    op.create_index("ix_invites_benchmark_id_id", "invites", ["benchmark_id", "id"])
    op.add_column("webhooks", sa.Column("old_secret", sa.Text, comment="signs beside the other until old_secret_until"))
    op.add_column("webhooks", sa.Column("old_secret_until", MOMENT))
    with op.batch_alter_table("deliveries") as batch:
        batch.add_column(sa.Column("created_at", MOMENT))
        batch.add_column(sa.Column("attempted_at", MOMENT, comment="the last time"))
        # a replay delivers an event again
        batch.drop_constraint("uq_deliveries_webhook_id", type_="unique")
        batch.create_index("ix_deliveries_webhook_id_id", ["webhook_id", "id"])
