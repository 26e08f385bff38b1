"""All tables, times as they stand in them, and records of their rows.

Times are UTC. Each column of bytes says whether they are ready to send or packed with zstd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
import sqlalchemy as sa
from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, LargeBinary, String, Text
from sqlalchemy.schema import SchemaItem

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Utc(sa.TypeDecorator[datetime]):
    """An aware time in UTC, also on databases that store no time zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002
        """Convert to UTC."""
        return None if value is None else value.astimezone(UTC)

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[Any], datetime | None] | None:
        """Return what reads a column."""
        return time_of if dialect.name == "sqlite" else super().result_processor(dialect, coltype)


def time_of(stored: str | datetime | None) -> datetime | None:
    """Return the time that a row of the driver holds: SQLite stores no time zone."""
    return datetime.fromisoformat(f"{stored}+00:00") if isinstance(stored, str) else stored


AnyRow = sa.Row[tuple[object, ...]]
Record = TypeVar("Record", bound="DataclassInstance")
Query = TypeVar("Query", bound=sa.Select[Any])
BATCH = 500
"""Ids of one statement."""


def record_of(kind: type[Record], row: AnyRow, prefix: str = "", **decoded: object) -> Record:
    """Make a record of a row, each field from the column of its name.

    Args:
        kind: the dataclass.
        row: as the database returns it.
        prefix: of the columns' names.
        decoded: fields whose columns hold JSON or packed bytes, decoded.
    """
    plain = {field.name: getattr(row, prefix + field.name) for field in fields(kind) if field.name not in decoded}
    return kind(**plain, **decoded)


def columns_of(record: DataclassInstance, **encoded: object) -> dict[str, object]:
    """Return the columns of a record, each from the field of its name; `encoded` replaces fields that are packed."""
    return {field.name: getattr(record, field.name) for field in fields(record)} | encoded


def one(db: sa.Connection, query: sa.Executable, make: Callable[[AnyRow], Record]) -> Record | None:
    """Return the record of the only row that a query selects, or None."""
    row = db.execute(query).one_or_none()
    return None if row is None else make(row)


def count(db: sa.Connection, query: sa.Executable) -> int:
    """Return the number that a query selects, 0 for null."""
    return int(db.scalar(query) or 0)


def narrowed(query: Query, *members: tuple[sa.ColumnElement[Any], object]) -> Query:
    """Select only the rows whose columns have the values that are not None."""
    return query.where(*(column == value for column, value in members if value is not None))


def page_from(query: Query, key: sa.ColumnElement[Any], after: object, limit: int | None) -> Query:
    """Select a page in the order of a key, behind one; None for the first page, and for no limit."""
    return (query if after is None else query.where(key > after)).order_by(key).limit(limit)


