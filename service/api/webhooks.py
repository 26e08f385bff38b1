"""Addresses to which events are sent."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.schemas.webhooks import WebhookRequest
from service.usecases.events import webhooks

blueprint = Blueprint("webhooks", __name__, url_prefix="/v1/webhooks")


@blueprint.post("")
def create_webhook() -> Response:
    """Make a webhook; its secret is shown in this answer only."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    made = webhooks.create_webhook(calls.context(), caller, calls.body(WebhookRequest()))
    return answers.secret(made, f"/v1/webhooks/{made['id']}")


@blueprint.get("")
def list_webhooks() -> Response:
    """The caller's webhooks, without their secrets."""
    caller = calls.caller("submit")
    asked = calls.query(queries.PAGE)
    return answers.page(webhooks.list_webhooks(calls.context(), caller, asked.get("cursor"), asked["limit"]))


@blueprint.delete("/<webhook>")
def delete_webhook(webhook: str) -> Response:
    """Send no more there."""
    caller = calls.caller("submit")
    calls.query(queries.NOTHING)
    webhooks.delete_webhook(calls.context(), caller, webhook)
    return answers.nothing()
