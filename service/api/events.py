"""What has happened: audit trail, change feed and replay in one list."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.usecases.events import listing

blueprint = Blueprint("events", __name__, url_prefix="/v1/events")


@blueprint.get("")
def list_events() -> Response:
    """What happened after an event that the caller knows, oldest first."""
    caller = calls.caller("submit", "read")
    asked = calls.query(queries.EVENTS)
    found = listing.list_events(calls.context(), caller, asked.get("after"), asked["limit"], asked.get("benchmark"))
    return answers.page(found, "after")
