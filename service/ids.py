"""Names of resources: a prefix and a ULID, so that they sort by time. Tokens: 256 random bits."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime

from ulid import ULID

TOKEN_PREFIX = "ts_"  # noqa: S105 - a prefix, no secret


def new_id(prefix: str, now: datetime) -> str:
    """A fresh name, e.g. `job_01K...`."""
    return f"{prefix}_{ULID.from_datetime(now)}"


def new_token() -> str:
    """A fresh bearer token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """What the store keeps of a token; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()
