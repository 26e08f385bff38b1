"""Make ids of resources (a prefix and a ULID, which sort by time) and tokens (256 random bits)."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime

from ulid import ULID

TOKEN_PREFIX = "ts_"  # noqa: S105 - a prefix, no secret


def new_id(prefix: str, now: datetime) -> str:
    """Make a new id, as `job_01K...`."""
    return f"{prefix}_{ULID.from_datetime(now)}"


def new_token() -> str:
    """Make a new bearer token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return the hash of a token that the store keeps; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()
