"""The tables of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the tables of an empty store."""
    _access()
    _work()
    _benchmarks()
    _submissions()
    _comparisons()
    _events()


def _access() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("scopes", sa.String(80), nullable=False, comment="space-separated"),
        sa.Column("name", sa.Text),
        sa.Column("team_id", sa.String(64)),
        sa.Column("benchmark_id", sa.String(64)),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT),
        sa.Column("last_used_at", MOMENT),
        sa.Column("revoked_at", MOMENT),
        sa.Index("ix_tokens_benchmark_id_team_id", "benchmark_id", "team_id"),
    )
    op.create_table(
        "sessions",
        sa.Column("hash", sa.String(64), primary_key=True, comment="of the value of the cookie"),
        sa.Column("token_hash", sa.String(64), nullable=False, index=True, comment="of the token that was pasted"),
        sa.Column("token_id", sa.String(64), nullable=False),
        sa.Column("csrf", sa.String(64), nullable=False, comment="value that forms carry"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False, comment="to the minute"),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("as_benchmark", sa.String(64)),
        sa.Column("as_team", sa.String(64)),
        comment="signed-in browsers; as_*: the team through whose eyes an organiser looks",
    )
    op.create_table(
        "idempotency",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(255), primary_key=True),
        sa.Column("digest", sa.String(80), nullable=False),
        sa.Column("resource", sa.String(64), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        comment="random keys of this store, created on first use",
    )


