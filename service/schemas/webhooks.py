"""Webhooks."""

from __future__ import annotations

from marshmallow import fields, validate

from service.schemas.base import Slug, Strict
from service.usecases.events.listing import KINDS


class WebhookRequest(Strict):
    """Where events are sent."""

    url = fields.String(required=True, validate=validate.Length(min=1, max=1000))
    kinds = fields.List(fields.String(validate=validate.OneOf(KINDS)), validate=validate.Length(max=len(KINDS)))
    benchmark = Slug(allow_none=True)
