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


def authenticate(context: Context, bearer: str | None, address: str = "", *, local: bool = True) -> Caller:
    """Return the caller of a bearer token; without one, the anonymous caller of the client's address.

    Args:
        context: of the service.
        bearer: the token, if the caller sent one.
        address: of the caller.
        local: whether the caller is a program of this machine.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
    """
    if bearer is None:
        open_to_all = {"true": True, "false": False}.get(context.config.anonymous_jobs)
        may_score = context.config.on_loopback and local if open_to_all is None else open_to_all
        return Caller(None, frozenset({"score"} if may_score else ()), address=address)
    return caller_by_hash(context, token_hash(bearer), address)


def caller_by_hash(context: Context, hashed: str, address: str = "") -> Caller:
    """Return the caller of the token with this hash.

    Raises:
        Unauthorized: the token is unknown, expired or revoked.
    """
    admin = context.config.admin_token
    if admin and hmac.compare_digest(hashed, token_hash(admin)):
        return Caller(ADMIN, frozenset({"organise"}), address=address)
    now = context.now()
    row = tokens.by_hash(context.store, hashed)
    if row is None or row.revoked_at is not None:
        raise Unauthorized("The token is unknown or was revoked.")
    if row.expires_at is not None and row.expires_at <= now:
        raise Unauthorized(f"The token expired at {moment(row.expires_at)}.")
    if row.last_used_at is None or now - row.last_used_at > USE_RESOLUTION:
        with context.store.write() as db:
            tokens.note_use(db, row.id, now)
    return Caller(row.id, frozenset(row.scopes.split()), row.team_id, row.benchmark_id, address)
