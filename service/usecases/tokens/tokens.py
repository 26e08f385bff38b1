"""Create, list and revoke tokens that belong to no team."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from service.caller import Caller
from service.context import Context
from service.errors import NotFound, Unprocessable, counted
from service.ids import new_id, new_token, token_hash
from service.requests import PageQuery, TokenRequest
from service.store import tokens
from service.usecases.events.record import record_event
from service.usecases.runs.views import Page, moment
from treescore.errors import Problem


def create_token(context: Context, caller: Caller, request: TokenRequest) -> dict[str, object]:
    """Create a token. Only this answer has its text.

    Raises:
        Unprocessable: it would expire in the past.
    """
    caller.require("organise")
    now = context.now()
    if request.expires_at is not None and request.expires_at <= now:
        problem = Problem(code="past-moment", pointer="/expires_at", detail="This must be a time in the future.")
        raise Unprocessable(counted(1), problems=[problem])
    text, token_id = new_token(), new_id("tok", now)
    row = {
        "id": token_id,
        "hash": token_hash(text),
        "scopes": " ".join(sorted(set(request.scopes))),
        "name": request.name,
        "team_id": None,
        "benchmark_id": None,
        "created_at": now,
        "expires_at": None if request.expires_at is None else request.expires_at.astimezone(UTC),
    }
    with context.store.write() as db:
        tokens.add(db, row)
        stored = tokens.by_id(db, token_id)
        record_event(db, context, "token.created", None, actor=caller.owner, subject=token_id)
    return {**_document(stored), "token": text}


def list_tokens(context: Context, caller: Caller, query: PageQuery) -> Page:
    """List all tokens, newest first, without their texts."""
    caller.require("organise")
    with context.store.read() as db:
        rows = tokens.listing(db, query.cursor, query.limit + 1)
    more = len(rows) > query.limit
    return Page([_document(row) for row in rows[: query.limit]], rows[query.limit - 1].id if more else None)


def revoke_token(context: Context, caller: Caller, token_id: str) -> None:
    """Revoke a token.

    Raises:
        NotFound: no valid token has this id.
    """
    caller.require("organise")
    with context.store.write() as db:
        if not tokens.revoke(db, token_id, context.now()):
            raise NotFound(f"Unknown or revoked token {token_id}.")
        record_event(db, context, "token.revoked", None, actor=caller.owner, subject=token_id)


def _document(row: Any) -> dict[str, object]:
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
