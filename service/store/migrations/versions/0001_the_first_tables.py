"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "artifacts",
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column(
            "name",
            sa.String(length=200),
            nullable=False,
            comment="what it is: counts, items, slices, report of a metric",
        ),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="zstd"),
        sa.PrimaryKeyConstraint("owner", "name", "page", name=op.f("pk_artifacts")),
        comment="what a worker made for later questions",
    )
    op.create_table(
        "idempotency",
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("resource", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("owner", "key", name=op.f("pk_idempotency")),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("queue", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("progress", sa.Text(), nullable=True, comment="JSON"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        comment="all work that is or was to be done by a worker; the id is its resource's",
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index("ix_runs_state_created_at", ["state", "created_at"], unique=False)

    op.create_table(
        "texts",
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="zstd"),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_texts")),
        comment="every text once, by the digest of its bytes",
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.String(length=80), nullable=False, comment="space-separated"),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("team_id", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("request", sa.Text(), nullable=False, comment="JSON, texts left out"),
        sa.Column("state", sa.String(length=10), nullable=True, comment="set together with document"),
        sa.Column("document", sa.LargeBinary(), nullable=True, comment="the final answer, ready to send"),
        sa.Column("etag", sa.String(length=64), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["id"], ["runs.id"], name=op.f("fk_jobs_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index("ix_jobs_owner_id", ["owner", "id"], unique=False)

    op.create_table(
        "owned_texts",
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column(
            "name",
            sa.String(length=160),
            nullable=False,
            comment="which text of its owner: gold, systems/0, gold/source",
        ),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.ForeignKeyConstraint(["digest"], ["texts.digest"], name=op.f("fk_owned_texts_digest")),
        sa.PrimaryKeyConstraint("owner", "name", name=op.f("pk_owned_texts")),
    )
    with op.batch_alter_table("owned_texts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_owned_texts_digest"), ["digest"], unique=False)
