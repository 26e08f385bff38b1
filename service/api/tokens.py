"""Tokens for CI jobs and dashboards."""

from __future__ import annotations

from datetime import UTC

from flask import Blueprint, Response

from service.api import answers, calls
from service.errors import Unprocessable, counted
from service.schemas import queries
from service.schemas.tokens import TokenRequest
from service.usecases.access import tokens
from treescore.errors import Problem

blueprint = Blueprint("tokens", __name__, url_prefix="/v1/tokens")


@blueprint.post("")
def create_token() -> Response:
    """Make a token; its text is shown in this answer only."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    asked = calls.body(TokenRequest())
    expires_at = asked.get("expires_at")
    if expires_at is not None and expires_at <= calls.context().now():
        problem = Problem(code="past-moment", pointer="/expires_at", detail="This must be a time in the future.")
        raise Unprocessable(counted(1), problems=[problem])
    ends = None if expires_at is None else expires_at.astimezone(UTC)
    made = tokens.create_token(calls.context(), caller, asked["scopes"], ends, asked.get("name"))
    return answers.secret(made, f"/v1/tokens/{made['id']}")


@blueprint.get("")
def list_tokens() -> Response:
    """All tokens, without their texts."""
    caller = calls.caller("organise")
    asked = calls.query(queries.PAGE)
    found = tokens.list_tokens(calls.context(), caller, asked.get("cursor"), asked["limit"])
    return answers.unstored(answers.page(found))


@blueprint.delete("/<token_id>")
def revoke_token(token_id: str) -> Response:
    """End a token at once."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    tokens.revoke_token(calls.context(), caller, token_id)
    return answers.nothing()
