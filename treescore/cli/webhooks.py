"""`treescore organise webhooks`: the addresses to which a service sends events."""

from __future__ import annotations

from collections.abc import Sequence

import click

from treescore.cli.asking import Answer, asks, listed
from treescore.client import Client


@click.group()
def webhooks() -> None:
    """Have events sent to an address."""


@asks(webhooks, "list")
def list_webhooks(client: Client) -> Answer:
    """List webhooks; their secrets cannot be shown."""
    return listed("webhooks", list(client.webhooks.list()), ("id", "url", "benchmark", "kinds", "failures"))


@asks(webhooks, "add")
@click.argument("address", metavar="URL")
@click.option("--benchmark", help="Only events of this one.")
@click.option("--kind", "kinds", multiple=True, help="Only events of this kind. Repeatable.")
def add_webhook(client: Client, address: str, benchmark: str | None, kinds: Sequence[str]) -> Answer:
    """Send events to URL.

    Prints the secret that signs them, which is shown only here.
    """
    made = client.webhooks.create(address, kinds=list(kinds) or None, benchmark=benchmark)
    return Answer(made.document, [f"{made['id']}  {made['secret']}"])


@asks(webhooks, "test")
@click.argument("webhook", metavar="ID")
def test_webhook(client: Client, webhook: str) -> Answer:
    """Send a test event.

    The command `deliveries` shows what became of it.
    """
    made = client.webhooks.test(webhook)
    return Answer(made.document, [f"{made['id']}  {made['state']}"])


@asks(webhooks, "deliveries")
@click.argument("webhook", metavar="ID")
def deliveries(client: Client, webhook: str) -> Answer:
    """List what was sent or waits, newest first."""
    names = ("id", "type", "state", "attempts", "last_status", "attempted_at", "next_at")
    return listed("deliveries", list(client.webhooks.deliveries(webhook)), names)


@asks(webhooks, "replay")
@click.argument("webhook", metavar="ID")
@click.argument("delivery")
def replay(client: Client, webhook: str, delivery: str) -> Answer:
    """Send the event of DELIVERY again."""
    made = client.webhooks.replay(webhook, delivery)
    return Answer(made.document, [f"{made['id']}  {made['state']}"])


@asks(webhooks, "rotate")
@click.argument("webhook", metavar="ID")
def rotate(client: Client, webhook: str) -> Answer:
    """Replace the secret, and print it, once.

    The old one signs too for a day.
    """
    made = client.webhooks.rotate(webhook)
    return Answer(made.document, [f"{made['id']}  {made['secret']}"])


@asks(webhooks, "remove")
@click.argument("webhook", metavar="ID")
def remove_webhook(client: Client, webhook: str) -> Answer:
    """Send nothing to a webhook any more."""
    client.webhooks.delete(webhook)
    return Answer({"id": webhook}, [f"Removed {webhook}."])
