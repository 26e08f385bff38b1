"""All tables. Times are UTC; bodies are bytes ready to send or zstd-packed, as each column says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

if TYPE_CHECKING:
    UtcDecorator = TypeDecorator[datetime]
else:
    UtcDecorator = TypeDecorator

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Utc(UtcDecorator):
    """An aware time in UTC, whatever the database keeps."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """To UTC on the way in."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Aware on the way out (SQLite forgets the zone)."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def _id(name: str = "id", **options: bool) -> Column[str]:
    return Column(name, String(64), **options)  # type: ignore[arg-type]


texts = Table(
    "texts",
    metadata,
    Column("digest", String(80), primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False, comment="zstd"),
    comment="every text once, by the digest of its bytes",
)

tokens = Table(
    "tokens",
    metadata,
    _id(primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scopes", String(80), nullable=False, comment="space-separated"),
    Column("name", Text),
    _id("team_id", nullable=True),
    Column("created_at", Utc, nullable=False),
    Column("expires_at", Utc),
    Column("last_used_at", Utc),
    Column("revoked_at", Utc),
)

runs = Table(
    "runs",
    metadata,
    _id(primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("queue", String(10), nullable=False),
    Column("state", String(10), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("created_at", Utc, nullable=False),
    Column("started_at", Utc),
    Column("finished_at", Utc),
    Column("progress", Text, comment="JSON"),
    Index("ix_runs_state_created_at", "state", "created_at"),
    comment="all work that is or was to be done by a worker; the id is its resource's",
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(64), ForeignKey("runs.id"), primary_key=True),
    _id("owner", nullable=False),
    Column("request", Text, nullable=False, comment="JSON, texts left out"),
    Column("state", String(10), comment="set together with document"),
    Column("document", LargeBinary, comment="the final answer, ready to send"),
    Column("etag", String(64)),
    Column("deleted_at", Utc),
    Index("ix_jobs_owner_id", "owner", "id"),
)

owned_texts = Table(
    "owned_texts",
    metadata,
    _id("owner", primary_key=True),
    Column("name", String(160), primary_key=True, comment="which text of its owner: gold, systems/0, gold/source"),
    Column("digest", String(80), ForeignKey("texts.digest"), nullable=False, index=True),
)

artifacts = Table(
    "artifacts",
    metadata,
    _id("owner", primary_key=True),
    Column("name", String(200), primary_key=True, comment="what it is: counts, items, slices, report of a metric"),
    Column("page", Integer, primary_key=True, default=0),
    Column("body", LargeBinary, nullable=False, comment="zstd"),
    comment="what a worker made for later questions",
)

idempotency = Table(
    "idempotency",
    metadata,
    _id("owner", primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("digest", String(80), nullable=False),
    _id("resource", nullable=False),
    Column("created_at", Utc, nullable=False),
)
