"""Create, list and revoke tokens that belong to no team; and those in the hands of the operator.

The operator works in the store also while the service is down.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection

from service.caller import ORGANISE, Caller, new_id, new_token, token_hash
from service.context import Context
from service.contract import access, common
from service.errors import NotFound, invalid
from service.store import tokens
from service.usecases.access import benchmark_of, team_in
from service.usecases.benchmarks.teams import TEAM_SCOPES
from service.usecases.events import record_event
from service.usecases.runs import Page, page_of, shown_members


def create_token(context: Context, caller: Caller, request: access.TokenRequest) -> dict[str, object]:
    """Create a token. Only this answer has its text.

    Raises:
        Unprocessable: it would expire in the past, or has other scopes than `organise` for one benchmark.
        NotFound, Gone: the benchmark is unknown, or was deleted.
    """
    caller.require("organise")
    now = context.now()
    if request.expires_at is not None and request.expires_at <= now:
        raise invalid("past-moment", "/expires_at", "The time is past. Give one in the future.")
    if request.benchmark is not None and set(request.scopes) != {ORGANISE}:
        detail = "A token for one benchmark has the scope organise alone. Teams get theirs when they are made."
        raise invalid("bad-value", "/scopes", detail)
    scopes = " ".join(sorted(set(request.scopes)))
    expires_at = None if request.expires_at is None else request.expires_at.astimezone(UTC)
    with context.store.write() as db:
        if request.benchmark is not None:
            benchmark_of(db, request.benchmark)
        like = tokens.Token("", "", scopes, request.name, now, None, request.benchmark, expires_at)
        token, text = _add_token(db, context, like, caller)
    return {**token_document(token), "token": text}


def list_tokens(context: Context, caller: Caller, query: common.PageQuery) -> Page:
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


def token_document(row: tokens.Token) -> dict[str, object]:
    """Show a token without its secret."""
    rest = ("benchmark_id", "team_id", "created_at", "expires_at", "last_used_at", "revoked_at")
    return {"id": row.id, "name": row.name, "scopes": row.scopes.split(), **shown_members(row, *rest)}


OPERATOR = Caller("operator", frozenset({"organise"}))
"""The actor of the events that the commands record."""


def list_every_token(context: Context) -> Sequence[tokens.Token]:
    """List all tokens, newest first, without their secrets."""
    with context.store.read() as db:
        return tokens.every(db)


def create_team_token(
    context: Context, slug: str, team_id: str, name: str | None, expires_at: datetime | None
) -> tuple[str, str]:
    """Create a further token of a team; return its id and its secret.

    Raises:
        NotFound: the benchmark or the team does not exist.
        Gone: the benchmark was deleted.
    """
    with context.store.write() as db:
        benchmark_of(db, slug)
        team_in(db, slug, team_id)
        like = tokens.Token("", "", TEAM_SCOPES, name, context.now(), team_id, slug, expires_at)
        made, secret = _add_token(db, context, like, OPERATOR)
    return made.id, secret


def rotate_as_operator(context: Context, token_id: str) -> tuple[str, str]:
    """Replace a token by a new one with the same rights; return the new id and secret.

    Raises:
        NotFound: no valid token has this id.
    """
    now = context.now()
    with context.store.write() as db:
        old = tokens.by_id(db, token_id)
        if old is None or not tokens.revoke(db, token_id, now):
            raise NotFound(f"Unknown or revoked token {token_id}.")
        record_event(db, context, "token.revoked", old.benchmark_id, actor=OPERATOR.owner, subject=token_id)
        made, secret = _add_token(db, context, old, OPERATOR)
    return made.id, secret


def _add_token(db: Connection, context: Context, like: tokens.Token, maker: Caller) -> tuple[tokens.Token, str]:
    """Store a token with the rights of another; return it and its text."""
    text, token_id, now = new_token(), new_id("tok", context.now()), context.now()
    made = replace(like, id=token_id, hash=token_hash(text), created_at=now, last_used_at=None)
    tokens.add(db, made)
    slug, team_id = made.benchmark_id, made.team_id
    record_event(db, context, "token.created", slug, actor=maker.owner, team_id=team_id, subject=token_id)
    return made, text
