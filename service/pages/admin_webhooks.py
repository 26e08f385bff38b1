"""The webhooks of an organiser: a test event, the log of deliveries, sending again, new secrets."""

from __future__ import annotations

from flask import Response, request

from service.api import answers as api_answers
from service.api import calls
from service.pages import answers, visitors
from service.requests import PageQuery
from service.schemas.webhooks import WebhookRequest
from service.usecases.events import deliveries, webhooks

blueprint = answers.pages("admin_webhooks", "/admin/webhooks")
MANY = PageQuery(limit=100)


@blueprint.get("")
def show_webhooks() -> Response:
    """List webhooks."""
    return _webhooks_page()


@blueprint.post("")
def make_webhook() -> Response:
    """Make a webhook; its secret is in this answer only."""
    caller = visitors.member("organise")
    visitors.check_form()
    context = calls.context()
    given = {"url": request.form.get("url", "").strip()}
    if request.form.get("benchmark"):
        given["benchmark"] = request.form["benchmark"]
    return _webhooks_page(secret=webhooks.create_webhook(context, caller, answers.loaded(WebhookRequest(), given)))


@blueprint.post("/<webhook>/rotate")
def rotate_webhook(webhook: str) -> Response:
    """Make a new secret; the old one signs too for a day."""
    caller = visitors.member("organise")
    visitors.check_form()
    return _webhooks_page(secret=webhooks.rotate_secret(calls.context(), caller, webhook))


@blueprint.post("/<webhook>/test")
def test_webhook(webhook: str) -> Response:
    """Send a test event."""
    caller = visitors.member("organise")
    visitors.check_form()
    deliveries.send_test(calls.context(), caller, webhook)
    return answers.go_to(f"/admin/webhooks/{webhook}")


@blueprint.post("/<webhook>/delete")
def delete_webhook(webhook: str) -> Response:
    """Delete a webhook."""
    caller = visitors.member("organise")
    visitors.check_form()
    webhooks.delete_webhook(calls.context(), caller, webhook)
    return answers.go_to("/admin/webhooks")


@blueprint.get("/<webhook>")
def show_deliveries(webhook: str) -> Response:
    """Show the log of deliveries."""
    caller = visitors.member("organise")
    found = deliveries.list_deliveries(calls.context(), caller, webhook, MANY)
    return answers.page("admin_deliveries.html", webhook=webhook, deliveries=found.items)


@blueprint.post("/<webhook>/<delivery>/replay")
def replay_delivery(webhook: str, delivery: str) -> Response:
    """Send an event again."""
    caller = visitors.member("organise")
    visitors.check_form()
    deliveries.replay_delivery(calls.context(), caller, webhook, delivery)
    return answers.go_to(f"/admin/webhooks/{webhook}")


def _webhooks_page(secret: dict[str, object] | None = None) -> Response:
    """Return the page; one with a secret is stored nowhere."""
    caller = visitors.member("organise")
    listed = webhooks.list_webhooks(calls.context(), caller, MANY)
    response = answers.page("admin_webhooks.html", webhooks=listed.items, secret=secret)
    return response if secret is None else api_answers.unstored(response)
