"""Load requests for webhooks."""

from __future__ import annotations

from marshmallow import fields, validate

from service import requests
from service.requests import EVENT_KINDS
from service.schemas.base import Strict
from service.schemas.checked_fields import Slug


class WebhookRequest(Strict[requests.WebhookRequest]):
    """Where events are sent."""

    into = requests.WebhookRequest

    url = fields.String(required=True, validate=validate.Length(min=1, max=1000))
    kinds = fields.List(
        fields.String(validate=validate.OneOf(EVENT_KINDS)), validate=validate.Length(max=len(EVENT_KINDS))
    )
    benchmark = Slug(allow_none=True)
