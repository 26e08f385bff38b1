"""Benchmarks: revisions, teams, submissions, scores, comparisons, events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "benchmarks",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("series", sa.String(length=64), nullable=True),
        sa.Column("settings", sa.Text(), nullable=False, comment="JSON: what PATCH may change"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False, comment="counts changes of the benchmark itself"),
        sa.Column("board_version", sa.Integer(), nullable=False, comment="counts changes of anything on its board"),
        sa.Column("active_revision", sa.Integer(), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_benchmarks")),
    )
    op.create_table(
        "events",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=True),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=64), nullable=True),
        sa.Column("team_id", sa.String(length=64), nullable=True),
        sa.Column("subject", sa.String(length=64), nullable=True),
        sa.Column("data", sa.Text(), nullable=False, comment="JSON"),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_events")),
        sa.UniqueConstraint("id", name=op.f("uq_events_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index("ix_events_benchmark_id_seq", ["benchmark_id", "seq"], unique=False)

    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
        comment="random keys of this store, made when first needed",
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=True),
        sa.Column("team_id", sa.String(length=64), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("kinds", sa.Text(), nullable=False, comment="space-separated; empty for all"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False, comment="in a row"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "board_comparisons",
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("score", sa.String(length=120), nullable=False),
        sa.Column(
            "run_id", sa.String(length=64), nullable=True, comment="whoever makes it at the moment, or made it last"
        ),
        sa.Column("board_version", sa.Integer(), nullable=False, comment="the board that it was made for"),
        sa.Column("document", sa.LargeBinary(), nullable=True, comment="zstd"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_board_comparisons_benchmark_id")),
        sa.PrimaryKeyConstraint("benchmark_id", "revision", "score", name=op.f("pk_board_comparisons")),
        comment="the all-pairs comparison behind each board",
    )
    op.create_table(
        "comparisons",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False, comment="JSON"),
        sa.Column("run_id", sa.String(length=64), nullable=False, comment="the current attempt"),
        sa.Column("document", sa.LargeBinary(), nullable=True, comment="the final answer, zstd"),
        sa.Column("etag", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_comparisons_benchmark_id")),
        sa.ForeignKeyConstraint(["id"], ["runs.id"], name=op.f("fk_comparisons_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparisons")),
        comment="significance tests; the id is a digest of the question",
    )
    with op.batch_alter_table("comparisons", schema=None) as batch_op:
        batch_op.create_index("ix_comparisons_benchmark_id_id", ["benchmark_id", "id"], unique=False)

    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("webhook_id", sa.String(length=64), nullable=False),
        sa.Column("event_seq", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("last_status", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["event_seq"], ["events.seq"], name=op.f("fk_deliveries_event_seq")),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name=op.f("fk_deliveries_webhook_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("webhook_id", "event_seq", name=op.f("uq_deliveries_webhook_id")),
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index("ix_deliveries_state_next_at", ["state", "next_at"], unique=False)

    op.create_table(
        "revisions",
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("ruler", sa.Text(), nullable=False, comment="JSON: format, transforms, metrics, main_score"),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True, comment="JSON"),
        sa.Column("moved", sa.LargeBinary(), nullable=True, comment="JSON, zstd"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("activated_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_revisions_benchmark_id")),
        sa.ForeignKeyConstraint(["id"], ["runs.id"], name=op.f("fk_revisions_id")),
        sa.PrimaryKeyConstraint("benchmark_id", "number", name=op.f("pk_revisions")),
        sa.UniqueConstraint("id", name=op.f("uq_revisions_id")),
        comment="gold and metrics, immutable; gold texts belong to the id",
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("team_id", sa.String(length=64), nullable=True, comment="none for a baseline of the organisers"),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("role", sa.String(length=10), nullable=False, comment="system or baseline"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("utc_day", sa.String(length=10), nullable=False, comment="whose quota it uses"),
        sa.Column("run_id", sa.String(length=64), nullable=False, comment="the current attempt"),
        sa.Column("state", sa.String(length=10), nullable=False, comment="queued until final; runs know more"),
        sa.Column(
            "failure_kind", sa.String(length=10), nullable=True, comment="of a failed one: input, limit or service"
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outputs", sa.Text(), nullable=False, comment="JSON: part -> digest, bytes, sentences, words"),
        sa.Column("outputs_digest", sa.String(length=80), nullable=False, comment="of all outputs together"),
        sa.Column("failures", sa.Text(), nullable=False, comment="JSON: records of failed attempts, oldest first"),
        sa.Column("chosen", sa.Boolean(), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "output_deleted_at", sa.DateTime(timezone=True), nullable=True, comment="outputs are kept for a time only"
        ),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_submissions_benchmark_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_submissions_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        comment="outputs belong to the id",
    )
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.create_index("ix_submissions_benchmark_id_id", ["benchmark_id", "id"], unique=False)
        batch_op.create_index("ix_submissions_equal", ["benchmark_id", "outputs_digest"], unique=False)
        batch_op.create_index("ix_submissions_run_id", ["run_id"], unique=False)
        batch_op.create_index("ix_submissions_team", ["benchmark_id", "team_id", "utc_day"], unique=False)

    op.create_table(
        "teams",
        sa.Column("benchmark_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmarks.id"], name=op.f("fk_teams_benchmark_id")),
        sa.PrimaryKeyConstraint("benchmark_id", "id", name=op.f("pk_teams")),
    )
    op.create_table(
        "parts",
        sa.Column("revision_id", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("sentences", sa.Integer(), nullable=True, comment="known once gold was checked"),
        sa.Column("words", sa.Integer(), nullable=True),
        sa.Column("gold_key", sa.String(length=80), nullable=True, comment="keyed digest of gold"),
        sa.ForeignKeyConstraint(["revision_id"], ["revisions.id"], name=op.f("fk_parts_revision_id")),
        sa.PrimaryKeyConstraint("revision_id", "name", name=op.f("pk_parts")),
    )
    op.create_table(
        "scores",
        sa.Column("submission_id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "main",
            sa.Float(),
            nullable=True,
            comment="the main score: the mean of parts where there are several; null where undefined",
        ),
        sa.Column("figures", sa.LargeBinary(), nullable=False, comment="float64, see score_records"),
        sa.Column("document", sa.LargeBinary(), nullable=False, comment="JSON, zstd: everything that scoring found"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_scores_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", "revision", name=op.f("pk_scores")),
        comment="one record for a submission and a revision; counts, items, slices are artifacts of the submission",
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.add_column(sa.Column("benchmark_id", sa.String(length=64), nullable=True))
        batch_op.create_index("ix_tokens_benchmark_id_team_id", ["benchmark_id", "team_id"], unique=False)
