"""Who is calling, and the tokens that say so."""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta
from typing import Any

from service.caller import Caller
from service.context import Context
from service.errors import NotFound, Unauthorized
from service.ids import new_id, new_token, token_hash
from service.store import tokens
from service.usecases.runs.views import Page, moment

SCOPES = ("organise", "submit", "score", "read")
ADMIN = "admin"
USE_RESOLUTION = timedelta(minutes=5)
"""`last_used_at` is kept this exact, so that reading does not write each time."""


def authenticate(context: Context, bearer: str | None) -> Caller:
    """The caller behind a bearer token, or the anonymous one.

    Raises:
        Unauthorized: the token is unknown, has expired or was revoked.
    """
    if bearer is None:
        return Caller(None, frozenset({"score"} if context.config.anonymous_jobs else ()))
    admin = context.config.admin_token
    if admin and hmac.compare_digest(bearer.encode(), admin.encode()):
        return Caller(ADMIN, frozenset({"organise"}))
    now = context.now()
    row = tokens.known(context.store, token_hash(bearer))
    if row is None or row.revoked_at is not None:
        raise Unauthorized("The token is unknown or was revoked.")
    if row.expires_at is not None and row.expires_at <= now:
        raise Unauthorized(f"The token expired at {moment(row.expires_at)}.")
    if row.last_used_at is None or now - row.last_used_at > USE_RESOLUTION:
        with context.store.write() as db:
            tokens.note_use(db, row.id, now)
    return Caller(row.id, frozenset(row.scopes.split()), row.team_id, row.benchmark_id)


def create_token(
    context: Context,
    caller: Caller,
    scopes: list[str],
    expires_at: datetime | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Make a token. Its text is in the answer, this once."""
    caller.require("organise")
    now = context.now()
    text = new_token()
    row = {
        "id": new_id("tok", now),
        "hash": token_hash(text),
        "scopes": " ".join(sorted(set(scopes))),
        "name": name,
        "team_id": None,
        "benchmark_id": None,
        "created_at": now,
        "expires_at": expires_at,
    }
    with context.store.write() as db:
        tokens.add(db, row)
        stored = tokens.by_id(db, str(row["id"]))
    return {**_document(stored), "token": text}


def list_tokens(context: Context, caller: Caller, cursor: str | None, limit: int) -> Page:
    """All tokens, newest first, without their texts."""
    caller.require("organise")
    with context.store.read() as db:
        rows = tokens.listing(db, cursor, limit + 1)
    return Page([_document(row) for row in rows[:limit]], rows[limit - 1].id if len(rows) > limit else None)


def revoke_token(context: Context, caller: Caller, token_id: str) -> None:
    """End a token at once.

    Raises:
        NotFound: there is none of this id that still works.
    """
    caller.require("organise")
    with context.store.write() as db:
        if not tokens.revoke(db, token_id, context.now()):
            raise NotFound(f"There is no valid token {token_id}.")


def _document(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "scopes": row.scopes.split(),
        "benchmark": row.benchmark_id,
        "team": row.team_id,
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "last_used_at": moment(row.last_used_at),
        "revoked_at": moment(row.revoked_at),
    }
