"""Serve events: audit trail, change feed and replay in one list."""

from __future__ import annotations

from flask import Blueprint, Response

from service.api import answers, calls
from service.schemas import queries
from service.usecases.events import listing

blueprint = Blueprint("events", __name__, url_prefix="/v1/events")


@blueprint.get("")
def list_events() -> Response:
    """List the events after a known one, oldest first."""
    caller = calls.caller("submit", "read")
    return answers.page(listing.list_events(calls.context(), caller, calls.query(queries.EVENTS)), "after")
