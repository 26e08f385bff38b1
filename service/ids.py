"""Make ids of resources (a prefix and a ULID, which sorts by time) and secrets (256 random bits)."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime

from ulid import PureRandomPolicy, ULIDGenerator

TOKEN_PREFIX = "ts_"  # noqa: S105 - a prefix, no secret
_ULIDS = ULIDGenerator(policy=PureRandomPolicy())
"""80 random bits each: by default, ids of one millisecond are successive numbers, so one would tell the next."""


def new_id(prefix: str, now: datetime) -> str:
    """Make a new id, as `job_01K...`."""
    return f"{prefix}_{_ULIDS.generate(now)}"


def new_token() -> str:
    """Make a new bearer token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def new_job_key() -> str:
    """Make a new key of an anonymous job."""
    return secrets.token_urlsafe(32)


def new_invite() -> str:
    """Make the secret of a new invite, which is part of an address."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return the hash of a token, key or invite that the store keeps; 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()
