"""Serve what those who run things use: tokens for CI jobs and dashboards, webhooks, and events.

Events are audit trail, change feed and replay in one list.
"""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.teams import TokenRequest, WebhookRequest
from service.usecases import tokens
from service.usecases.events import events, webhooks

token_blueprint = Blueprint("tokens", __name__, url_prefix="/v1/tokens")


@token_blueprint.post("")
def create_token() -> Response:
    """Create a token; its text is shown in this answer only."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    token = tokens.create_token(calls.context(), caller, calls.body(TokenRequest()))
    return answers.secret(token, f"/v1/tokens/{token['id']}")


@token_blueprint.get("")
def list_tokens() -> Response:
    """List tokens, without their texts."""
    caller = calls.caller("organise")
    return answers.unstored(answers.page(tokens.list_tokens(calls.context(), caller, calls.query(queries.PAGE))))


@token_blueprint.delete("/<token_id>")
def revoke_token(token_id: str) -> Response:
    """Revoke a token."""
    caller = calls.caller("organise")
    calls.query(queries.NOTHING)
    tokens.revoke_token(calls.context(), caller, token_id)
    return answers.nothing()


webhook_blueprint = Blueprint("webhooks", __name__, url_prefix="/v1/webhooks")


@webhook_blueprint.post("")
def create_webhook() -> Response:
    """Create a webhook; its secret is shown in this answer only."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    webhook = webhooks.create_webhook(calls.context(), caller, calls.body(WebhookRequest()))
    return answers.secret(webhook, f"/v1/webhooks/{webhook['id']}")


@webhook_blueprint.get("")
def list_webhooks() -> Response:
    """List the caller's webhooks, without their secrets."""
    caller = calls.caller("submit")
    return answers.page(webhooks.list_webhooks(calls.context(), caller, calls.query(queries.PAGE)))


@webhook_blueprint.delete("/<webhook>")
def delete_webhook(webhook: str) -> Response:
    """Delete a webhook."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    webhooks.delete_webhook(calls.context(), caller, webhook)
    return answers.nothing()


@webhook_blueprint.post("/<webhook>/test")
def test_webhook(webhook: str) -> Response:
    """Send a test to a webhook."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    return answers.queued(webhooks.send_test(calls.context(), caller, webhook))


@webhook_blueprint.post("/<webhook>/rotate")
def rotate_webhook(webhook: str) -> Response:
    """Replace the secret of a webhook; the new one is shown in this answer only."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    return answers.secret(webhooks.rotate_secret(calls.context(), caller, webhook), f"/v1/webhooks/{webhook}")


@webhook_blueprint.get("/<webhook>/deliveries")
def list_deliveries(webhook: str) -> Response:
    """List the deliveries of a webhook."""
    caller = calls.caller("submit")
    query = calls.query(queries.PAGE)
    return answers.page(webhooks.list_deliveries(calls.context(), caller, webhook, query))


@webhook_blueprint.post("/<webhook>/deliveries/<delivery>/replay")
def replay_delivery(webhook: str, delivery: str) -> Response:
    """Deliver an event again."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    return answers.queued(webhooks.replay_delivery(calls.context(), caller, webhook, delivery))


event_blueprint = Blueprint("events", __name__, url_prefix="/v1/events")


@event_blueprint.get("")
def list_events() -> Response:
    """List the events after a known one, oldest first."""
    caller = calls.caller("submit", "read")
    return answers.page(events.list_events(calls.context(), caller, calls.query(queries.EVENTS)), "after")
