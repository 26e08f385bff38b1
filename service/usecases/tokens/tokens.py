"""Create, list and revoke tokens that belong to no team."""

from __future__ import annotations

from datetime import UTC

from service.caller import Caller
from service.context import Context
from service.errors import NotFound, invalid
from service.ids import new_id, new_token, token_hash
from service.requests import PageQuery, TokenRequest
from service.store import tokens
from service.store.tokens import Token
from service.usecases.events.record import record_event
from service.usecases.runs.views import Page, moment, page_of


def create_token(context: Context, caller: Caller, request: TokenRequest) -> dict[str, object]:
    """Create a token. Only this answer has its text.

    Raises:
        Unprocessable: it would expire in the past.
    """
    caller.require("organise")
    now = context.now()
    if request.expires_at is not None and request.expires_at <= now:
        raise invalid("past-moment", "/expires_at", "This must be a time in the future.")
    text, token_id = new_token(), new_id("tok", now)
    scopes = " ".join(sorted(set(request.scopes)))
    expires_at = None if request.expires_at is None else request.expires_at.astimezone(UTC)
    token = Token(token_id, token_hash(text), scopes, request.name, now, expires_at=expires_at)
    with context.store.write() as db:
        tokens.add(db, token)
        record_event(db, context, "token.created", None, actor=caller.owner, subject=token_id)
    return {**token_document(token), "token": text}


def list_tokens(context: Context, caller: Caller, query: PageQuery) -> Page:
    """List all tokens, newest first, without their texts."""
    caller.require("organise")
    with context.store.read() as db:
        rows = tokens.listing(db, query.cursor, query.limit + 1)
    return page_of(rows, query.limit, token_document)


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


def token_document(row: Token) -> dict[str, object]:
    """Show a token without its secret."""
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