def page_down(query: Query, key: sa.ColumnElement[Any], before: object, limit: int) -> Query:
    """Select a page with the newest first, before a key; None for the first page."""
    return (query if before is None else query.where(key < before)).order_by(key.desc()).limit(limit)


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield ids, so many at a time as one statement takes."""
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def json_text(value: object) -> str:
    """Return a JSON value as columns of text hold it."""
    return orjson.dumps(value).decode()


metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _table(name: str, *parts: SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *parts, **options)


def _id(name: str = "id", **options: bool) -> Column[str]:
    return Column(name, String(64), **options)  # type: ignore[arg-type]


texts = _table(
    "texts",
    Column("digest", String(80), primary_key=True),
    Column("size", sa.BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False, comment="zstd"),
    comment="each text once, by the digest of its bytes",
)

tokens = _table(
    "tokens",
    _id(primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scopes", String(80), nullable=False, comment="space-separated"),
    Column("name", Text),
    _id("team_id", nullable=True),
    _id("benchmark_id", nullable=True),
    Column("created_at", Utc, nullable=False),
    Column("expires_at", Utc),
    Column("last_used_at", Utc),
    Column("revoked_at", Utc),
    Index("ix_tokens_benchmark_id_team_id", "benchmark_id", "team_id"),
)

sessions = _table(
    "sessions",
    Column("hash", String(64), primary_key=True, comment="of the value of the cookie"),
    Column("token_hash", String(64), nullable=False, index=True, comment="of the token that was pasted"),
    _id("token_id", nullable=False),
    Column("csrf", String(64), nullable=False, comment="value that forms carry"),
    Column("created_at", Utc, nullable=False),
    Column("seen_at", Utc, nullable=False, comment="to the minute"),
    Column("expires_at", Utc, nullable=False),
    _id("as_benchmark", nullable=True),
    _id("as_team", nullable=True),
    comment="signed-in browsers; as_*: the team through whose eyes an organiser looks",
)

runs = _table(
    "runs",
    _id(primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("queue", String(10), nullable=False),
    Column("state", String(10), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("created_at", Utc, nullable=False),
    Column("started_at", Utc),
    Column("finished_at", Utc),
    Column("progress", Text, comment="JSON"),
    Column("principal", String(160), nullable=False, comment="whose work it is"),
    Column("precedence", Integer, nullable=False, comment="lower ones begin first in a queue"),
    Column("turn", Integer, nullable=False, comment="lower ones begin first in a precedence"),
    Column("not_before", Utc, comment="held until then; null: not held"),
    Column("request_id", String(128), comment="the request it comes from, for the log"),
    Index("ix_runs_state_created_at", "state", "created_at"),
    Index("ix_runs_next", "queue", "state", "precedence", "turn", "created_at"),
    Index("ix_runs_principal_state", "principal", "state", "queue", "precedence", "turn"),
    Index("ix_runs_started_at", "started_at"),
    comment="the work of workers, past and present; the id is that of its resource",
)

turns = _table(
    "turns",
    Column("queue", String(10), primary_key=True),
    Column("precedence", Integer, primary_key=True, autoincrement=False),
    Column("principal", String(160), primary_key=True, comment="empty for the last turn of all"),
    Column("turn", Integer, nullable=False),
    comment="the last turn that was begun, by principal",
)

jobs = _table(
    "jobs",
    Column("id", String(64), ForeignKey("runs.id"), primary_key=True),
    _id("owner", nullable=False),
    Column("request", Text, nullable=False, comment="JSON, texts left out"),
    Column("state", String(10), comment="set together with document"),
    Column("document", LargeBinary, comment="the final answer, ready to send"),
    Column("etag", String(64)),
    Column("deleted_at", Utc),
    Column("key_hash", String(64), comment="of the key that changes an anonymous job"),
    Index("ix_jobs_owner_id", "owner", "id"),
)

owned_texts = _table(
    "owned_texts",
    _id("owner", primary_key=True),
    Column("name", String(160), primary_key=True, comment="gold, systems/0, gold/source, ..."),
    Column("digest", String(80), ForeignKey("texts.digest"), nullable=False, index=True),
)

artifacts = _table(
    "artifacts",
    _id("owner", primary_key=True),
    Column("name", String(200), primary_key=True, comment="counts, bits of tokens, report of a metric"),
    Column("body", LargeBinary, nullable=False, comment="zstd"),
    comment="results that a worker stored for later requests",
)

views = _table(
    "views",
    Column("key", String(64), primary_key=True, comment="digest of the question"),
    _id("owner", nullable=False, index=True),
    Column("other", String(64), index=True, comment="the second owner, of a question about two outputs"),
    Column("principal", String(160), nullable=False, comment="who asked first"),
    Column("state", String(10), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("question", Text, nullable=False, comment="JSON"),
    Column("size", Integer, nullable=False, comment="bytes of the body"),
    Column("asked_at", Utc, nullable=False),
    Column("used_at", Utc, nullable=False, comment="to the hour"),
    Column("body", LargeBinary, comment="JSON, zstd: the document, or the refusal; null until there is one"),
    Index("ix_views_state_used_at", "state", "used_at", "size"),
    comment="documents that are derived from the texts of their owners, made when they are asked for",
)

idempotency = _table(
    "idempotency",
    _id("owner", primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("digest", String(80), nullable=False),
    _id("resource", nullable=False),
    Column("created_at", Utc, nullable=False),
)

secrets = _table(
    "secrets",
    Column("name", String(40), primary_key=True),
    Column("value", LargeBinary, nullable=False),
    comment="random keys of this store, created on first use",
)

benchmarks = _table(
    "benchmarks",
    _id(primary_key=True),
    Column("title", Text, nullable=False),
    Column("series", String(64)),
    Column("settings", Text, nullable=False, comment="JSON: what PATCH may change"),
    Column("closed_from", Utc, comment="first moment at which it is closed"),
    Column("created_at", Utc, nullable=False),
    Column("updated_at", Utc, nullable=False),
    Column("version", Integer, nullable=False, comment="counts changes of the benchmark itself"),
    Column("board_version", Integer, nullable=False, comment="counts changes of anything on its board"),
    Column("active_revision", Integer),
    Column("deleted_at", Utc),
)

revisions = _table(
    "revisions",
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", String(64), ForeignKey("runs.id"), nullable=False, unique=True),
    Column("scoring", Text, nullable=False, comment="JSON: format, transforms, metrics, main_score"),
    Column("reason", Text, comment="for organisers"),
    Column("public_reason", Text),
    Column("dry_run", Boolean, nullable=False),
    Column("state", String(12), nullable=False),
    Column("failure", Text, comment="JSON"),
    Column("moved", LargeBinary, comment="JSON, zstd"),
    Column("created_at", Utc, nullable=False),
    Column("activated_at", Utc),
    comment="gold and metrics, immutable; gold texts are stored under the id",
)

parts = _table(
    "parts",
    Column("revision_id", String(64), ForeignKey("revisions.id"), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("sentences", Integer, comment="known once gold was checked"),
    Column("words", Integer),
    Column("gold_key", String(80), comment="keyed digest of gold"),
    Column("sentence_keys", LargeBinary, comment="zstd: keyed digests of the columns of each sentence"),
)

teams = _table(
    "teams",
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), primary_key=True),
    _id(primary_key=True),
    Column("name", Text, nullable=False),
    Column("contact", Text, comment="for organisers"),
    Column("created_at", Utc, nullable=False),
    Column("erased_at", Utc),
    Column("invite_id", String(64), comment="with which it joined"),
)

invites = _table(
    "invites",
    _id(primary_key=True),
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("created_at", Utc, nullable=False),
    Column("expires_at", Utc, nullable=False),
    Column("teams_at_most", Integer, nullable=False),
    Column("teams", Integer, nullable=False, comment="that were made with it"),
    Column("deleted_at", Utc),
    Index("ix_invites_benchmark_id_id", "benchmark_id", "id"),
    comment="secrets with which strangers make teams, hashed",
)

submissions = _table(
    "submissions",
    _id(primary_key=True),
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), nullable=False),
    Column("team_id", String(64), comment="null for a baseline of the organisers"),
    Column("name", Text, nullable=False),
    Column("notes", Text),
    Column("links", Text, comment="JSON: paper, code, model"),
    Column("role", String(10), nullable=False, comment="system or baseline"),
    Column("created_at", Utc, nullable=False),
    Column("utc_day", String(10), nullable=False, comment="the day to whose quota it is charged"),
    Column("run_id", String(64), ForeignKey("runs.id"), nullable=False, comment="the current attempt"),
    Column("attempt", Integer, nullable=False, comment="number of the current attempt"),
    Column("state", String(10), nullable=False, comment="queued until final; the run has more"),
    Column("failure_kind", String(10), comment="of a failed one: input, limit or service"),
    Column("finished_at", Utc),
    Column("outputs_digest", String(80), nullable=False, comment="of all outputs together"),
    Column("failures", Text, nullable=False, comment="JSON: records of failed attempts, oldest first"),
    Column("chosen", Boolean, nullable=False),
    Column("withdrawn_at", Utc),
    Column("withdrawn_reason", Text, comment="what an organiser who withdrew it tells its team"),
    Column("deleted_at", Utc),
    Column("output_deleted_at", Utc, comment="outputs expire"),
    Column("run_of", String(64), comment="the submission of whose system it is another training run"),
    Index("ix_submissions_benchmark_id_id", "benchmark_id", "id"),
    Index("ix_submissions_team", "benchmark_id", "team_id", "utc_day"),
    Index("ix_submissions_equal", "benchmark_id", "outputs_digest"),
    Index("ix_submissions_run_id", "run_id"),
    comment="outputs are stored under the id",
)

submission_outputs = _table(
    "submission_outputs",
    Column("submission_id", String(64), ForeignKey("submissions.id"), primary_key=True),
    Column("outputs", Text, nullable=False, comment="JSON: part -> digest, bytes, sentences, words, annotation"),
    comment="apart from the submissions, so that boards pass no wide column by",
)

validations = _table(
    "validations",
    Column("id", String(64), ForeignKey("runs.id"), primary_key=True),
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), nullable=False),
    _id("team_id", nullable=False),
    Column("utc_day", String(10), nullable=False, comment="the day to whose quota it is charged"),
    Column("refunded", Boolean, nullable=False, comment="it failed through an internal error"),
    Index("ix_validations_team", "benchmark_id", "team_id", "utc_day"),
    comment="validations of teams, which count as attempts; the id is that of the job",
)


def _of_record() -> list[Column[Any]]:
    return [
        Column("submission_id", String(64), ForeignKey("submissions.id"), primary_key=True),
        Column("revision", Integer, primary_key=True, autoincrement=False),
    ]


records = _table(
    "records",
    *_of_record(),
    Column("covered", Text, nullable=False, comment="JSON: sentences with a scored output, part by part"),
    Column("lacking", Text, nullable=False, comment="JSON: positions of the parts without a score"),
    Column("created_at", Utc, nullable=False),
    Column("rung", Integer, comment="of a ladder; 0: it is held"),
    comment="one score record for a submission and a revision; counts are artifacts of the submission",
)

results = _table(
    "results",
    *_of_record(),
    Column("share", String(10), primary_key=True, comment="public, private; empty for all of the test set"),
    *(
        Column(name, LargeBinary, nullable=False, comment="float64 of each score; NaN where undefined")
        for name in ("macro", "macro_low", "macro_high", "pooled", "pooled_low", "pooled_high")
    ),
    Column("parts", LargeBinary, nullable=False, comment="float64 of each score and part, score by score"),
    Column("document", LargeBinary, nullable=False, comment="JSON, zstd: the whole result"),
    comment="what a record says over a share: scores in the order of the revision's addresses; wide columns last",
)

ladders = _table(
    "ladders",
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), primary_key=True),
    _id("team_id", primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("rung", Integer, nullable=False, comment="scores released so far"),
    Column("counts", LargeBinary, nullable=False, comment="zstd: those of the last released score"),
    comment="the shown best of each team under a ladder; it outlives the submission",
)

comparisons = _table(
    "comparisons",
    Column("id", String(64), ForeignKey("runs.id"), primary_key=True),
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("question", Text, nullable=False, comment="JSON"),
    Column("run_id", String(64), nullable=False, comment="the current attempt"),
    Column("attempt", Integer, nullable=False, comment="number of the current attempt"),
    Column("document", LargeBinary, comment="the final answer, zstd"),
    Column("created_at", Utc, nullable=False),
    Column("deleted_at", Utc, comment="the row stays: the question may be asked again"),
    Index("ix_comparisons_benchmark_id_id", "benchmark_id", "id"),
    comment="significance tests; the id is a digest of the question",
)

comparison_asks = _table(
    "comparison_asks",
    Column("id", Integer, primary_key=True),
    Column("comparison_id", String(64), nullable=False, index=True, comment="stored in the same transaction"),
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), nullable=False),
    Column("team_id", String(64), comment="null for organisers"),
    Column("utc_day", String(10), nullable=False, comment="the day to whose quota it is charged"),
    Column("charged", Boolean, nullable=False),
    Column("asked_at", Utc, nullable=False),
    Column("dropped_at", Utc, comment="the asker deleted it; the charge stays"),
    Index("ix_comparison_asks_team", "benchmark_id", "team_id", "utc_day"),
    comment="who asked which comparison",
)

board_comparisons = _table(
    "board_comparisons",
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("key", String(120), primary_key=True, comment="which board: score, part, pick, frozen or not"),
    Column("run_id", String(64), comment="the run that made it"),
    Column("board_version", Integer, nullable=False, comment="the board that it was made for"),
    Column("comparison_id", String(64), index=True, comment="of its question"),
    Column("document", LargeBinary, comment="zstd"),
    Column("created_at", Utc, nullable=False),
    comment="the all-pairs comparison behind each board",
)

board_runs = _table(
    "board_runs",
    Column("benchmark_id", String(64), ForeignKey("benchmarks.id"), primary_key=True),
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("run_id", String(64), ForeignKey("runs.id"), nullable=False, index=True),
    comment="the last run that makes or made the comparisons of a revision's boards",
)

events = _table(
    "events",
    Column("seq", Integer, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    _id("benchmark_id", nullable=True),
    Column("kind", String(40), nullable=False),
    Column("at", Utc, nullable=False),
    _id("actor", nullable=True),
    _id("team_id", nullable=True),
    _id("subject", nullable=True),
    Column("data", Text, nullable=False, comment="JSON"),
    Index("ix_events_benchmark_id_seq", "benchmark_id", "seq"),
    Index("ix_events_actor_seq", "actor", "seq"),
    sqlite_autoincrement=True,
)

webhooks = _table(
    "webhooks",
    _id(primary_key=True),
    _id("owner", nullable=False),
    _id("benchmark_id", nullable=True),
    _id("team_id", nullable=True),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("kinds", Text, nullable=False, comment="space-separated; empty for all"),
    Column("created_at", Utc, nullable=False),
    Column("disabled_at", Utc),
    Column("failures", Integer, nullable=False, comment="in a row"),
)

deliveries = _table(
    "deliveries",
    _id(primary_key=True),
    Column("webhook_id", String(64), ForeignKey("webhooks.id"), nullable=False),
    Column("event_seq", Integer, ForeignKey("events.seq"), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", Utc),
    Column("state", String(10), nullable=False),
    Column("last_status", Integer),
    Column("created_at", Utc, nullable=False),
    Column("attempted_at", Utc, comment="the last time"),
    Index("ix_deliveries_state_next_at", "state", "next_at"),
    Index("ix_deliveries_webhook_id_id", "webhook_id", "id"),
)
