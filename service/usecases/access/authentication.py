"""Authenticate callers by their tokens."""

from __future__ import annotations

import hmac
from datetime import timedelta

from service.caller import ADMIN, Caller
from service.context import Context
from service.errors import Unauthorized
from service.ids import token_hash
from service.store import tokens
from service.usecases.runs.views import moment

USE_RESOLUTION = timedelta(minutes=5)
"""Precision of `last_used_at`, so that not every read writes."""


def authenticate(context: Context, bearer: str | None, address: str | None = None) -> Caller:
    """Return the caller of a bearer token; without one, the anonymous caller of the client's address.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
    """
    if bearer is None:
        return Caller(None, frozenset({"score"} if context.config.anonymous_jobs else ()), address=address)
    admin = context.config.admin_token
    if admin and hmac.compare_digest(bearer.encode(), admin.encode()):
        return Caller(ADMIN, frozenset({"organise"}), address=address)
    now = context.now()
    row = tokens.by_hash(context.store, token_hash(bearer))
    if row is None or row.revoked_at is not None:
        raise Unauthorized("The token is unknown or was revoked.")
    if row.expires_at is not None and row.expires_at <= now:
        raise Unauthorized(f"The token expired at {moment(row.expires_at)}.")
    if row.last_used_at is None or now - row.last_used_at > USE_RESOLUTION:
        with context.store.write() as db:
            tokens.note_use(db, row.id, now)
    return Caller(row.id, frozenset(row.scopes.split()), row.team_id, row.benchmark_id, address)
