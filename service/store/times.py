"""Times in the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import DateTime, Dialect, TypeDecorator

if TYPE_CHECKING:
    UtcDecorator = TypeDecorator[datetime]
else:
    UtcDecorator = TypeDecorator


class Utc(UtcDecorator):
    """An aware time in UTC, also on databases that store no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Convert to UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Add the time zone, which SQLite does not store."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value
