"""Serve webhooks."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.webhooks import WebhookRequest
from service.usecases.events import deliveries, webhooks

blueprint = Blueprint("webhooks", __name__, url_prefix="/v1/webhooks")


@blueprint.post("")
def create_webhook() -> Response:
    """Create a webhook; its secret is shown in this answer only."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    webhook = webhooks.create_webhook(calls.context(), caller, calls.body(WebhookRequest()))
    return answers.secret(webhook, f"/v1/webhooks/{webhook['id']}")


@blueprint.get("")
def list_webhooks() -> Response:
    """List the caller's webhooks, without their secrets."""
    caller = calls.caller("submit")
    return answers.page(webhooks.list_webhooks(calls.context(), caller, calls.query(queries.PAGE)))


@blueprint.delete("/<webhook>")
def delete_webhook(webhook: str) -> Response:
    """Delete a webhook."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    webhooks.delete_webhook(calls.context(), caller, webhook)
    return answers.nothing()


@blueprint.post("/<webhook>/test")
def test_webhook(webhook: str) -> Response:
    """Send a test to a webhook."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    return answers.queued(deliveries.send_test(calls.context(), caller, webhook))


@blueprint.post("/<webhook>/rotate")
def rotate_webhook(webhook: str) -> Response:
    """Replace the secret of a webhook; the new one is shown in this answer only."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    return answers.secret(webhooks.rotate_secret(calls.context(), caller, webhook), f"/v1/webhooks/{webhook}")


@blueprint.get("/<webhook>/deliveries")
def list_deliveries(webhook: str) -> Response:
    """List the deliveries of a webhook."""
    caller = calls.caller("submit")
    query = calls.query(queries.PAGE)
    return answers.page(deliveries.list_deliveries(calls.context(), caller, webhook, query))


@blueprint.post("/<webhook>/deliveries/<delivery>/replay")
def replay_delivery(webhook: str, delivery: str) -> Response:
    """Deliver an event again."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    return answers.queued(deliveries.replay_delivery(calls.context(), caller, webhook, delivery))