def _work() -> None:
    op.create_table(
        "texts",
        sa.Column("digest", sa.String(80), primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False, comment="zstd"),
        comment="each text once, by the digest of its bytes",
    )
    op.create_table(
        "owned_texts",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(160), primary_key=True, comment="gold, systems/0, gold/source, ..."),
        sa.Column("digest", sa.String(80), sa.ForeignKey("texts.digest"), nullable=False, index=True),
    )
    op.create_table(
        "artifacts",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True, comment="counts, bits of tokens, report of a metric"),
        sa.Column("body", sa.LargeBinary, nullable=False, comment="zstd"),
        comment="results that a worker stored for later requests",
    )
    op.create_table(
        "views",
        sa.Column("key", sa.String(64), primary_key=True, comment="digest of the question"),
        sa.Column("owner", sa.String(64), nullable=False, index=True),
        sa.Column("other", sa.String(64), index=True, comment="the second owner, of a question about two outputs"),
        sa.Column("principal", sa.String(160), nullable=False, comment="who asked first"),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False, comment="JSON"),
        sa.Column("size", sa.Integer, nullable=False, comment="bytes of the body"),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT, nullable=False, comment="to the hour"),
        sa.Column("body", sa.LargeBinary, comment="JSON, zstd: the document, or the refusal; null until there is one"),
        sa.Index("ix_views_state_used_at", "state", "used_at", "size"),
        comment="documents that are derived from the texts of their owners, made when they are asked for",
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("queue", sa.String(10), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("finished_at", MOMENT),
        sa.Column("progress", sa.Text, comment="JSON"),
        sa.Column("principal", sa.String(160), nullable=False, comment="whose work it is"),
        sa.Column("precedence", sa.Integer, nullable=False, comment="lower ones begin first in a queue"),
        sa.Column("turn", sa.Integer, nullable=False, comment="lower ones begin first in a precedence"),
        sa.Column("not_before", MOMENT, comment="held until then; null: not held"),
        sa.Column("request_id", sa.String(128), comment="the request it comes from, for the log"),
        sa.Column("trace", sa.String(64), comment="the span it comes from: traceparent of W3C Trace Context"),
        sa.Index("ix_runs_next", "queue", "state", "precedence", "turn", "created_at"),
        sa.Index("ix_runs_principal_state", "principal", "state", "queue", "precedence", "turn"),
        sa.Index("ix_runs_started_at", "started_at"),
        sa.Index("ix_runs_state_created_at", "state", "created_at"),
        comment="the work of workers, past and present; the id is that of its resource",
    )
    op.create_table(
        "turns",
        sa.Column("queue", sa.String(10), primary_key=True),
        sa.Column("precedence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("principal", sa.String(160), primary_key=True, comment="empty for the last turn of all"),
        sa.Column("turn", sa.Integer, nullable=False),
        comment="the last turn that was begun, by principal",
    )
    op.create_table(
        "pieces",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("run_id", sa.String(64), sa.ForeignKey("runs.id"), nullable=False, index=True),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("version", sa.String(40), nullable=False, comment="of the program"),
        sa.Column("first", sa.Integer, nullable=False, comment="position of its first part"),
        sa.Column("last", sa.Integer, nullable=False, comment="position after its last part"),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("done", sa.Integer, nullable=False, comment="parts"),
        sa.Column("holder", sa.String(64), comment="what names the work on it in Redis; null where it is free"),
        sa.Column("body", sa.LargeBinary, comment="zstd: the result; null until there is one"),
        comment="parts of a large submission under way, deleted when its run ends",
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(64), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("request", sa.Text, nullable=False, comment="JSON, texts left out"),
        sa.Column("state", sa.String(10), comment="set together with document"),
        sa.Column("document", sa.LargeBinary, comment="the final answer, ready to send"),
        sa.Column("etag", sa.String(64)),
        sa.Column("deleted_at", MOMENT),
        sa.Column("key_hash", sa.String(64), comment="of the key that changes an anonymous job"),
        sa.Index("ix_jobs_owner_id", "owner", "id"),
    )


def _benchmarks() -> None:
    op.create_table(
        "benchmarks",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("series", sa.String(64)),
        sa.Column("settings", sa.Text, nullable=False, comment="JSON: what PATCH may change"),
        sa.Column("closed_from", MOMENT, comment="first moment at which it is closed"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("version", sa.Integer, nullable=False, comment="counts changes of the benchmark itself"),
        sa.Column("board_version", sa.Integer, nullable=False, comment="counts changes of anything on its board"),
        sa.Column("active_revision", sa.Integer),
        sa.Column("deleted_at", MOMENT),
    )
    op.create_table(
        "revisions",
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(64), sa.ForeignKey("runs.id"), nullable=False, unique=True),
        sa.Column("scoring", sa.Text, nullable=False, comment="JSON: format, transforms, metrics, main_score"),
        sa.Column("reason", sa.Text, comment="for organisers"),
        sa.Column("public_reason", sa.Text),
        sa.Column("dry_run", sa.Boolean, nullable=False),
        sa.Column("state", sa.String(12), nullable=False),
        sa.Column("failure", sa.Text, comment="JSON"),
        sa.Column("moved", sa.LargeBinary, comment="JSON, zstd"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("activated_at", MOMENT),
        comment="gold and metrics, immutable; gold texts are stored under the id",
    )
    op.create_table(
        "parts",
        sa.Column("revision_id", sa.String(64), sa.ForeignKey("revisions.id"), primary_key=True),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("sentences", sa.Integer, comment="known once gold was checked"),
        sa.Column("words", sa.Integer),
        sa.Column("gold_key", sa.String(80), comment="keyed digest of gold"),
        sa.Column("sentence_keys", sa.LargeBinary, comment="zstd: keyed digests of the columns of each sentence"),
    )
    op.create_table(
        "teams",
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), primary_key=True),
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("contact", sa.Text, comment="for organisers"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("erased_at", MOMENT),
    )
    op.create_table(
        "invites",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("teams_at_most", sa.Integer, nullable=False),
        sa.Column("teams", sa.Integer, nullable=False, comment="that were made with it"),
        sa.Column("deleted_at", MOMENT),
        sa.Index("ix_invites_benchmark_id_id", "benchmark_id", "id"),
        comment="secrets with which strangers make teams, hashed",
    )


def _submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), nullable=False),
        sa.Column("team_id", sa.String(64), comment="null for a baseline of the organisers"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("notes", sa.Text),
        sa.Column("links", sa.Text, comment="JSON: paper, code, model"),
        sa.Column("role", sa.String(10), nullable=False, comment="system or baseline"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("utc_day", sa.String(10), nullable=False, comment="the day to whose quota it is charged"),
        sa.Column("run_id", sa.String(64), sa.ForeignKey("runs.id"), nullable=False, comment="the current attempt"),
        sa.Column("attempt", sa.Integer, nullable=False, comment="number of the current attempt"),
        sa.Column("state", sa.String(10), nullable=False, comment="queued until final; the run has more"),
        sa.Column("failure_kind", sa.String(10), comment="of a failed one: input, limit or service"),
        sa.Column("finished_at", MOMENT),
        sa.Column(
            "outputs", sa.Text, nullable=False, comment="JSON: part -> digest, bytes, sentences, words, annotation"
        ),
        sa.Column("outputs_digest", sa.String(80), nullable=False, comment="of all outputs together"),
        sa.Column("failures", sa.Text, nullable=False, comment="JSON: records of failed attempts, oldest first"),
        sa.Column("chosen", sa.Boolean, nullable=False),
        sa.Column("withdrawn_at", MOMENT),
        sa.Column("deleted_at", MOMENT),
        sa.Column("output_deleted_at", MOMENT, comment="outputs expire"),
        sa.Column("run_of", sa.String(64), comment="the submission of whose system it is another training run"),
        sa.Index("ix_submissions_benchmark_id_id", "benchmark_id", "id"),
        sa.Index("ix_submissions_equal", "benchmark_id", "outputs_digest"),
        sa.Index("ix_submissions_run_id", "run_id"),
        sa.Index("ix_submissions_team", "benchmark_id", "team_id", "utc_day"),
        comment="outputs are stored under the id",
    )
    op.create_table(
        "validations",
        sa.Column("id", sa.String(64), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), nullable=False),
        sa.Column("team_id", sa.String(64), nullable=False),
        sa.Column("utc_day", sa.String(10), nullable=False, comment="the day to whose quota it is charged"),
        sa.Column("refunded", sa.Boolean, nullable=False, comment="it failed through an internal error"),
        sa.Index("ix_validations_team", "benchmark_id", "team_id", "utc_day"),
        comment="validations of teams, which count as attempts; the id is that of the job",
    )
    op.create_table(
        "scores",
        sa.Column("submission_id", sa.String(64), sa.ForeignKey("submissions.id"), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column(
            "main", sa.Float, comment="the main score: the mean of parts where there are several; null where undefined"
        ),
        sa.Column("figures", sa.LargeBinary, nullable=False, comment="float64, see figures.py"),
        sa.Column("document", sa.LargeBinary, nullable=False, comment="JSON, zstd: the whole result"),
        sa.Column("covered", sa.Text, nullable=False, comment="JSON: sentences with a scored output, part by part"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("rung", sa.Integer, comment="of a ladder; 0: it is held"),
        sa.Column(
            "private_main",
            sa.Float,
            comment="main over the private share; main, figures, document are then of the public",
        ),
        sa.Column(
            "private_figures", sa.LargeBinary, comment="figures over the private share; null where there is none"
        ),
        sa.Column(
            "private_metrics", sa.LargeBinary, comment="JSON, zstd: what the private share changes in the document"
        ),
        comment="one record for a submission and a revision; counts are artifacts of the submission",
    )
    op.create_table(
        "ladders",
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), primary_key=True),
        sa.Column("team_id", sa.String(64), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("rung", sa.Integer, nullable=False, comment="scores released so far"),
        sa.Column("counts", sa.LargeBinary, nullable=False, comment="zstd: those of the last released score"),
        comment="the shown best of each team under a ladder; it outlives the submission",
    )


def _comparisons() -> None:
    op.create_table(
        "comparisons",
        sa.Column("id", sa.String(64), sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False, comment="JSON"),
        sa.Column("run_id", sa.String(64), nullable=False, comment="the current attempt"),
        sa.Column("attempt", sa.Integer, nullable=False, comment="number of the current attempt"),
        sa.Column("document", sa.LargeBinary, comment="the final answer, zstd"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("deleted_at", MOMENT, comment="the row stays: the question may be asked again"),
        sa.Index("ix_comparisons_benchmark_id_id", "benchmark_id", "id"),
        comment="significance tests; the id is a digest of the question",
    )
    op.create_table(
        "comparison_asks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("comparison_id", sa.String(64), nullable=False, index=True, comment="stored in the same transaction"),
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), nullable=False),
        sa.Column("team_id", sa.String(64), comment="null for organisers"),
        sa.Column("utc_day", sa.String(10), nullable=False, comment="the day to whose quota it is charged"),
        sa.Column("charged", sa.Boolean, nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.Column("dropped_at", MOMENT, comment="the asker deleted it; the charge stays"),
        sa.Index("ix_comparison_asks_team", "benchmark_id", "team_id", "utc_day"),
        comment="who asked which comparison",
    )
    op.create_table(
        "board_comparisons",
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("key", sa.String(120), primary_key=True, comment="which board: score, part, pick, frozen or not"),
        sa.Column("run_id", sa.String(64), comment="the run that made it"),
        sa.Column("board_version", sa.Integer, nullable=False, comment="the board that it was made for"),
        sa.Column("comparison_id", sa.String(64), index=True, comment="of its question"),
        sa.Column("document", sa.LargeBinary, comment="zstd"),
        sa.Column("created_at", MOMENT, nullable=False),
        comment="the all-pairs comparison behind each board",
    )
    op.create_table(
        "board_runs",
        sa.Column("benchmark_id", sa.String(64), sa.ForeignKey("benchmarks.id"), primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("run_id", sa.String(64), sa.ForeignKey("runs.id"), nullable=False, index=True),
        comment="the last run that makes or made the comparisons of a revision's boards",
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("benchmark_id", sa.String(64)),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("actor", sa.String(64)),
        sa.Column("team_id", sa.String(64)),
        sa.Column("subject", sa.String(64)),
        sa.Column("data", sa.Text, nullable=False, comment="JSON"),
        sa.Index("ix_events_benchmark_id_seq", "benchmark_id", "seq"),
        sa.Index("ix_events_actor_seq", "actor", "seq"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("benchmark_id", sa.String(64)),
        sa.Column("team_id", sa.String(64)),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("kinds", sa.Text, nullable=False, comment="space-separated; empty for all"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("disabled_at", MOMENT),
        sa.Column("failures", sa.Integer, nullable=False, comment="in a row"),
        sa.Column("old_secret", sa.Text, comment="signs beside the other until old_secret_until"),
        sa.Column("old_secret_until", MOMENT),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("webhook_id", sa.String(64), sa.ForeignKey("webhooks.id"), nullable=False),
        sa.Column("event_seq", sa.Integer, sa.ForeignKey("events.seq"), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", MOMENT),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("last_status", sa.Integer),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("attempted_at", MOMENT, comment="the last time"),
        sa.Index("ix_deliveries_state_next_at", "state", "next_at"),
        sa.Index("ix_deliveries_webhook_id_id", "webhook_id", "id"),
    )
