"""Serve tokens for CI jobs and dashboards."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.tokens import TokenRequest
from service.usecases.tokens import tokens

blueprint = Blueprint("tokens", __name__, url_prefix="/v1/tokens")


@blueprint.post("")
def create_token() -> Response:
    """Create a token; its text is shown in this answer only."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    token = tokens.create_token(calls.context(), caller, calls.body(TokenRequest()))
    return answers.secret(token, f"/v1/tokens/{token['id']}")


@blueprint.get("")
def list_tokens() -> Response:
    """List tokens, without their texts."""
    caller = calls.caller("organise")
    return answers.unstored(answers.page(tokens.list_tokens(calls.context(), caller, calls.query(queries.PAGE))))


@blueprint.delete("/<token_id>")
def revoke_token(token_id: str) -> Response:
    """Revoke a token."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    tokens.revoke_token(calls.context(), caller, token_id)
    return answers.nothing()
