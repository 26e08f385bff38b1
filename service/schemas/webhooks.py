"""Load requests for webhooks."""

from __future__ import annotations

from service import requests
from service.requests import EVENT_KINDS
from service.schemas.base import Strict
from service.schemas.checked_fields import Slug
from service.schemas.plain_fields import Listed, String, choice, length

MAX_URL = 1000


class WebhookRequest(Strict[requests.WebhookRequest]):
    """Where events are sent."""

    into = requests.WebhookRequest

    url = String(required=True, validate=length(1, MAX_URL, "characters"))
    kinds = Listed(choice(EVENT_KINDS), validate=length(None, len(EVENT_KINDS), "kinds of events"))
    benchmark = Slug(allow_none=True)
